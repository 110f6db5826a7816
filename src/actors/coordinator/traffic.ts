// Keeps the figures of traffic that tools ask for: samples what hot paths count, every ten seconds, and takes in what ingress reports.
import { DayTotals, type Totals } from '../../core/day-totals.ts';
import { OffsetTable } from '../../core/offset-table.ts';
import { RateWindow } from '../../core/rate-window.ts';
import { STAT_SAMPLE_MS } from '../../core/stat-item.ts';
import { StatNames, StatTable } from '../../core/stat-table.ts';
import { queueCountOf } from '../../core/topic-config.ts';
import type { ReadCounts } from '../answer-messages.ts';
import type { ActorContext } from '../context.ts';
import { Positions } from '../context.ts';
import type { TopicKeeper } from './topic-keeper.ts';

export interface TrafficTotals extends Totals {
  readonly putBytes: number;
  readonly found: number;
  readonly missed: number;
}

type RateName = 'puts' | 'found' | 'missed' | 'all' | 'gets';

export class Traffic {
  readonly stats: StatTable;
  readonly rates = new RateWindow<RateName>();
  readonly days: DayTotals;
  /** How far groups were given messages, as far as that has been reported. */
  readonly given: OffsetTable;
  readonly #context: ActorContext;
  readonly #topics: TopicKeeper;
  /** By queue key: what was seen of its end and of the bytes of its messages. */
  readonly #seenEnds: number[] = [];
  readonly #seenBytes: number[] = [];
  #seenPosition = -1;
  #dueMs: number;

  constructor(context: ActorContext, topics: TopicKeeper) {
    const { clock, settings } = context;
    this.#context = context;
    this.#topics = topics;
    this.stats = new StatTable(settings.statItemCountMax);
    this.days = new DayTotals(clock.wallMs());
    this.given = new OffsetTable(clock.wallMs(), settings.maxQueueCount);
    this.#dueMs = clock.steadyMs() + STAT_SAMPLE_MS;
  }

  /** What is there already was not put now. */
  start(): void {
    const { queueEnds, queueBytes, clock } = this.#context;
    for (const config of this.#topics.table.all()) {
      for (const key of this.#topics.keys.keysOf(config.topicName, queueCountOf(config))) {
        this.#seenEnds[key] = queueEnds.get(key);
        this.#seenBytes[key] = queueBytes[key] ?? 0;
      }
    }
    this.#noteRates(clock.steadyMs());
  }

  nextMs(): number {
    return this.#dueMs;
  }

  tick(nowMs: number): number {
    if (nowMs < this.#dueMs) return 0;
    this.#dueMs = nowMs + STAT_SAMPLE_MS;
    this.#countPuts();
    this.stats.sample(nowMs);
    this.#noteRates(nowMs);
    return 1;
  }

  /** What was put until now counts already: a tool that has just seen a topic written to finds its figures. */
  look(): void {
    this.#countPuts();
  }

  onReads(counts: ReadCounts | null): void {
    if (counts === null) return;
    const { rows, sentBack } = counts;
    const { settings, clock } = this.#context;
    for (const [group, topic, queueId, pulls, messages, bytes, nextOffset] of rows) {
      if (!this.#topics.table.has(topic)) continue;
      this.given.put(group, topic, queueId, nextOffset, clock.wallMs());
      this.stats.add(StatNames.groupGetNums, `${topic}@${group}`, messages, pulls);
      this.stats.add(StatNames.groupGetSize, `${topic}@${group}`, bytes, pulls);
      if (settings.enableDetailStat) {
        this.stats.add(StatNames.queueGetNums, `${topic}@${queueId}@${group}`, messages, pulls);
        this.stats.add(StatNames.queueGetSize, `${topic}@${queueId}@${group}`, bytes, pulls);
      }
      this.#countBroker(StatNames.brokerGetNums, StatNames.brokerGetNumsWithoutSystem, topic, messages, pulls);
    }
    for (const [group, topic, count] of sentBack) this.stats.add(StatNames.sendBackNums, `${topic}@${group}`, count, count);
  }

  topicRemoved(topic: string): void {
    this.stats.topicRemoved(topic);
    this.given.dropTopic(topic);
  }

  /** Nobody is there any more who could still have it in hand. */
  groupLeft(group: string): void {
    this.given.dropGroup(group);
  }

  /** What was given before the offsets were set says nothing of how far the group is now. */
  moved(group: string, topic: string, offsets: ReadonlyMap<number, number>): void {
    for (const [queueId, offset] of offsets) this.given.put(group, topic, queueId, offset, this.#context.clock.wallMs());
  }

  groupRemoved(group: string): void {
    this.stats.groupRemoved(group);
    this.given.dropGroup(group);
  }

  /** Messages a second, of the last minute. */
  putTps(topic: string): number {
    return this.stats.get(StatNames.topicPutNums, topic)?.minute.tps ?? 0;
  }

  getTps(group: string, topic: string): number {
    return this.stats.get(StatNames.groupGetNums, `${topic}@${group}`)?.minute.tps ?? 0;
  }

  /** Since this process started. */
  totals(): TrafficTotals {
    const totals = { puts: 0, putBytes: 0, gets: 0, found: 0, missed: 0 };
    for (const { name, counters } of this.#context.figures().actors) {
      const of = (label: string): number => counters.get(label) ?? 0;
      if (name === 'commit-log') {
        totals.puts += of('records');
        totals.putBytes += of('recordBytes');
      } else if (name.startsWith('ingress')) {
        totals.gets += of('messagesOut');
        totals.found += of('pullsFound');
        totals.missed += of('pullsMissed');
      }
    }
    return totals;
  }

  #noteRates(nowMs: number): void {
    const totals = this.totals();
    const { puts, gets, found, missed } = totals;
    this.rates.note(nowMs, { puts, gets, found, missed, all: found + missed });
    this.days.note(this.#context.clock.wallMs(), totals);
  }

  /** By how far queues reach: nothing is counted where messages are stored. */
  #countPuts(): void {
    const appended = this.#context.positions.get(Positions.appended);
    if (appended === this.#seenPosition) return;
    this.#seenPosition = appended;
    for (const config of this.#topics.table.all()) {
      const keys = this.#topics.keys.keysOf(config.topicName, queueCountOf(config));
      let messages = 0;
      let bytes = 0;
      keys.forEach((key, queueId) => {
        const [newMessages, newBytes] = this.#newOf(key);
        if (newMessages === 0 && newBytes === 0) return;
        messages += newMessages;
        bytes += newBytes;
        if (this.#context.settings.enableDetailStat) {
          this.stats.add(StatNames.queuePutNums, `${config.topicName}@${queueId}`, newMessages, newMessages);
          this.stats.add(StatNames.queuePutSize, `${config.topicName}@${queueId}`, newBytes, newMessages);
        }
      });
      if (messages === 0 && bytes === 0) continue;
      this.stats.add(StatNames.topicPutNums, config.topicName, messages, messages);
      this.stats.add(StatNames.topicPutSize, config.topicName, bytes, messages);
      this.#countBroker(StatNames.brokerPutNums, StatNames.brokerPutNumsWithoutSystem, config.topicName, messages, messages);
    }
  }

  #newOf(key: number): readonly [messages: number, bytes: number] {
    const end = this.#context.queueEnds.get(key);
    const bytes = this.#context.queueBytes[key] ?? 0;
    const grown = [end - (this.#seenEnds[key] ?? 0), bytes - (this.#seenBytes[key] ?? 0)] as const;
    this.#seenEnds[key] = end;
    this.#seenBytes[key] = bytes;
    return grown;
  }

  #countBroker(
    all: typeof StatNames.brokerPutNums | typeof StatNames.brokerGetNums,
    others: typeof StatNames.brokerPutNumsWithoutSystem | typeof StatNames.brokerGetNumsWithoutSystem,
    topic: string,
    messages: number,
    events: number,
  ): void {
    const cluster = this.#context.settings.brokerClusterName;
    this.stats.add(all, cluster, messages, events);
    if (!this.#topics.reserved.has(topic)) this.stats.add(others, cluster, messages, events);
  }
}
