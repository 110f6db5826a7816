// Time as a value that is passed in: production reads the system's clocks, tests move a fake one.

export interface Clock {
  /** Wall clock, ms since 1970 UTC: for what is stored or shown. May step. */
  wallMs(): number;
  /** Steady clock, ms from an arbitrary start: for all waiting and measuring. */
  steadyMs(): number;
}

export const systemClock: Clock = {
  wallMs: () => Date.now(),
  steadyMs: () => performance.now(),
};

/** Both clocks stand still until `advance`; `stepWall` moves only the wall clock, as an operator or NTP would. */
export class FakeClock implements Clock {
  #wallMs: number;
  #steadyMs = 0;

  constructor(wallMs = 1_700_000_000_000) {
    this.#wallMs = wallMs;
  }

  wallMs(): number {
    return this.#wallMs;
  }

  steadyMs(): number {
    return this.#steadyMs;
  }

  advance(ms: number): void {
    this.#wallMs += ms;
    this.#steadyMs += ms;
  }

  stepWall(ms: number): void {
    this.#wallMs += ms;
  }
}
