// Counts what groups are given, by topic and queue, and tells the coordinator of it once a second.
import type { ReadCount, ReadCounts } from '../answer-messages.ts';
import { Messages } from '../messages.ts';
import type { Desk } from './desk.ts';

const REPORT_INTERVAL_MS = 1_000;
/** Groups and topics counted at once; more are reported sooner. */
const PAIR_COUNT_MAX = 10_000;

/** Four numbers a queue: pulls that gave something, messages, bytes, and the offset behind the last message. */
const NUMBERS_PER_QUEUE = 4;

export class ReadCounter {
  readonly #desk: Desk;
  readonly #groups = new Map<string, Map<string, number[]>>();
  readonly #sentBack = new Map<string, Map<string, number>>();
  #pairCount = 0;
  #dueMs = Number.POSITIVE_INFINITY;

  constructor(desk: Desk) {
    this.#desk = desk;
  }

  given(group: string, topic: string, queueId: number, messages: number, bytes: number, nextOffset: number): void {
    let topics = this.#groups.get(group);
    if (topics === undefined) {
      topics = new Map();
      this.#groups.set(group, topics);
    }
    let numbers = topics.get(topic);
    if (numbers === undefined) {
      numbers = [];
      topics.set(topic, numbers);
      this.#noteNew();
    }
    const at = queueId * NUMBERS_PER_QUEUE;
    while (numbers.length < at + NUMBERS_PER_QUEUE) numbers.push(0);
    (numbers[at] as number) += 1;
    (numbers[at + 1] as number) += messages;
    (numbers[at + 2] as number) += bytes;
    numbers[at + 3] = nextOffset;
  }

  /** A group gave a message back, to be consumed again. */
  sentBack(group: string, topic: string): void {
    const topics = this.#sentBack.get(group) ?? new Map<string, number>();
    const count = topics.get(topic);
    if (count === undefined) this.#noteNew();
    topics.set(topic, (count ?? 0) + 1);
    this.#sentBack.set(group, topics);
  }

  deadlineMs(): number {
    return this.#dueMs;
  }

  report(nowMs: number): void {
    if (nowMs < this.#dueMs && this.#pairCount < PAIR_COUNT_MAX) return;
    const rows: ReadCount[] = [];
    for (const [group, topics] of this.#groups) for (const [topic, numbers] of topics) addRows(rows, group, topic, numbers);
    const sentBack = [...this.#sentBack].flatMap(([group, topics]) => [...topics].map(([topic, count]) => [group, topic, count] as const));
    const message: ReadCounts = { rows, sentBack };
    this.#desk.coordinator.sendJson(Messages.readCounts, message);
    this.#groups.clear();
    this.#sentBack.clear();
    this.#pairCount = 0;
    this.#dueMs = Number.POSITIVE_INFINITY;
  }

  #noteNew(): void {
    this.#pairCount++;
    if (this.#dueMs === Number.POSITIVE_INFINITY) this.#dueMs = this.#desk.context.clock.steadyMs() + REPORT_INTERVAL_MS;
  }
}

function addRows(rows: ReadCount[], group: string, topic: string, numbers: readonly number[]): void {
  for (let at = 0; at < numbers.length; at += NUMBERS_PER_QUEUE) {
    const [pulls = 0, messages = 0, bytes = 0, nextOffset = 0] = numbers.slice(at, at + NUMBERS_PER_QUEUE);
    if (pulls > 0) rows.push([group, topic, at / NUMBERS_PER_QUEUE, pulls, messages, bytes, nextOffset]);
  }
}
