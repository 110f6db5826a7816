// What is noted between two writings of delayOffset.json: a killed broker repeats nothing of it, and no note makes a message pass over.
import test from 'ava';
import { type Log, silentLog } from '../../src/base/log.ts';
import { DelayOffsetsFile } from '../../src/store/delay-offsets-file.ts';
import type { Files } from '../../src/store/files/files.ts';
import { MemoryFiles } from '../../src/store/files/memory-files.ts';
import { Failure } from '../faults/rules.ts';
import { WatchedFiles } from '../faults/watched-files.ts';
import { held, namesHeld, runUntilHeld, sendDelayed } from './delay-rig.ts';
import { SimBroker, type SimOptions } from './sim-broker.ts';

/** The table is not written before a test is over. */
const settings = { flushDelayOffsetInterval: 3_600_000 };

/** A broker on the store of another that was killed. */
function startAgain(seed: number, former: SimBroker, options: SimOptions = {}): Promise<SimBroker> {
  return SimBroker.start(seed, { settings, files: former.files, clock: former.clock, ...options });
}

async function failScheduler(sim: SimBroker): Promise<void> {
  sim.host.fail('scheduler');
  await sim.runner.settleUntil(() => sim.host.duty.stateOf('scheduler') === 'failed');
  await sim.runner.settleUntil(() => sim.host.duty.stateOf('scheduler') === 'running');
}

function namesOf(sim: SimBroker): string[] {
  return namesHeld(sim.client(), 'T').sort();
}

test('delay notes: a broker that is killed again and again before its table is written repeats nothing', async (t) => {
  let sim = await SimBroker.start(1, { settings });
  const expected: string[] = [];
  for (let life = 0; life < 4; life++) {
    for (const level of [1, 2]) {
      expected.push(`life${life}level${level}`);
      sendDelayed(sim.client(), 'T', `life${life}level${level}`, level);
    }
    sim.runner.runFor(6_000);
    sim = await startAgain(2 + life, sim);
  }
  sim.runner.runFor(10_000);
  t.deepEqual(namesOf(sim), expected.sort());
  t.is(new DelayOffsetsFile(sim.files, '/store/config', silentLog).load(), null);
  sim.assertHealthy();
  await sim.stop();
  t.is(new DelayOffsetsFile(sim.files, '/store/config', silentLog).load()?.offsets.get(2), 4);
});

test('delay notes: of several parts of a level each is noted, for another process and for a scheduler that takes over', async (t) => {
  const first = await SimBroker.start(10, { settings: { ...settings, messageDelayLevel: '60s 9s' } });
  sendDelayed(first.client(), 'T', 'slow', 1);
  await first.stop();
  const lists = { settings: { ...settings, messageDelayLevel: '1s 9s' } };
  let sim = await startAgain(11, first, lists);
  for (let i = 0; i < 3; i++) sendDelayed(sim.client(), 'T', `quick${i}`, 1);
  sim.runner.runFor(2_000);
  const expected = ['quick0', 'quick1', 'quick2'];
  t.deepEqual(namesOf(sim), expected);
  await failScheduler(sim);
  sim.runner.runFor(2_000);
  t.deepEqual(namesOf(sim), expected);
  sim = await startAgain(12, sim, lists);
  sim.runner.runFor(2_000);
  t.deepEqual(namesOf(sim), expected);
  sim.runner.runFor(60_000);
  sim = await startAgain(13, sim, lists);
  sim.runner.runFor(60_000);
  t.deepEqual(namesOf(sim), [...expected, 'slow']);
  sim.assertHealthy();
  await sim.stop();
});

test('delay notes: a table that somebody else wrote counts alone', async (t) => {
  const sim = await SimBroker.start(20, { settings });
  for (let i = 0; i < 3; i++) sendDelayed(sim.client(), 'T', `m${i}`, 1);
  runUntilHeld(sim, sim.client(), 'T', 3, 2_000);
  sim.runner.runFor(100);
  const table = new DelayOffsetsFile(sim.files, '/store/config', silentLog);
  table.save({ dataVersion: null, offsets: new Map([[1, 1]]), later: new Map() });
  const again = await startAgain(21, sim);
  again.runner.runFor(2_000);
  t.deepEqual(namesOf(again), ['m0', 'm1', 'm1', 'm2', 'm2']);
  await again.stop();
});

/** The log ends here from now on, as after a power cut. */
function cutLog(files: Files, position: number): void {
  const fd = files.open('/store/commitlog/00000000000000000000', 'write');
  const zeros = new Uint8Array(65_536);
  files.write(fd, zeros, 0, zeros.length, position);
  files.close(fd);
}

test('delay notes: where the log has lost a delivery its message comes again', async (t) => {
  const sim = await SimBroker.start(30, { settings });
  for (const name of ['kept', 'lost']) sendDelayed(sim.client(), 'T', name, 1);
  const records = runUntilHeld(sim, sim.client(), 'T', 2, 2_000);
  sim.runner.runFor(100);
  cutLog(sim.files, records[1]?.position ?? 0);
  const again = await startAgain(31, sim);
  again.runner.runFor(2_000);
  const names = namesOf(again);
  t.true(names.includes('lost') && names.includes('kept'), names.join());
  t.is(names.filter((name) => name === 'lost').length, 1);
  await again.stop();
});

test('delay notes: other messages in the place of a lost delivery do not make its note count', async (t) => {
  const sim = await SimBroker.start(40, { settings });
  sendDelayed(sim.client(), 'T', 'm', 1);
  const [record] = runUntilHeld(sim, sim.client(), 'T', 1, 2_000);
  sim.runner.runFor(100);
  const end = sim.position('appended');
  cutLog(sim.files, record?.position ?? 0);
  const between = await startAgain(41, sim, { starved: ['scheduler'] });
  for (let i = 0; i < 10; i++) between.client().askSend('Other', 0, `o${i}`);
  t.true(between.position('appended') > end);
  t.deepEqual(namesOf(between), []);
  const again = await startAgain(42, between);
  again.runner.runFor(2_000);
  t.deepEqual(namesOf(again), ['m']);
  await again.stop();
});

test('delay notes: a disk without room for them stops no delivery, is told once, and notes go on when there is room', async (t) => {
  const files = new WatchedFiles(new MemoryFiles());
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (message) => void warnings.push(message), scoped: () => log };
  const failure = files.watch(new Failure({ kinds: ['write'], path: /delayOffset\.journal/ }, { code: 'ENOSPC', tornSizeBytes: 9 }));
  const sim = await SimBroker.start(50, { settings, files, log });
  for (let i = 0; i < 5; i++) {
    sendDelayed(sim.client(), 'T', `m${i}`, 1);
    const dueMs = sim.clock.wallMs() + 1_000;
    const records = runUntilHeld(sim, sim.client(), 'T', i + 1, 2_000);
    t.true((records[i]?.storeTimeMs ?? 0) <= dueMs + 5);
  }
  t.is(warnings.filter((line) => line.includes('could not be noted')).length, 1);
  t.true(failure.seenCount >= 2 && failure.seenCount <= 8, `${failure.seenCount}`);
  failure.isOn = false;
  sim.runner.runFor(1_500);
  const again = await startAgain(51, sim);
  again.runner.runFor(2_000);
  t.deepEqual(namesOf(again), ['m0', 'm1', 'm2', 'm3', 'm4']);
  again.assertHealthy();
  await again.stop();
});

test('delay notes: without them a kill repeats, and loses nothing', async (t) => {
  const sim = await SimBroker.start(60, { settings });
  for (let i = 0; i < 3; i++) sendDelayed(sim.client(), 'T', `m${i}`, 1);
  runUntilHeld(sim, sim.client(), 'T', 3, 2_000);
  sim.runner.runFor(100);
  sim.files.remove('/store/config/delayOffset.journal');
  const again = await startAgain(61, sim);
  again.runner.runFor(2_000);
  t.is(held(again.client(), 'T').length, 6);
  await again.stop();
});

test('delay notes: the table has only what is on stable storage, the notes the rest', async (t) => {
  const sim = await SimBroker.start(70, { settings: { flushDelayOffsetInterval: 500, flushCommitLogLeastPages: 0 } });
  sendDelayed(sim.client(), 'T', 'synced', 1);
  runUntilHeld(sim, sim.client(), 'T', 1, 2_000);
  sim.runner.runFor(3_000);
  sim.runner.starve('flusher');
  sendDelayed(sim.client(), 'T', 'written', 1);
  runUntilHeld(sim, sim.client(), 'T', 2, 2_000);
  sim.runner.runFor(3_000);
  const offsetOf = (files: Files): number | undefined => new DelayOffsetsFile(files, '/store/config', silentLog).load()?.offsets.get(1);
  t.is(offsetOf(sim.files), 1);
  const again = await startAgain(71, sim, {
    settings: { flushDelayOffsetInterval: 500, flushCommitLogLeastPages: 0 },
    starved: ['flusher'],
  });
  again.runner.runFor(3_000);
  t.deepEqual(namesOf(again), ['synced', 'written']);
  t.is(offsetOf(again.files), 1, 'a position that was found noted is not durable by that');
  again.runner.feed('flusher');
  again.runner.runFor(3_000);
  t.is(offsetOf(again.files), 2);
  await again.stop();
});
