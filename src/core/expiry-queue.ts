// Keys that are forgotten a fixed time after they were last touched; the oldest is always first, so the next deadline is exact.

export class ExpiryQueue<K> {
  /** A Map keeps the order of insertion, and touching inserts anew. */
  readonly #touchedMs = new Map<K, number>();
  readonly #lifeMs: number;

  constructor(lifeMs: number) {
    this.#lifeMs = lifeMs;
  }

  get size(): number {
    return this.#touchedMs.size;
  }

  touch(key: K, steadyMs: number): void {
    this.#touchedMs.delete(key);
    this.#touchedMs.set(key, steadyMs);
  }

  forget(key: K): void {
    this.#touchedMs.delete(key);
  }

  /** When the next key expires; Infinity while there is none. */
  nextMs(): number {
    for (const touchedMs of this.#touchedMs.values()) return touchedMs + this.#lifeMs;
    return Number.POSITIVE_INFINITY;
  }

  /** Removes and returns the keys whose time is over. */
  takeExpired(steadyMs: number): K[] {
    const expired: K[] = [];
    for (const [key, touchedMs] of this.#touchedMs) {
      if (touchedMs + this.#lifeMs > steadyMs) break;
      this.#touchedMs.delete(key);
      expired.push(key);
    }
    return expired;
  }
}
