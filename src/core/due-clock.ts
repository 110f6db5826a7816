// The time by which waiting messages come due: the wall clock, but for messages of before it was set back, which wait no longer for that.
//
//   wall clock    ----1----2----3|----1----2----3----     set back by two seconds at |
//   due by        ----1----2----3|----3----4----5----     for what was stored before |

/** Smaller steps are the clock being slewed, or a coarse reading of it. */
const STEP_MIN_MS = 100;

export class DueClock {
  #wallMs = 0;
  /** Wall minus steady time at the last look. */
  #baseMs = Number.NaN;
  /** How far the wall clock was set back and has not been set forward again. */
  #behindMs = 0;
  /** Records before it were stored before the clock was set back. */
  #stepPosition = 0;
  /** Where the log ended at the last look. */
  #position = 0;

  /** Call it at least once a second while anything waits. @param position where the log ends. */
  look(wallMs: number, steadyMs: number, position: number): void {
    const stepMs = wallMs - steadyMs - this.#baseMs;
    if (stepMs <= -STEP_MIN_MS) {
      // What was stored since the last look may be older or younger than the step.
      if (this.#behindMs === 0) this.#stepPosition = this.#position;
      this.#behindMs -= stepMs;
    } else if (stepMs >= STEP_MIN_MS) this.#behindMs = Math.max(0, this.#behindMs - stepMs);
    this.#baseMs = wallMs - steadyMs;
    this.#wallMs = wallMs;
    this.#position = position;
  }

  /** The time in ms by which the record at this position of the log is judged. */
  nowFor(position: number): number {
    return position < this.#stepPosition ? this.#wallMs + this.#behindMs : this.#wallMs;
  }
}

/**
 * Steady time at which a message is due whatever the wall clock says; Infinity in general. A message that seems to come from the future was
 * stored under a clock that has been set back since: it waits its delay from when it was first seen.
 * @param dueMs store time plus delay. @param nowMs see `nowFor`. @param seenMs steady time at which it was seen first.
 */
export function steadyLimitMs(dueMs: number, delayMs: number, nowMs: number, seenMs: number): number {
  return dueMs - nowMs > delayMs ? seenMs + delayMs : Number.POSITIVE_INFINITY;
}
