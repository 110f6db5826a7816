// Retention and clocks that cannot be trusted: wrong futures, steps back, and times in which nobody was there.
import test from 'ava';
import {
  HOUR_MS,
  hourly,
  minOf,
  namesFrom,
  passHours,
  type Rig,
  readFrom,
  sendMany,
  start,
  startAgain,
  YEARS_MS,
} from './retention-rig.ts';
import { SimBroker } from './sim-broker.ts';

test('retention clock: a start 25 years ahead deletes nothing at once, and what it wrote does not stay for ever (BR-62)', async (t) => {
  const first = await start(15, { ...hourly, fileReservedTime: 72 });
  sendMany(t, first.sim, 0, 40);
  await first.sim.stop();
  first.clock.stepWall(YEARS_MS);
  const settings = { ...hourly, fileReservedTime: 72 };
  const ahead: Rig = { ...first, sim: await SimBroker.start(16, { files: first.disk, clock: first.clock, settings }) };
  sendMany(t, ahead.sim, 40, 40);
  passHours(ahead, 1);
  t.is(minOf(ahead.sim.client()), 0, 'not at once');
  const again = await startAgain(t, ahead, settings);
  passHours(again, 1);
  t.is(minOf(again.sim.client()), 0, 'nor after another start in the same future');
  t.deepEqual(readFrom(t, again.sim.client(), 0), namesFrom(0, 80));
  await again.sim.stop();
  again.clock.stepWall(-YEARS_MS);
  const back: Rig = { ...again, sim: await SimBroker.start(17, { files: again.disk, clock: again.clock, settings }) };
  sendMany(t, back.sim, 80, 40);
  t.deepEqual(readFrom(t, back.sim.client(), 0), namesFrom(0, 120));
  passHours(back, 73);
  const min = minOf(back.sim.client());
  t.true(min > 80, `what was written in the future expires with what was written after it, min ${min}`);
  back.sim.assertHealthy();
});

test('retention clock: a stop of two weeks makes old files go later, not at once, and not never', async (t) => {
  const settings = { ...hourly, fileReservedTime: 72 };
  const first = await start(18, settings);
  sendMany(t, first.sim, 0, 60);
  await first.sim.stop();
  first.clock.advance(14 * 24 * HOUR_MS);
  const rig: Rig = { ...first, sim: await SimBroker.start(19, { files: first.disk, clock: first.clock, settings }) };
  passHours(rig, 1);
  t.is(minOf(rig.sim.client()), 0);
  passHours(rig, 72);
  t.true(minOf(rig.sim.client()) > 0);
  rig.sim.assertHealthy();
});
