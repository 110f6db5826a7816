// Rates of figures that only grow, over the last 10 s, minute and 10 minutes: as far back as there are samples.

/** ms between two samples. */
export const RATE_SAMPLE_MS = 10_000;
const SPANS = [1, 6, 60] as const;
const SAMPLE_COUNT_MAX = 61;
const SECOND_MS = 1_000;

interface Sample<K extends string> {
  readonly atMs: number;
  readonly values: Readonly<Record<K, number>>;
}

export class RateWindow<K extends string> {
  readonly #samples: Sample<K>[] = [];

  /** To be called every `RATE_SAMPLE_MS`. @param atMs of a clock that never goes back. */
  note(atMs: number, values: Readonly<Record<K, number>>): void {
    this.#samples.push({ atMs, values });
    if (this.#samples.length > SAMPLE_COUNT_MAX) this.#samples.shift();
  }

  /** Per second, of the three times; 0 while there are not two samples. */
  rates(name: K): number[] {
    return SPANS.map((span) => this.#rate(name, span));
  }

  #rate(name: K, span: number): number {
    const newest = this.#samples.at(-1);
    const oldest = this.#samples[Math.max(0, this.#samples.length - 1 - span)];
    if (newest === undefined || oldest === undefined || newest.atMs <= oldest.atMs) return 0;
    return ((newest.values[name] - oldest.values[name]) * SECOND_MS) / (newest.atMs - oldest.atMs);
  }
}
