// When the end of each queue was last seen to have moved: the best that is known of a queue's last message without reading it.

export class ChangeTimes {
  readonly #seen = new Map<number, { end: number; atMs: number }>();

  /** 0 for a queue without messages. `nowMs` is what a move that was not seen before is dated with. */
  of(key: number, end: number, nowMs: number): number {
    if (end === 0) return 0;
    const seen = this.#seen.get(key);
    if (seen !== undefined && seen.end === end) return seen.atMs;
    this.#seen.set(key, { end, atMs: nowMs });
    return nowMs;
  }

  forget(keys: readonly number[]): void {
    for (const key of keys) this.#seen.delete(key);
  }

  get size(): number {
    return this.#seen.size;
  }
}
