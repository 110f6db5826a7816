// Runs a thread with an event loop (sockets): duty cycles after socket events, when the doorbell rings, and at deadlines.
import type { Clock } from '../base/clock.ts';
import { AsyncWaiter, type Doorbell } from './doorbell.ts';
import type { Duty } from './duty.ts';

/** Passes in one turn before the sockets get their say again, and the time after which no further one begins: a pass may wait for the disk. */
const PASSES_PER_TURN = 16;
const TURN_MS_MAX = 4;
/** Safety net below all deadlines: what a lost wake-up could cost. */
const PARK_MS_MAX = 1_000;

export class ReactiveRunner {
  readonly #duty: Duty;
  readonly #bell: Doorbell;
  readonly #waiter: AsyncWaiter;
  readonly #clock: Clock;
  #scheduled = false;
  #inTurn = false;
  /** Mail for an actor of this thread was published since the last pass began. */
  #mail = false;
  #closed = false;
  #timer: NodeJS.Timeout | null = null;
  #timerAtMs = Number.POSITIVE_INFINITY;

  constructor(duty: Duty, bell: Doorbell, clock: Clock) {
    this.#duty = duty;
    this.#bell = bell;
    this.#clock = clock;
    this.#waiter = new AsyncWaiter(bell);
  }

  start(): void {
    this.wake();
  }

  close(): void {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#bell.cancel();
  }

  /** A turn comes after the socket events of this round of the event loop: what they bring becomes one batch. */
  readonly wake = (): void => {
    if (this.#scheduled || this.#closed) return;
    this.#scheduled = true;
    setImmediate(this.#turn);
  };

  /** From one actor of this thread to another, instead of its doorbell: within a turn the next pass sees the mail anyway. */
  readonly ring = (): void => {
    this.#mail = true;
    if (!this.#inTurn) this.wake();
  };

  readonly #turn = (): void => {
    this.#scheduled = false;
    if (this.#closed) return;
    this.#bell.cancel();
    this.#inTurn = true;
    if (this.#isThrough()) this.#park();
    else this.wake();
    this.#inTurn = false;
  };

  /** False where there may be more to do, but the sockets have waited long enough. */
  #isThrough(): boolean {
    const untilMs = this.#clock.steadyMs() + TURN_MS_MAX;
    for (let pass = 0; pass < PASSES_PER_TURN; pass++) {
      if (!this.#pass()) return true;
      if (this.#clock.steadyMs() >= untilMs) return false;
    }
    return false;
  }

  /** False where nobody did or sent anything. */
  #pass(): boolean {
    this.#mail = false;
    return this.#duty.pass() > 0 || this.#mail;
  }

  #park(): void {
    this.#waiter.arm(this.wake);
    // Whoever published before the waiter was armed did not ring: look once more.
    if (this.#pass()) {
      this.#bell.cancel();
      this.wake();
      return;
    }
    const nowMs = this.#clock.steadyMs();
    const dueMs = Math.min(this.#duty.deadlineMs(), nowMs + PARK_MS_MAX);
    // An armed timer that fires too early only costs a turn; one that fires too late would miss the deadline.
    if (this.#timer !== null && this.#timerAtMs <= dueMs) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timerAtMs = dueMs;
    this.#timer = setTimeout(this.#onTimer, Math.max(0, Math.ceil(dueMs - nowMs)));
  }

  readonly #onTimer = (): void => {
    this.#timer = null;
    this.#timerAtMs = Number.POSITIVE_INFINITY;
    this.wake();
  };
}
