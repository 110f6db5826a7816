// Which groups are to be told that their members changed: all changes within a short time become one notice, so a mass start is no storm.

export class NoticeBook {
  /** Group -> when it is told. The delay is the same for all, so the order of insertion is the order of times. */
  readonly #dueMs = new Map<string, number>();
  readonly #coalesceMs: number;

  constructor(coalesceMs: number) {
    this.#coalesceMs = coalesceMs;
  }

  get size(): number {
    return this.#dueMs.size;
  }

  /** The first change sets the time, later ones ride along. */
  ask(group: string, steadyMs: number): void {
    if (!this.#dueMs.has(group)) this.#dueMs.set(group, steadyMs + this.#coalesceMs);
  }

  forget(group: string): void {
    this.#dueMs.delete(group);
  }

  nextMs(): number {
    for (const dueMs of this.#dueMs.values()) return dueMs;
    return Number.POSITIVE_INFINITY;
  }

  takeDue(steadyMs: number): string[] {
    const due: string[] = [];
    for (const [group, dueMs] of this.#dueMs) {
      if (dueMs > steadyMs) break;
      this.#dueMs.delete(group);
      due.push(group);
    }
    return due;
  }
}
