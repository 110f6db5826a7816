// Where the log ended when a topic was removed: messages of its name before that place belong to a life that is over.

/** Topics noted at once; the log itself forgets them in time. Beyond it those removed first are forgotten sooner. */
export const REMOVED_TOPIC_COUNT_MAX = 100_000;

export class RemovedTopics {
  readonly #positions = new Map<string, number>();
  readonly #countMax: number;
  dirty = false;

  constructor(countMax = REMOVED_TOPIC_COUNT_MAX) {
    this.#countMax = countMax;
  }

  get positions(): ReadonlyMap<string, number> {
    return this.#positions;
  }

  load(positions: ReadonlyMap<string, number>): void {
    for (const [topic, position] of positions) this.#positions.set(topic, position);
  }

  /** @param logMin start of the log: what was removed before it needs no note any more. */
  note(topic: string, position: number, logMin: number): void {
    this.#positions.delete(topic);
    this.#positions.set(topic, position);
    this.dirty = true;
    for (const [other, from] of this.#positions) {
      if (from > logMin && this.#positions.size <= this.#countMax) break;
      this.#positions.delete(other);
    }
  }

  /** The topic is made again: what was still on its way when it was removed is over, too. */
  madeAgain(topic: string, position: number, logMin: number): void {
    if (this.#positions.has(topic)) this.note(topic, position, logMin);
  }

  /** Position in the log from which on messages of this name count; 0 where it was never removed. */
  from(topic: string): number {
    return this.#positions.get(topic) ?? 0;
  }
}
