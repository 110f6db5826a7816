// Runs all actors of a broker on one thread in an order that a seed chooses, with a clock that moves only when nothing is left to do.
//
// One step is one network event or one duty cycle of one actor. The same seed gives the same steps, and so the same bytes everywhere.
import { assert } from '../base/assert.ts';
import type { FakeClock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import type { Duty } from './duty.ts';
import type { MemoryNetwork } from './memory-transport.ts';

export interface SimRunnerOptions {
  readonly duty: Duty;
  readonly network: MemoryNetwork;
  readonly clock: FakeClock;
  readonly random: Random;
  /** Named where a run fails, so that it can be repeated. */
  readonly seed: number;
}

/** How often a network event is chosen before an actor, where both could be. */
const NETWORK_WEIGHT = 3;
/** Turns of the microtask queue between two steps while a promise is waited for: longer than any chain of ours. */
const TURNS_PER_STEP = 4;
/** A cycle that finds no work may still publish what a socket event put into a ring: the round after it shows. */
const QUIET_ROUNDS = 1;
const STEPS_MAX = 1_000_000;

const StepKinds = { network: 1, actor: 2, clock: 3 } as const;

export class SimRunner {
  readonly clock: FakeClock;
  readonly #duty: Duty;
  readonly #network: MemoryNetwork;
  readonly #random: Random;
  readonly #seed: number;
  readonly #starved = new Set<string>();
  /** Indexes of actors that may have something to do: all others were asked since anything last happened. */
  #awake: number[] = [];
  #knownCount = 0;
  /** Rounds without work since anything last happened. */
  #quietRounds = 0;
  #hash = 0x811c9dc5;
  #stepCount = 0;

  constructor(options: SimRunnerOptions) {
    this.clock = options.clock;
    this.#duty = options.duty;
    this.#network = options.network;
    this.#random = options.random;
    this.#seed = options.seed;
  }

  get stepCount(): number {
    return this.#stepCount;
  }

  /** Grows out of every step so far: equal only where two runs did the same things in the same order. */
  get trace(): string {
    return (this.#hash >>> 0).toString(16).padStart(8, '0');
  }

  /** The actor gets no duty cycle until `feed`: it is slow, or its thread is. */
  starve(name: string): void {
    this.#starved.add(name);
    this.#wakeAll();
  }

  feed(name: string): void {
    this.#starved.delete(name);
    this.#wakeAll();
  }

  /** Something outside of all actors changed: each is asked again. */
  wake(): void {
    this.#wakeAll();
  }

  /** One step; with nothing to do at this time the clock moves on, though not beyond `limitMs`. False where there is nothing at all. */
  step(limitMs: number = Number.POSITIVE_INFINITY): boolean {
    this.#stepCount++;
    if (this.#duty.actorCount !== this.#knownCount) this.#wakeAll();
    const pending = this.#network.pendingCount > 0 ? NETWORK_WEIGHT : 0;
    const choices = this.#awake.length + pending;
    if (choices === 0) {
      if (this.#quietRounds >= QUIET_ROUNDS) return this.#advance(limitMs);
      this.#quietRounds++;
      this.#askAll();
      return true;
    }
    const chosen = this.#random.below(choices);
    if (chosen >= this.#awake.length) {
      this.#network.step();
      this.#note(StepKinds.network, 0, 1);
      this.#wakeAll();
      return true;
    }
    const index = this.#awake[chosen] as number;
    const work = this.#duty.passOne(index);
    this.#note(StepKinds.actor, index, work);
    if (work > 0) this.#wakeAll();
    else {
      this.#awake[chosen] = this.#awake[this.#awake.length - 1] as number;
      this.#awake.pop();
    }
    return true;
  }

  runUntil(condition: () => boolean, stepsMax: number = STEPS_MAX): void {
    for (let i = 0; i < stepsMax; i++) {
      if (condition()) return;
      assert(this.step(), this.#failure('nothing is left to do', i));
    }
    assert(condition(), this.#failure('it does not come about', stepsMax));
  }

  /** Lets everything happen that happens within this time. */
  runFor(ms: number, stepsMax: number = STEPS_MAX): void {
    const endMs = this.clock.steadyMs() + ms;
    for (let i = 0; i < stepsMax; i++) if (!this.step(endMs)) return;
    assert(false, this.#failure('it never comes to rest', stepsMax));
  }

  /** Everything that can happen without time passing. */
  runIdle(stepsMax: number = STEPS_MAX): void {
    this.runFor(0, stepsMax);
  }

  /** Steps until the promise settles: starts, stops and restarts are promises, and nothing but steps brings them about. */
  async settle<T>(promise: Promise<T>, stepsMax: number = STEPS_MAX): Promise<T> {
    let settled = false;
    const done = (): void => {
      settled = true;
    };
    promise.then(done, done);
    for (let i = 0; i < stepsMax; i++) {
      for (let turn = 0; turn < TURNS_PER_STEP; turn++) await Promise.resolve();
      if (settled) return promise;
      this.step();
    }
    assert(false, this.#failure('a promise does not settle', stepsMax));
  }

  /** As `runUntil` where promises take part. */
  async settleUntil(condition: () => boolean, stepsMax: number = STEPS_MAX): Promise<void> {
    for (let i = 0; i < stepsMax; i++) {
      for (let turn = 0; turn < TURNS_PER_STEP; turn++) await Promise.resolve();
      if (condition()) return;
      this.step();
    }
    assert(false, this.#failure('it does not come about', stepsMax));
  }

  #advance(limitMs: number): boolean {
    const nowMs = this.clock.steadyMs();
    if (nowMs >= limitMs) return false;
    const deadlineMs = this.#duty.deadlineMs();
    if (deadlineMs === Number.POSITIVE_INFINITY && limitMs === Number.POSITIVE_INFINITY) return false;
    // A deadline that is over and was not served belongs to a starved actor.
    const nextMs = Math.min(limitMs, Math.max(deadlineMs, nowMs + 1));
    this.clock.advance(nextMs - nowMs);
    this.#note(StepKinds.clock, 0, nextMs);
    this.#wakeAll();
    return true;
  }

  #wakeAll(): void {
    this.#quietRounds = 0;
    this.#askAll();
  }

  #askAll(): void {
    this.#knownCount = this.#duty.actorCount;
    this.#awake = [];
    for (let i = 0; i < this.#knownCount; i++) if (!this.#starved.has(this.#duty.nameOf(i))) this.#awake.push(i);
  }

  #note(kind: number, index: number, work: number): void {
    this.#mix(kind * 64 + index);
    this.#mix(work);
    this.#mix(this.clock.steadyMs());
  }

  #mix(value: number): void {
    this.#hash = Math.imul(this.#hash ^ (value | 0), 0x01000193);
  }

  #failure(what: string, steps: number): string {
    return `${what} seed=${this.#seed} steps=${steps} clockMs=${this.clock.steadyMs()}`;
  }
}
