// The rows of the route table: for each topic what each broker name offers of it.
import { Perms } from '../core/topic-config.ts';
import type { QueueData } from '../protocol/bodies/topic-route.ts';

export class TopicRows {
  readonly #rows = new Map<string, Map<string, QueueData>>();

  get topics(): IterableIterator<string> {
    return this.#rows.keys();
  }

  /** Rows of a topic by broker name; undefined where nobody has it. */
  of(topic: string): ReadonlyMap<string, QueueData> | undefined {
    return this.#rows.get(topic);
  }

  has(topic: string, brokerName: string): boolean {
    return this.#rows.get(topic)?.has(brokerName) ?? false;
  }

  put(topic: string, row: QueueData): void {
    const rows = this.#rows.get(topic);
    if (rows === undefined) this.#rows.set(topic, new Map([[row.brokerName, row]]));
    else rows.set(row.brokerName, row);
  }

  delete(topic: string, brokerName: string): void {
    const rows = this.#rows.get(topic);
    if (rows?.delete(brokerName) === true && rows.size === 0) this.#rows.delete(topic);
  }

  deleteTopic(topic: string): void {
    this.#rows.delete(topic);
  }

  deleteBroker(brokerName: string): void {
    for (const topic of [...this.#rows.keys()]) this.delete(topic, brokerName);
  }

  /** Topics that a broker name has and `kept` lacks. */
  others(brokerName: string, kept: ReadonlySet<string>): string[] {
    const found: string[] = [];
    for (const [topic, rows] of this.#rows) if (rows.has(brokerName) && !kept.has(topic)) found.push(topic);
    return found;
  }

  /** Changes the permission of all rows of a broker name; returns how many there are. */
  changePerm(brokerName: string, change: (perm: number) => number): number {
    let count = 0;
    for (const rows of this.#rows.values()) {
      const row = rows.get(brokerName);
      if (row === undefined) continue;
      rows.set(brokerName, { ...row, perm: change(row.perm) });
      count++;
    }
    return count;
  }

  /** Topics of which some row satisfies the test. */
  topicsWhere(test: (row: QueueData) => boolean): string[] {
    const found: string[] = [];
    for (const [topic, rows] of this.#rows) {
      for (const row of rows.values()) {
        if (!test(row)) continue;
        found.push(topic);
        break;
      }
    }
    return found;
  }
}

export function withoutWrite(perm: number): number {
  return perm & ~Perms.write;
}
