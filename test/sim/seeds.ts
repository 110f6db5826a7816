// Which seeds a simulation runs: so many in CI, more or one of them by the environment.
//
//   SIM_SEEDS=10000   so many seeds of each simulation that asks here, instead of its own number
//   SIM_SEED=4711     this one only
import test from 'ava';
import { errorText } from '../../src/base/errors.ts';

/** Seeds in one test: the whole row in one would look like a test that hangs. */
const GROUP_SIZE = 50;

function numberOf(name: string): number | null {
  const text = process.env[name];
  if (text === undefined || text === '') return null;
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 0) throw new Error(`${name}=${text} is no seed or count: a whole number from 0 on`);
  return number;
}

/** @param file the test file as it was built, for the command that repeats a failure. */
export function testSeeds(title: string, file: string, defaultCount: number, run: (seed: number) => Promise<void>): void {
  const one = numberOf('SIM_SEED');
  if (one !== null) {
    testGroup(`${title}: seed ${one}`, file, [one], run);
    return;
  }
  const count = numberOf('SIM_SEEDS') ?? defaultCount;
  for (let first = 1; first <= count; first += GROUP_SIZE) {
    const last = Math.min(count, first + GROUP_SIZE - 1);
    const seeds = Array.from({ length: last - first + 1 }, (_, i) => first + i);
    testGroup(`${title}: seeds ${first} to ${last}`, file, seeds, run);
  }
}

function testGroup(title: string, file: string, seeds: readonly number[], run: (seed: number) => Promise<void>): void {
  test.serial(title, async (t) => {
    for (const seed of seeds) {
      try {
        await run(seed);
      } catch (error) {
        const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
        const stack = cause instanceof Error ? cause.stack : '';
        t.fail(`seed ${seed}: ${errorText(error)}\nrepeat: SIM_SEED=${seed} npx ava ${file}\n${stack}`);
        return;
      }
    }
    t.pass();
  });
}
