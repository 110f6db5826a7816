// Reads the live figures of all actors and rings from shared memory, and keeps the one that no actor knows: its event loop's time.
import type { BrokerFigures } from './actors/figures.ts';
import { present } from './base/assert.ts';
import type { Clock } from './base/clock.ts';
import { CounterIds, Counters, counterRows } from './runtime/counters.ts';
import { ringUsedBytes } from './runtime/ring.ts';
import type { SharedMemory } from './shared-memory.ts';
import type { ActorSpec, Topology } from './topology.ts';

/** A read of the loop's time costs about a microsecond; a display asks for seconds. */
const LOOP_INTERVAL_MS = 200;

/** Called in every duty cycle of one actor of a thread: what it says is true of the moment that it says. */
export class LoopMeter {
  readonly #counters: Counters;
  readonly #clock: Clock;
  readonly #activeMs: () => number;
  #dueMs = 0;

  constructor(counters: Counters, clock: Clock, activeMs: () => number) {
    this.#counters = counters;
    this.#clock = clock;
    this.#activeMs = activeMs;
  }

  measure(): void {
    const nowMs = this.#clock.steadyMs();
    if (nowMs < this.#dueMs) return;
    this.#dueMs = nowMs + LOOP_INTERVAL_MS;
    this.#counters.set(CounterIds.loopActiveMs, this.#activeMs());
    this.#counters.set(CounterIds.loopMeasuredAtMs, nowMs);
  }
}

/** Of the thread, not of the actor that happens to keep them. */
const threadCounters: ReadonlySet<number> = new Set([CounterIds.loopActiveMs, CounterIds.loopMeasuredAtMs]);

export function figuresOf(topology: Topology, memory: SharedMemory): BrokerFigures {
  const counters = new Map(topology.actors.map((actor, index) => [actor.name, new Counters(memory.counters, index)]));
  const countersOf = (name: string): Counters => present(counters.get(name), 'counters');
  return {
    actors: topology.actors.map((actor) => ({
      name: actor.name,
      thread: threadOf(topology, actor),
      counters: valuesOf(countersOf(actor.name)),
    })),
    threads: topology.threads.map((thread) => {
      const keeper = countersOf(present(thread.actors[0], 'first actor'));
      return {
        name: thread.name,
        reactive: thread.reactive,
        activeMs: keeper.get(CounterIds.loopActiveMs),
        measuredAtMs: keeper.get(CounterIds.loopMeasuredAtMs),
      };
    }),
    rings: topology.rings.map((ring, index) => ({
      from: ring.from,
      to: ring.to,
      fillBytes: ringUsedBytes(present(memory.rings[index], 'ring')),
      capacityBytes: ring.capacityBytes,
    })),
  };
}

function threadOf(topology: Topology, actor: ActorSpec): string {
  return present(topology.threads[actor.thread], 'thread').name;
}

function valuesOf(counters: Counters): Map<string, number> {
  const shown = counterRows.filter((row) => !threadCounters.has(row.id) && counters.get(row.id) !== 0);
  return new Map(shown.map((row) => [row.label, counters.get(row.id)]));
}
