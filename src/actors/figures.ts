// The broker's live figures as displays read them: every actor's counters, its thread, and how full each ring is.

export interface ActorFigures {
  readonly name: string;
  readonly thread: string;
  /** Values by the labels of the counters; those that never counted are left out. */
  readonly counters: ReadonlyMap<string, number>;
}

export interface ThreadFigures {
  readonly name: string;
  /** Runs an event loop: the time of its socket events is in `activeMs` and in no actor's `busyMs`. */
  readonly reactive: boolean;
  /** Of a reactive thread: time in which its event loop did not wait, up to the moment `measuredAtMs` of its clock; else 0. */
  readonly activeMs: number;
  readonly measuredAtMs: number;
}

export interface RingFigures {
  readonly from: string;
  readonly to: string;
  readonly fillBytes: number;
  readonly capacityBytes: number;
}

export interface BrokerFigures {
  readonly actors: readonly ActorFigures[];
  readonly threads: readonly ThreadFigures[];
  readonly rings: readonly RingFigures[];
}

const prefix = 'ringmq';

/** The figures as names and texts, as they travel in the table of a broker's runtime figures. */
export function writeFigures(figures: BrokerFigures, nowMs: number, into: Map<string, string>): void {
  into.set(`${prefix}.clockMs`, nowMs.toFixed(3));
  for (const thread of figures.threads) {
    into.set(`${prefix}.thread.${thread.name}.reactive`, String(thread.reactive));
    into.set(`${prefix}.thread.${thread.name}.activeMs`, thread.activeMs.toFixed(3));
    into.set(`${prefix}.thread.${thread.name}.measuredAtMs`, thread.measuredAtMs.toFixed(3));
  }
  for (const actor of figures.actors) {
    into.set(`${prefix}.actor.${actor.name}.thread`, actor.thread);
    for (const [label, value] of actor.counters) {
      into.set(`${prefix}.actor.${actor.name}.${label}`, Number.isInteger(value) ? String(value) : value.toFixed(3));
    }
  }
  for (const ring of figures.rings) {
    into.set(`${prefix}.ring.${ring.from}->${ring.to}.fillBytes`, String(ring.fillBytes));
    into.set(`${prefix}.ring.${ring.from}->${ring.to}.capacityBytes`, String(ring.capacityBytes));
  }
}
