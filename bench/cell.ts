// What a benchmark is: a cell that can be opened, measured again and again, and that notices when its counts are wrong.
import { assert } from '../src/base/assert.ts';

export interface Cell {
  readonly bench: string;
  readonly case: string;
  /** What one value means; smaller is better where it is a time. */
  readonly unit: 'ns' | 'us' | 'per s';
  /** @param scale share of the usual number of operations: 1, or far less where nothing but correctness is asked for. */
  open(scale: number): Running;
}

export interface Running {
  /** One repeat. Several values are told apart by their names, which are appended to the case. Throws where a count or byte is wrong. */
  measure(): number | Record<string, number> | Promise<number | Record<string, number>>;
  close?(): void;
}

/** Work on one thread, counted in operations. */
export interface Work {
  pass(count: number): void;
  /** Looks at what came out of all passes together: `count` operations. Throws where it is wrong. */
  check(count: number): void;
  close?(): void;
}

/** A smoke run must come by every wrap and every full block once. */
const COUNT_MIN = 256;
const WARM_UP_SHARE = 0.3;

/** A cell whose value is the time of one operation. */
export function timed(bench: string, name: string, count: number, open: () => Work): Cell {
  return {
    bench,
    case: name,
    unit: 'ns',
    open: (scale) => {
      const work = open();
      const passCount = Math.max(COUNT_MIN, Math.round(count * scale));
      const warmUpCount = Math.max(COUNT_MIN, Math.round(passCount * WARM_UP_SHARE));
      work.pass(warmUpCount);
      let done = warmUpCount;
      return {
        measure: () => {
          const beganMs = performance.now();
          work.pass(passCount);
          const tookMs = performance.now() - beganMs;
          done += passCount;
          work.check(done);
          return (tookMs * 1e6) / passCount;
        },
        close: () => work.close?.(),
      };
    },
  };
}

/** `seen` must be what was expected, or the cell is void. */
export function expect(what: string, seen: number | string, wanted: number | string): void {
  assert(seen === wanted, `${what}: ${seen}, expected ${wanted}`);
}
