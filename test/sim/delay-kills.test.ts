// The broker's process ends before, within and after every step of a delayed message that changes the disk: nothing lost, nothing early.
import test from 'ava';
import { SeededRandom } from '../../src/base/random.ts';
import { faultPoints, Killer, type Moment } from '../faults/fault-points.ts';
import { DelayLives, delayLists } from './delay-lives.ts';

const points = faultPoints.filter((point) =>
  /^(log: (written|synced)|queue: (written|synced)|(delays|delay notes|delay lists): .*)$/.test(point),
);
/** Passings of each point at which the process ends. */
const NUMBER_MAX = 6;

/** Returns whether the process ended at the point. */
async function runTo(seed: number, point: string, moment: Moment, number: number, diskKept: boolean): Promise<boolean> {
  const lives = new DelayLives(seed);
  const killer = new Killer(point, moment, number);
  let place = 'first';
  for (const { levels, levelsMs } of [delayLists[0], delayLists[1], delayLists[1]]) {
    const sim = await lives.start(killer, levels, place);
    if (sim !== null) lives.work(sim, killer, levelsMs);
    if (sim !== null && !killer.ended) {
      try {
        await sim.stop();
      } catch (error) {
        if (!killer.ended) throw error;
      }
    }
    if (!killer.ended) continue;
    if (diskKept) lives.disk.endProcess();
    else {
      place = 'second';
      lives.disk.cutPower(new SeededRandom(seed));
    }
    break;
  }
  const endedAtMs = killer.ended ? lives.clock.wallMs() : Number.POSITIVE_INFINITY;
  const last = await lives.start(new Killer(null, 'before', Number.POSITIVE_INFINITY), delayLists[1].levels, place);
  if (last === null) throw new Error('the last start comes through');
  last.runner.runFor(6_000);
  try {
    const times = lives.check(last);
    if (diskKept) lives.checkKept(times, endedAtMs);
  } catch (error) {
    throw new Error(`seed=${seed} ${moment} ${point} number=${number} ${killer.endedAt}`, { cause: error });
  }
  last.assertHealthy();
  return killer.ended;
}

test.serial('delay: lives without an end in between deliver each message once', async (t) => {
  for (let seed = 1; seed <= 5; seed++) t.false(await runTo(seed, 'index: written', 'before', 1_000_000, true));
});

for (const point of points) {
  test.serial(`delay: the process ends before, within and after, and only what was under way comes again: ${point}`, async (t) => {
    const moments: readonly Moment[] = point.endsWith(': written') ? ['before', 'within', 'after'] : ['before', 'after'];
    let reached = 0;
    for (const moment of moments) {
      for (let number = 1; number <= NUMBER_MAX; number++) {
        const hit = await runTo(points.indexOf(point) * 100 + number, point, moment, number, number % 3 !== 0);
        if (!hit) break;
        reached++;
      }
    }
    t.true(reached > 0, point);
  });
}
