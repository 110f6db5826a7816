// An actor that a test tells what to do, and that notes what was done with it.
import type { Actor } from '../../src/runtime/actor.ts';

export class PlainActor implements Actor {
  readonly name: string;
  readonly calls: string[] = [];
  passes = 0;
  dueMs = Number.POSITIVE_INFINITY;
  work: () => number = () => 0;
  starting: () => void | Promise<void> = () => {};
  stopping: () => void | Promise<void> = () => {};

  constructor(name: string) {
    this.name = name;
  }

  start(): void | Promise<void> {
    this.calls.push('start');
    return this.starting();
  }

  doWork(): number {
    this.passes++;
    return this.work();
  }

  deadlineMs(): number {
    return this.dueMs;
  }

  stop(): void | Promise<void> {
    this.calls.push('stop');
    return this.stopping();
  }

  abandon(): void {
    this.calls.push('abandon');
  }
}

export const noMeter = { cycle: (): void => {} };
