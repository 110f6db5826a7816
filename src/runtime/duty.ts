// One thread's actors and their duty cycles: who runs, how busy each is, and what happens when one of them throws.
import { assert } from '../base/assert.ts';
import type { Clock } from '../base/clock.ts';
import type { Actor } from './actor.ts';

export type ActorState = 'new' | 'running' | 'stopping' | 'stopped' | 'failed';

/** Where a duty's figures go: one writer, read by anyone. */
export interface DutyMeter {
  /** @param busyMs time the cycle took; @param work what doWork returned. */
  cycle(busyMs: number, work: number): void;
}

interface Slot {
  readonly actor: Actor;
  readonly meter: DutyMeter;
  state: ActorState;
}

export class Duty {
  readonly #slots: Slot[] = [];
  readonly #clock: Clock;
  readonly #onFailure: (name: string, error: unknown) => void;

  constructor(clock: Clock, onFailure: (name: string, error: unknown) => void) {
    this.#clock = clock;
    this.#onFailure = onFailure;
  }

  /** Adds an actor, in the place of a former one of the same name (a restart). It runs once `start` has settled. */
  add(actor: Actor, meter: DutyMeter): void {
    const at = this.#slots.findIndex((slot) => slot.actor.name === actor.name);
    const slot: Slot = { actor, meter, state: 'new' };
    if (at < 0) this.#slots.push(slot);
    else {
      assert(this.#slots[at]?.state !== 'running', 'a running actor is not replaced');
      this.#slots[at] = slot;
    }
  }

  async start(name: string): Promise<void> {
    const slot = this.#slot(name);
    assert(slot.state === 'new', 'an actor starts once');
    await slot.actor.start();
    slot.state = 'running';
  }

  async stop(name: string): Promise<void> {
    const slot = this.#slot(name);
    if (slot.state !== 'running') return;
    slot.state = 'stopping';
    try {
      await slot.actor.stop();
    } finally {
      slot.state = 'stopped';
    }
  }

  /** Calls every running actor once; the sum of what they did. */
  pass(): number {
    let work = 0;
    for (let i = 0; i < this.#slots.length; i++) work += this.#cycle(this.#slots[i] as Slot);
    return work;
  }

  /** One duty cycle of the n-th actor: for a scheduler that chooses the order. */
  passOne(index: number): number {
    return this.#cycle(this.#slots[index] as Slot);
  }

  get actorCount(): number {
    return this.#slots.length;
  }

  nameOf(index: number): string {
    return (this.#slots[index] as Slot).actor.name;
  }

  stateOf(name: string): ActorState {
    return this.#slot(name).state;
  }

  deadlineMs(): number {
    let deadline = Number.POSITIVE_INFINITY;
    for (const slot of this.#slots) {
      if (slot.state === 'running' || slot.state === 'stopping') deadline = Math.min(deadline, slot.actor.deadlineMs());
    }
    return deadline;
  }

  #cycle(slot: Slot): number {
    if (slot.state !== 'running' && slot.state !== 'stopping') return 0;
    const begin = this.#clock.steadyMs();
    try {
      const work = slot.actor.doWork();
      slot.meter.cycle(this.#clock.steadyMs() - begin, work);
      return work;
    } catch (error) {
      // The actor's state may be half changed: it never runs again. Whether another takes its place is the supervisor's decision.
      slot.state = 'failed';
      slot.actor.abandon?.();
      this.#onFailure(slot.actor.name, error);
      return 1;
    }
  }

  #slot(name: string): Slot {
    const slot = this.#slots.find((s) => s.actor.name === name);
    assert(slot !== undefined, `no actor ${name} on this thread`);
    return slot;
  }
}
