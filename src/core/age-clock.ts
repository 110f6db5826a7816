// The time by which files of the log age: the wall clock's, but where that jumps ahead it is followed slowly, until it has proved right.
//
//   wall    ────────┐                           ┌───── 25 years later
//                   └ set wrong ───────────────▶│
//   age     ───────────/ at twice the speed / ──┘ believed after `patienceMs`
//
// A stop of the broker looks the same as a jump: its time is made up for at twice the speed. Nothing is deleted too early by this, some
// things later.

const CATCH_UP_SPEED = 2;

export class AgeClock {
  #valueMs: number;
  #steadyMs: number;
  #aheadMs = 0;
  readonly #patienceMs: number;

  /** @param startMs the newest time the store knows to be true. @param steadyMs now. @param patienceMs see above; 0: follows at once. */
  constructor(startMs: number, steadyMs: number, patienceMs: number) {
    this.#valueMs = startMs;
    this.#steadyMs = steadyMs;
    this.#patienceMs = patienceMs;
  }

  get valueMs(): number {
    return this.#valueMs;
  }

  /** How far the wall clock is ahead of it, at the last look. */
  lagMs(wallMs: number): number {
    return Math.max(0, wallMs - this.#valueMs);
  }

  /** Call it now and then. It is never ahead of the wall clock, and goes back with it. */
  advance(wallMs: number, steadyMs: number): number {
    const passedMs = Math.max(0, steadyMs - this.#steadyMs);
    this.#steadyMs = steadyMs;
    const reachedMs = this.#valueMs + CATCH_UP_SPEED * passedMs;
    if (wallMs <= reachedMs) {
      this.#aheadMs = 0;
      this.#valueMs = wallMs;
    } else {
      this.#aheadMs += passedMs;
      this.#valueMs = this.#aheadMs >= this.#patienceMs ? wallMs : reachedMs;
    }
    return this.#valueMs;
  }
}
