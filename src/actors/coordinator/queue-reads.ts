// Publishes how far every queue has been read by all groups that have an offset in it: what the cleaner must not delete before.
import type { OffsetRows } from '../../core/offset-table.ts';
import type { SharedNumbers } from '../../runtime/shared-numbers.ts';

const OFFSET_MAX = Number.MAX_SAFE_INTEGER - 1;

export class QueueReads {
  readonly #table: SharedNumbers;
  #published = new Map<number, number>();

  constructor(table: SharedNumbers) {
    this.#table = table;
  }

  /** @param keyOf -1 for a queue that does not exist (any more). */
  publish(rows: OffsetRows, keyOf: (topic: string, queueId: number) => number): void {
    const lowest = new Map<number, number>();
    for (const [row, offsets] of rows) {
      const topic = row.slice(0, row.indexOf('@'));
      for (const [queueId, offset] of offsets) {
        const key = keyOf(topic, queueId);
        if (key >= 0 && offset < (lowest.get(key) ?? Number.POSITIVE_INFINITY)) lowest.set(key, offset);
      }
    }
    for (const key of this.#published.keys()) if (!lowest.has(key)) this.#table.set(key, 0);
    for (const [key, offset] of lowest) {
      if (this.#published.get(key) !== offset) this.#table.set(key, Math.min(offset, OFFSET_MAX) + 1);
    }
    this.#published = lowest;
  }
}
