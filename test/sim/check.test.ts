// What a whole broker leaves behind is checked: sound after a stop, sound but for its end after a kill, and sound again after the next stop.
import test from 'ava';
import { type CheckReport, checkStore } from '../../src/store/check/check-store.ts';
import { SimBroker, type SimOptions } from './sim-broker.ts';
import { Workload } from './workload.ts';

/** Small files, so that each run crosses the edges of some. */
const overrides = { mappedFileSizeCommitLog: 16_384, mappedFileSizeConsumeQueue: 400, maxHashSlotNum: 50, maxIndexNum: 100 };

async function start(seed: number, more: SimOptions = {}): Promise<SimBroker> {
  return await SimBroker.start(seed, { overrides, ...more });
}

const check = (sim: SimBroker): CheckReport => checkStore(sim.files, sim.settings);

test('check: a broker that was stopped leaves nothing to find', async (t) => {
  for (let seed = 1; seed <= 5; seed++) {
    const sim = await start(seed);
    const work = new Workload(sim, { requestCount: 30 });
    work.start();
    sim.runner.runUntil(() => work.done);
    await sim.stop();
    sim.assertHealthy();
    const report = check(sim);
    t.deepEqual(report.findings, [], `seed ${seed}`);
    t.true(report.totals.recordCount > 50 && report.totals.indexEntryCount > 50);
  }
});

test('check: a broker that was killed leaves what its next start repairs', async (t) => {
  for (let seed = 1; seed <= 8; seed++) {
    const sim = await start(seed);
    const work = new Workload(sim, { requestCount: 30 });
    work.start();
    for (let step = 0; step < 700 * seed && !work.done; step++) sim.runner.step();
    sim.kill();
    const killed = check(sim);
    t.is(killed.counts.damage, 0, `seed ${seed} ${JSON.stringify(killed.findings)}`);
    t.false(killed.cleanlyStopped);
    const again = await start(seed + 100, { files: sim.files, clock: sim.clock });
    again.client().askSend('Orders', 0, 'one more');
    await again.stop();
    t.deepEqual(check(again).findings, [], `seed ${seed}`);
  }
});
