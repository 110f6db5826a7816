// Randomness as a value that is passed in, so that a whole run can be repeated from its seed.

export interface Random {
  /** An integer in [0, bound). */
  below(bound: number): number;
}

export const systemRandom: Random = {
  below: (bound) => Math.floor(Math.random() * bound),
};

/** mulberry32: small, fast, and good enough to choose the order of events. */
export class SeededRandom implements Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  below(bound: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * bound);
  }
}
