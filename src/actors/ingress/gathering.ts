// Answers that need many values of queues: asks the dispatchers for them, some at a time, and goes on when all are there.
import type { ClientConnection } from './client-connection.ts';
import type { LookUpPath } from './look-up-path.ts';
import type { Ask } from './pending-asks.ts';

/** Look-ups that one answer has under way: a broker of ten thousand queues must not fill the rings with one request of a tool. */
const UNDER_WAY_MAX = 256;
/** Whoever makes room in a ring does not ring for it. */
const ROOM_POLL_MS = 1;

export interface Wanted {
  readonly key: number;
  readonly kind: number;
  readonly argument: number;
}

interface Gathering {
  /** null: no client waits for it. */
  readonly ask: Ask | null;
  readonly wanted: readonly Wanted[];
  readonly values: number[];
  readonly onDone: (values: readonly number[]) => void;
  askedCount: number;
  answeredCount: number;
}

export class Gatherings {
  readonly #lookUps: LookUpPath;
  readonly #open = new Set<Gathering>();
  /** A ring had no room for the next look-up of one of them. */
  #isStuck = false;

  constructor(lookUps: LookUpPath) {
    this.#lookUps = lookUps;
  }

  get count(): number {
    return this.#open.size;
  }

  /** `onDone` gets the values in the order asked for; it is not called once the connection has closed. */
  add(ask: Ask | null, wanted: readonly Wanted[], onDone: (values: readonly number[]) => void): void {
    const gathering = { ask, wanted, values: new Array<number>(wanted.length).fill(-1), onDone, askedCount: 0, answeredCount: 0 };
    if (wanted.length === 0) {
      onDone([]);
      return;
    }
    this.#open.add(gathering);
    this.#ask(gathering);
  }

  /** Asks on where there was no room. */
  work(): void {
    if (!this.#isStuck) return;
    this.#isStuck = false;
    for (const gathering of this.#open) this.#ask(gathering);
  }

  deadlineMs(nowMs: number): number {
    return this.#isStuck ? nowMs + ROOM_POLL_MS : Number.POSITIVE_INFINITY;
  }

  forget(client: ClientConnection): void {
    for (const gathering of this.#open) if (gathering.ask?.client === client) this.#open.delete(gathering);
  }

  #ask(gathering: Gathering): void {
    const { wanted } = gathering;
    while (gathering.askedCount < wanted.length && gathering.askedCount - gathering.answeredCount < UNDER_WAY_MAX) {
      const index = gathering.askedCount;
      const { key, kind, argument } = wanted[index] as Wanted;
      if (!this.#lookUps.tryLookUp(gathering.ask, key, kind, argument, (value) => this.#onValue(gathering, index, value))) {
        this.#isStuck = true;
        return;
      }
      gathering.askedCount++;
    }
  }

  #onValue(gathering: Gathering, index: number, value: number): void {
    if (!this.#open.has(gathering)) return;
    gathering.values[index] = value;
    if (++gathering.answeredCount < gathering.wanted.length) {
      this.#ask(gathering);
      return;
    }
    this.#open.delete(gathering);
    gathering.onDone(gathering.values);
  }
}
