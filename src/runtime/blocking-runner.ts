// Runs a thread whose actors have no sockets: duty cycles while there is work, then sleep in Atomics.wait until the doorbell rings.
import type { Clock } from '../base/clock.ts';
import type { Doorbell } from './doorbell.ts';
import type { Duty } from './duty.ts';

/** The longest sleep: a bound on what a lost wake-up could cost, and how soon a changed deadline of another cause is seen. */
const PARK_MS_MAX = 1_000;

export class BlockingRunner {
  readonly #duty: Duty;
  readonly #bell: Doorbell;
  readonly #clock: Clock;
  readonly #controlPending: () => boolean;
  #closed = false;

  /** @param controlPending a control call waits for this thread's event loop, which then must get its turn. */
  constructor(duty: Duty, bell: Doorbell, clock: Clock, controlPending: () => boolean) {
    this.#duty = duty;
    this.#bell = bell;
    this.#clock = clock;
    this.#controlPending = controlPending;
  }

  async run(): Promise<void> {
    while (!this.#closed) {
      if (this.#controlPending()) await turn();
      if (this.#duty.pass() > 0) continue;
      const seen = this.#bell.prepare();
      // Whoever published after prepare() rings; whoever published before it is seen by this second look.
      if (this.#duty.pass() > 0 || this.#controlPending() || this.#closed) {
        this.#bell.cancel();
        continue;
      }
      const sleepMs = Math.min(PARK_MS_MAX, this.#duty.deadlineMs() - this.#clock.steadyMs());
      if (sleepMs > 0) this.#bell.wait(seen, sleepMs);
      else this.#bell.cancel();
    }
  }

  close(): void {
    this.#closed = true;
  }
}

/** One round of the event loop, in which messages from the control plane are taken. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
