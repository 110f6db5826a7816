// Delayed messages through lives that end by power cuts and kills at any change of the disk: none early, and none passed over.
import { SeededRandom } from '../../src/base/random.ts';
import { Killer, type Moment } from '../faults/fault-points.ts';
import { DelayLives, delayLists } from './delay-lives.ts';
import { testSeeds } from './seeds.ts';

const MOMENTS: readonly Moment[] = ['before', 'within', 'after'];
const LIFE_COUNT = 4;

testSeeds('delay: power cuts and kills pass no message over', 'build/test/sim/delay-power-cuts.test.js', 80, async (seed) => {
  const random = new SeededRandom(seed);
  const lives = new DelayLives(seed);
  let cutCount = 0;
  for (let life = 0; life < LIFE_COUNT; life++) {
    const { levels, levelsMs } = life === 0 ? delayLists[0] : delayLists[1];
    const number = random.below(3) === 0 ? Number.POSITIVE_INFINITY : 1 + random.below(300);
    const killer = new Killer(null, MOMENTS[random.below(MOMENTS.length)] as Moment, number);
    const sim = await lives.start(killer, levels, `run-${cutCount}`);
    if (sim !== null) lives.work(sim, killer, levelsMs, 500 + random.below(3_000));
    if (random.below(3) === 0) lives.disk.endProcess();
    else {
      cutCount++;
      lives.disk.cutPower(random);
      // No machine is back at once.
      lives.clock.advance(1 + random.below(20));
    }
  }
  const none = new Killer(null, 'before', Number.POSITIVE_INFINITY);
  const last = await lives.start(none, delayLists[1].levels, `run-${cutCount}`);
  if (last === null) throw new Error('the last start comes through');
  last.runner.runFor(6_000);
  lives.check(last);
  last.assertHealthy();
});
