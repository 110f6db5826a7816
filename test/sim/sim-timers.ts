// Waits for the fake clock as an actor among the others: what the supervisor sleeps on between failure and restart.
import type { Clock } from '../../src/base/clock.ts';
import type { Actor } from '../../src/runtime/actor.ts';

export class SimTimers implements Actor {
  readonly name = 'timers';
  readonly #clock: Clock;
  #waits: { readonly dueMs: number; readonly resolve: () => void }[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  after(ms: number, resolve: () => void): void {
    this.#waits.push({ dueMs: this.#clock.steadyMs() + ms, resolve });
  }

  start(): void {}

  doWork(): number {
    const nowMs = this.#clock.steadyMs();
    const due = this.#waits.filter((wait) => wait.dueMs <= nowMs);
    this.#waits = this.#waits.filter((wait) => wait.dueMs > nowMs);
    for (const wait of due) wait.resolve();
    return due.length;
  }

  deadlineMs(): number {
    return Math.min(...this.#waits.map((wait) => wait.dueMs), Number.POSITIVE_INFINITY);
  }

  stop(): void {}
}
