// The faults of single operations: some fail with a system's code, some write only a part, some take their time.
import type { FakeClock } from '../../src/base/clock.ts';
import { fileError } from '../../src/store/files/node-files.ts';
import { type Operation, type OperationKind, TornWrite, type Watch } from './watched-files.ts';

/** Operations of one of these kinds, on files whose path matches; all where a part is left out. */
export interface Where {
  readonly kinds?: readonly OperationKind[];
  readonly path?: RegExp;
}

export interface FailureOptions {
  /** Default EIO. */
  readonly code?: string;
  /** The first of the matching operations that fails, from 1 on. */
  readonly first?: number;
  /** So many of them in a row. */
  readonly count?: number;
  /** A write that fails has written so many bytes before. */
  readonly tornSizeBytes?: number;
}

export function matches({ kinds, path }: Where, operation: Operation): boolean {
  return (kinds === undefined || kinds.includes(operation.kind)) && (path === undefined || path.test(operation.path));
}

export class Failure implements Watch {
  isOn = true;
  /** Matching operations so far while it was on. */
  seenCount = 0;
  readonly #where: Where;
  readonly #options: Required<FailureOptions>;

  constructor(where: Where, options: FailureOptions = {}) {
    this.#where = where;
    this.#options = { code: 'EIO', first: 1, count: Number.POSITIVE_INFINITY, tornSizeBytes: 0, ...options };
  }

  before(operation: Operation): void {
    if (!this.isOn || !matches(this.#where, operation)) return;
    const { code, first, count, tornSizeBytes } = this.#options;
    const number = ++this.seenCount;
    if (number < first || number >= first + count) return;
    if (operation.kind === 'write' && tornSizeBytes > 0) throw new TornWrite(tornSizeBytes, code);
    throw fileError(operation.kind, operation.path, code);
  }
}

/** Each matching operation takes so long: both clocks have moved on when it returns. */
export class Slowness implements Watch {
  isOn = true;
  readonly #where: Where;
  readonly #clock: FakeClock;
  readonly #ms: number;

  constructor(where: Where, clock: FakeClock, ms: number) {
    this.#where = where;
    this.#clock = clock;
    this.#ms = ms;
  }

  before(operation: Operation): void {
    if (this.isOn && matches(this.#where, operation)) this.#clock.advance(this.#ms);
  }
}

/** Counts matching operations that took effect. */
export class Tally implements Watch {
  count = 0;
  readonly #where: Where;

  constructor(where: Where) {
    this.#where = where;
  }

  after(operation: Operation): void {
    if (matches(this.#where, operation)) this.count++;
  }
}
