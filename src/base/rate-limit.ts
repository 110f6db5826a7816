// Lets one event in a while through and counts the rest, so that a flood of bad input cannot flood the log.

export class RateLimit {
  #nextMs = Number.NEGATIVE_INFINITY;
  #suppressed = 0;

  readonly #intervalMs: number;

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs;
  }

  /** How many events were held back since the last one let through; -1 when this one is held back as well. */
  admit(steadyMs: number): number {
    if (steadyMs < this.#nextMs) {
      this.#suppressed++;
      return -1;
    }
    const suppressed = this.#suppressed;
    this.#suppressed = 0;
    this.#nextMs = steadyMs + this.#intervalMs;
    return suppressed;
  }
}
