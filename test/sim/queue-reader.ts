// A consumer of one queue in a simulation: long polls from its start, and keeps what it gets.
import { assert } from '../../src/base/assert.ts';
import { ResponseCodes } from '../../src/protocol/codes.ts';
import { type Answer, nameOf, recordsOf, type SimClient } from './sim-client.ts';

/** Reads one queue from its start by long polling, and keeps what it got. */
export class QueueReader {
  readonly offsets: number[] = [];
  readonly names: string[] = [];
  readonly #client: SimClient;
  readonly #topic: string;
  readonly #queueId: number;
  readonly #group: string;
  readonly #tags: string;
  offset = 0;
  committed = -1;
  stopped = false;

  constructor(client: SimClient, topic: string, queueId: number, group: string, tags = '*') {
    this.#client = client;
    this.#topic = topic;
    this.#queueId = queueId;
    this.#group = group;
    this.#tags = tags;
  }

  start(): void {
    const commits = this.offset % 3 === 1;
    if (commits) this.committed = this.offset;
    const options = { offset: this.offset, suspendMs: 2_000, tags: this.#tags, ...(commits ? { commitOffset: this.offset } : {}) };
    this.#client.pull(this.#topic, this.#queueId, this.#group, options, (answer) => this.#onAnswer(answer));
  }

  #onAnswer(answer: Answer): void {
    const { sim } = this.#client;
    const known: readonly number[] = [
      ResponseCodes.SUCCESS,
      ResponseCodes.PULL_NOT_FOUND,
      ResponseCodes.PULL_RETRY_IMMEDIATELY,
      ResponseCodes.TOPIC_NOT_EXIST,
    ];
    assert(known.includes(answer.code), `pull of ${this.#topic}/${this.#queueId} code=${answer.code} ${answer.remark} seed=${sim.seed}`);
    if (answer.code === ResponseCodes.SUCCESS) {
      for (const record of recordsOf(answer)) {
        this.offsets.push(record.queueOffset);
        this.names.push(nameOf(record));
      }
    }
    if (answer.code !== ResponseCodes.TOPIC_NOT_EXIST) {
      const next = Number(answer.ext['nextBeginOffset']);
      const moves = answer.code !== ResponseCodes.PULL_NOT_FOUND;
      assert(moves ? next > this.offset : next === this.offset, `next ${next} after ${this.offset} code=${answer.code} seed=${sim.seed}`);
      this.offset = next;
    }
    if (!this.stopped) this.start();
  }
}
