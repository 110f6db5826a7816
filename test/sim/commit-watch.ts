// What one group has committed over the lives of a broker: after a start never beyond the end, never behind what a start had found.
import { assert } from '../../src/base/assert.ts';
import { RequestCodes, ResponseCodes } from '../../src/protocol/codes.ts';
import type { Ledger } from './ledger.ts';
import type { SimClient } from './sim-client.ts';

interface Progress {
  /** Where the group goes on: the last offset it committed or found. */
  next: number;
  /** What a start had found stored, and no later one may be below; -1: nothing yet. */
  floor: number;
}

export class CommitWatch {
  static readonly group = 'readers';
  readonly #ledger: Ledger;
  readonly #progress = new Map<string, Progress>();

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  offsetOf(topic: string, queueId: number): number {
    return this.#of(topic, queueId).next;
  }

  /** True where the offset is new and may be committed. */
  note(topic: string, queueId: number, offset: number): boolean {
    const progress = this.#of(topic, queueId);
    if (offset <= progress.next) return false;
    progress.next = offset;
    return true;
  }

  checkStart(client: SimClient): void {
    for (const { topic, queueId } of this.#ledger.queues.values()) {
      const progress = this.#of(topic, queueId);
      const answer = client.ask(RequestCodes.QUERY_CONSUMER_OFFSET, {
        consumerGroup: CommitWatch.group,
        topic,
        queueId,
        setZeroIfNotFound: false,
      });
      const stored = answer.code === ResponseCodes.SUCCESS ? Number(answer.ext['offset']) : -1;
      const max = client.askNumber(RequestCodes.GET_MAX_OFFSET, topic, queueId);
      const where = `${topic}/${queueId} stored=${stored} next=${progress.next} floor=${progress.floor} max=${max}`;
      assert(stored <= max, `a committed offset lies beyond the end: ${where}`);
      assert(stored >= Math.min(progress.floor, max), `a committed offset went back: ${where}`);
      assert(stored <= progress.next, `nobody committed this offset: ${where}`);
      progress.floor = stored;
      progress.next = Math.max(0, stored);
    }
  }

  #of(topic: string, queueId: number): Progress {
    const name = `${topic}/${queueId}`;
    let progress = this.#progress.get(name);
    if (progress === undefined) {
      progress = { next: 0, floor: -1 };
      this.#progress.set(name, progress);
    }
    return progress;
  }
}
