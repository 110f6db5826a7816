// Delayed messages through restarts, failures, wrong positions, changed lists and clocks that jump.
import test from 'ava';
import { silentLog } from '../../src/base/log.ts';
import { RequestCodes, ResponseCodes } from '../../src/protocol/codes.ts';
import { CounterIds } from '../../src/runtime/counters.ts';
import { DelayOffsetsFile } from '../../src/store/delay-offsets-file.ts';
import type { Files } from '../../src/store/files/files.ts';
import { held, namesHeld, runUntilHeld, SCHEDULE, sendDelayed } from './delay-rig.ts';
import { SimBroker } from './sim-broker.ts';

const CONFIG = '/store/config';
const HOUR_MS = 3_600_000;

function storedOffsets(files: Files): ReadonlyMap<number, number> {
  return new DelayOffsetsFile(files, CONFIG, silentLog).load()?.offsets ?? new Map();
}

function setOffset(files: Files, level: number, offset: number): void {
  const file = new DelayOffsetsFile(files, CONFIG, silentLog);
  const state = file.load() ?? { dataVersion: null, offsets: new Map(), later: new Map() };
  file.save({ ...state, offsets: new Map([...state.offsets, [level, offset]]) });
}

/** A broker on the store that another has left, and its clock. */
function startAgain(seed: number, former: SimBroker, settings: Readonly<Record<string, string | number>> = {}): Promise<SimBroker> {
  return SimBroker.start(seed, { files: former.files, clock: former.clock, settings });
}

test('delay: a stop and a start lose nothing, repeat nothing and re-time nothing', async (t) => {
  const sim = await SimBroker.start(1);
  const client = sim.client();
  sendDelayed(client, 'T', 'before', 1);
  sendDelayed(client, 'T', 'after', 4);
  const due = (held(client, SCHEDULE, 3)[0]?.storeTimeMs ?? 0) + 30_000;
  runUntilHeld(sim, client, 'T', 1, 2_000);
  await sim.stop();
  t.is(storedOffsets(sim.files).get(1), 1);
  sim.clock.advance(10_000);
  const again = await startAgain(2, sim);
  const records = runUntilHeld(again, again.client(), 'T', 2, 30_000);
  t.deepEqual(
    records.map((record) => record.properties.get('UNIQ_KEY')),
    ['before', 'after'],
  );
  const lateMs = (records[1]?.storeTimeMs ?? 0) - due;
  t.true(lateMs >= 0 && lateMs <= 5, `${lateMs}`);
  again.runner.runFor(60_000);
  t.is(held(again.client(), 'T').length, 2);
  again.assertHealthy();
  await again.stop();
});

test('delay: what came due while no broker ran is delivered by the next one', async (t) => {
  const sim = await SimBroker.start(3);
  for (let i = 0; i < 40; i++) sendDelayed(sim.client(), 'T', `m${i}`, 3);
  await sim.stop();
  sim.clock.advance(HOUR_MS);
  const again = await startAgain(4, sim);
  runUntilHeld(again, again.client(), 'T', 40, 500);
  again.runner.runFor(1_000);
  t.is(held(again.client(), 'T').length, 40);
  await again.stop();
});

test('delay: positions are written in their interval, and what came since is noted: a killed broker repeats nothing', async (t) => {
  const sim = await SimBroker.start(5, { settings: { flushDelayOffsetInterval: 2_000, flushCommitLogLeastPages: 0 } });
  const client = sim.client();
  for (let i = 0; i < 10; i++) sendDelayed(client, 'T', `early${i}`, 1);
  runUntilHeld(sim, client, 'T', 10, 2_000);
  sim.runner.runFor(5_000);
  t.is(storedOffsets(sim.files).get(1), 10);
  for (let i = 0; i < 5; i++) sendDelayed(client, 'T', `late${i}`, 1);
  runUntilHeld(sim, client, 'T', 15, 2_000);
  sim.runner.runFor(10);
  const again = await startAgain(6, sim);
  again.runner.runFor(3_000);
  const names = namesHeld(again.client(), 'T');
  t.is(new Set(names).size, 15);
  t.is(names.length, 15);
  await again.stop();
});

test('delay: a scheduler that fails is replaced, and all comes in time without new traffic (BR-31)', async (t) => {
  const sim = await SimBroker.start(7);
  const client = sim.client();
  for (let i = 0; i < 3; i++) sendDelayed(client, 'T', `m${i}`, 2);
  const due = (held(client, SCHEDULE, 1).at(-1)?.storeTimeMs ?? 0) + 5_000;
  sim.runner.runFor(2_000);
  sim.host.fail('scheduler');
  await sim.runner.settleUntil(() => sim.host.duty.stateOf('scheduler') === 'failed');
  await sim.runner.settleUntil(() => sim.host.duty.stateOf('scheduler') === 'running');
  const records = runUntilHeld(sim, client, 'T', 3, 5_000);
  t.is(records.length, 3);
  t.true((records[2]?.storeTimeMs ?? 0) - due <= 1_000);
  sendDelayed(client, 'T', 'new', 1);
  runUntilHeld(sim, client, 'T', 4, 2_000);
  // Right after a delivery: the successor knows of it.
  sim.host.fail('scheduler');
  await sim.runner.settleUntil(() => sim.host.duty.stateOf('scheduler') === 'failed');
  await sim.runner.settleUntil(() => sim.host.duty.stateOf('scheduler') === 'running');
  sim.runner.runFor(5_000);
  t.is(held(client, 'T').length, 4);
  sim.assertHealthy();
  await sim.stop();
});

for (const [what, position] of [
  ['behind its end', 10_000],
  ['before its begin', -5],
] as const) {
  test(`delay: a position ${what} of the queue is set into it, written, and nothing stops (BR-29)`, async (t) => {
    const sim = await SimBroker.start(8);
    const client = sim.client();
    sendDelayed(client, 'T', 'first', 3);
    runUntilHeld(sim, client, 'T', 1, 11_000);
    await sim.stop();
    setOffset(sim.files, 3, position);
    const again = await startAgain(9, sim);
    again.runner.runFor(1_000);
    t.is(storedOffsets(again.files).get(3), position < 0 ? 0 : 1);
    sendDelayed(again.client(), 'T', 'second', 3);
    again.runner.runFor(11_000);
    const names = namesHeld(again.client(), 'T');
    // Below the begin everything that is still there comes again: at least once.
    t.deepEqual(names, position < 0 ? ['first', 'first', 'second'] : ['first', 'second']);
    await again.stop();
  });
}

test('delay: a wall clock set back by an hour neither loses nor holds what waits (BR-32)', async (t) => {
  const sim = await SimBroker.start(10);
  const client = sim.client();
  sendDelayed(client, 'T', 'before', 5);
  sim.runner.runFor(20_000);
  sim.clock.stepWall(-HOUR_MS);
  sim.runner.runFor(2_000);
  sendDelayed(client, 'T', 'after', 5);
  sim.runner.runFor(37_000);
  t.deepEqual(namesHeld(client, 'T'), []);
  sim.runner.runFor(2_000);
  t.deepEqual(namesHeld(client, 'T'), ['before']);
  sim.runner.runFor(19_000);
  t.deepEqual(namesHeld(client, 'T'), ['before'], 'a minute is not over for the other');
  sim.runner.runFor(4_000);
  t.deepEqual(namesHeld(client, 'T'), ['before', 'after']);
  sim.assertHealthy();
  await sim.stop();
});

test('delay: the sender’s clock means nothing (BR-32)', async (t) => {
  const sim = await SimBroker.start(11);
  // The born time of all sends here is that of the clock's start.
  sim.runner.runFor(600_000);
  const client = sim.client();
  sendDelayed(client, 'T', 'm', 5);
  sim.runner.runFor(59_000);
  t.deepEqual(namesHeld(client, 'T'), []);
  sim.runner.runFor(2_000);
  t.deepEqual(namesHeld(client, 'T'), ['m']);
  await sim.stop();
});

test('delay: a wall clock set forward delivers what is due by it', async (t) => {
  const sim = await SimBroker.start(12);
  const client = sim.client();
  sendDelayed(client, 'T', 'm', 17);
  sim.runner.runFor(1_000);
  sim.clock.stepWall(HOUR_MS);
  sim.runner.wake();
  runUntilHeld(sim, client, 'T', 1, 1_500);
  await sim.stop();
  t.pass();
});

test('delay: a clock set back over a restart holds a message no longer than its delay', async (t) => {
  const sim = await SimBroker.start(13);
  sendDelayed(sim.client(), 'T', 'm', 5);
  await sim.stop();
  sim.clock.stepWall(-HOUR_MS);
  const again = await startAgain(14, sim);
  const client = again.client();
  again.runner.runFor(58_000);
  t.deepEqual(namesHeld(client, 'T'), []);
  runUntilHeld(again, client, 'T', 1, 3_000);
  await again.stop();
});

test('delay: a changed list of levels re-times nothing that waits, and new messages do not wait for old ones (BR-34)', async (t) => {
  const sim = await SimBroker.start(15);
  const client = sim.client();
  sendDelayed(client, 'T', 'old5', 5);
  sendDelayed(client, 'T', 'old18', 18);
  const storedMs = held(client, SCHEDULE, 4)[0]?.storeTimeMs ?? 0;
  await sim.stop();
  // A new first level, and only five of them: the minute is level 6 of no list, two hours are no level any more.
  const again = await startAgain(16, sim, { messageDelayLevel: '2s 1s 5s 10s 3s' });
  const next = again.client();
  sendDelayed(next, 'T', 'new5', 5);
  sendDelayed(next, 'T', 'clamped', 18);
  again.runner.runFor(4_000);
  t.deepEqual(namesHeld(next, 'T'), ['new5', 'clamped']);
  again.runner.runFor(50_000);
  // Killed in between: parts of a level have their own positions.
  const third = await startAgain(17, again, { messageDelayLevel: '2s 1s 5s 10s 3s' });
  const last = third.client();
  const records = runUntilHeld(third, last, 'T', 3, 10_000);
  const old5 = records.find((record) => record.properties.get('UNIQ_KEY') === 'old5');
  const lateMs = (old5?.storeTimeMs ?? 0) - storedMs - 60_000;
  t.true(lateMs >= 0 && lateMs <= 5, `${lateMs}`);
  t.false(namesHeld(last, 'T').includes('old18'));
  third.runner.runFor(2 * HOUR_MS);
  t.deepEqual(namesHeld(third.client(), 'T'), ['new5', 'clamped', 'old5', 'old18']);
  await third.stop();
});

test('delay: more levels than eighteen have their queues, also those that are added later', async (t) => {
  const many = Array.from({ length: 20 }, (_, i) => `${i + 1}s`).join(' ');
  const sim = await SimBroker.start(18);
  await sim.stop();
  const again = await startAgain(19, sim, { messageDelayLevel: many });
  const client = again.client();
  t.is(sendDelayed(client, 'T', 'twenty', 20).code, 0);
  runUntilHeld(again, client, 'T', 1, 21_000);
  await again.stop();
});

test('delay: a message whose topic is gone is dropped and counted, the others of its level go on', async (t) => {
  const sim = await SimBroker.start(20);
  const client = sim.client();
  sendDelayed(client, 'T', 'first', 1);
  sendDelayed(client, 'Gone', 'lost', 1);
  sendDelayed(client, 'T', 'second', 1);
  t.is(client.ask(RequestCodes.DELETE_TOPIC_IN_BROKER, { topic: 'Gone' }).code, ResponseCodes.SUCCESS);
  runUntilHeld(sim, client, 'T', 2, 2_000);
  sim.runner.runFor(100);
  t.is(sim.countersOf('scheduler').get(CounterIds.droppedMessages), 1);
  sim.assertHealthy();
  await sim.stop();
});
