// What a running broker keeps for the start after an unclean end, and what such a start makes of it.
import test from 'ava';
import { writtenSlot } from '../../src/actors/context.ts';
import { FakeClock } from '../../src/base/clock.ts';
import { SeededRandom } from '../../src/base/random.ts';
import { RequestCodes } from '../../src/protocol/codes.ts';
import { writtenBelow } from '../../src/store/abort-marker.ts';
import { Checkpoint } from '../../src/store/checkpoint.ts';
import type { Files } from '../../src/store/files/files.ts';
import { MemoryFiles } from '../../src/store/files/memory-files.ts';
import { CrashFiles } from '../store/files/crash-files.ts';
import { FaultFiles } from './fault-files.ts';
import { SimBroker } from './sim-broker.ts';
import { nameOf, recordsOf, type SimClient } from './sim-client.ts';

const SEGMENT = 8_192;
const overrides = { mappedFileSizeCommitLog: SEGMENT, mappedFileSizeConsumeQueue: 400 };
const place = 'here';

function sendMany(client: SimClient, from: number, count: number): void {
  for (let i = from; i < from + count; i++) client.askSend('Orders', i % 2, nameAt(i));
}

/** All of one length, so that records are of one size. */
function nameAt(i: number): string {
  return `m${String(i).padStart(4, '0')}`;
}

/** All names in both queues, by offset. */
function readBoth(client: SimClient): string[][] {
  return [0, 1].map((queueId) => {
    const names: string[] = [];
    for (;;) {
      const records = recordsOf(client.askPull('Orders', queueId, 'readers', { offset: names.length }));
      if (records.length === 0) return names;
      names.push(...records.map(nameOf));
    }
  });
}

function expected(count: number): string[][] {
  const names = Array.from({ length: count }, (_, i) => nameAt(i));
  return [names.filter((_, i) => i % 2 === 0), names.filter((_, i) => i % 2 === 1)];
}

function checkpointOf(files: Files): ReturnType<Checkpoint['load']> {
  return new Checkpoint(files, '/store').load();
}

test('checkpoint: the mark of what is in files moves with them, the queue time with what is synced', async (t) => {
  const clock = new FakeClock();
  const faults = new FaultFiles(new MemoryFiles(clock), '/store/consumequeue');
  const sim = await SimBroker.start(1, { files: faults, clock, place, overrides });
  const client = sim.client();
  sendMany(client, 0, 40);
  t.is(writtenBelow(faults, '/store', place), 0);
  sim.runner.runFor(3_000);
  t.is(writtenBelow(faults, '/store', place), sim.position('appended'));
  t.is(checkpointOf(faults).logicsMs, 0);
  t.is(faults.syncCount, 0);
  sim.runner.runFor(60_000);
  const { logicsMs, logicsPosition } = checkpointOf(faults);
  t.is(logicsMs, sim.position('appendedTimeMs'));
  t.true(logicsPosition > sim.position('appended') - 500 && logicsPosition < sim.position('appended'));
  t.true(faults.syncCount >= 2);
  sim.assertHealthy();
});

test('checkpoint: units that wait in memory hold the mark and the queue time back', async (t) => {
  const sim = await SimBroker.start(2, { place, settings: { flushConsumeQueueThoroughInterval: 5_000 } });
  const client = sim.client();
  sendMany(client, 0, 10);
  sim.runner.runFor(3_000);
  const before = sim.position('appended');
  sim.runner.starve('dispatch-0');
  sendMany(client, 10, 4);
  sim.runner.runFor(20_000);
  t.is(writtenBelow(sim.files, '/store', place), before);
  t.true(checkpointOf(sim.files).logicsPosition < before);
  sim.runner.feed('dispatch-0');
  sim.runner.runFor(20_000);
  t.is(writtenBelow(sim.files, '/store', place), sim.position('appended'));
  t.true(checkpointOf(sim.files).logicsPosition >= before);
});

test('checkpoint: queues that are written a part at a time are all written below the mark', async (t) => {
  const sim = await SimBroker.start(11, { place, dispatchCount: 1 });
  const client = sim.client();
  const written = (): number => sim.assembly.positions.get(writtenSlot(1, 0));
  sim.runner.starve('dispatch-0');
  const rows: { folder: string; position: number }[] = [];
  for (let i = 0; i < 240; i++) {
    const position = sim.position('appended');
    client.askSend(`T${i >> 1}`, i % 2, nameAt(i));
    rows.push({ folder: `/store/consumequeue/T${i >> 1}/${i % 2}`, position });
  }
  const start = written();
  const isInFile = (row: { folder: string }): boolean => sim.files.list(row.folder).length > 0;
  sim.runner.feed('dispatch-0');
  sim.runner.runUntil(() => rows.some(isInFile));
  t.false(rows.every(isInFile));
  t.true(rows.filter((row) => row.position < written()).every(isInFile));
  sim.runner.runUntil(() => written() === sim.position('appended'));
  t.true(written() > start && rows.every(isInFile));
});

test('checkpoint: after a kill the log is followed from the mark, elsewhere from where the checkpoint says', async (t) => {
  const sim = await SimBroker.start(3, { place, overrides });
  const client = sim.client();
  sendMany(client, 0, 100);
  sim.runner.runFor(3_000);
  const mark = sim.position('appended');
  sim.runner.starve('flusher');
  sendMany(client, 100, 20);
  const files = sim.kill();
  const next = await SimBroker.start(4, { files, clock: sim.clock, place, overrides });
  t.is(next.host.boot?.dispatchFrom, mark);
  t.deepEqual(readBoth(next.client()), expected(120));
  // A machine that stopped: the queue time never moved within the first minute, so all is read again.
  const moved = await SimBroker.start(5, { files: next.kill(), clock: sim.clock, place: 'there', overrides });
  t.is(moved.host.boot?.dispatchFrom, 0);
  t.deepEqual(readBoth(moved.client()), expected(120));
});

test('checkpoint: a log that may not be written any more vouches for nothing', async (t) => {
  const faults = new FaultFiles(new MemoryFiles(), '/store/commitlog');
  const sim = await SimBroker.start(6, { files: faults, place, settings: { flushCommitLogLeastPages: 0 } });
  const client = sim.client();
  sendMany(client, 0, 10);
  sim.runner.runFor(3_000);
  t.true(writtenBelow(faults, '/store', place) > 0);
  faults.failsSyncs = true;
  client.askSend('Orders', 0, nameAt(10));
  sim.runner.runFor(2_000);
  t.is(writtenBelow(faults, '/store', place), -1);
});

test('checkpoint: queues that cannot be synced are served on, and made again at the next start, also after a stop', async (t) => {
  const clock = new FakeClock();
  const faults = new FaultFiles(new MemoryFiles(clock), '/store/consumequeue');
  const sim = await SimBroker.start(7, { files: faults, clock, place, settings: { flushConsumeQueueThoroughInterval: 2_000 } });
  const client = sim.client();
  sendMany(client, 0, 10);
  faults.failsSyncs = true;
  sim.runner.runFor(10_000);
  t.is(checkpointOf(faults).logicsMs, 0);
  t.is(writtenBelow(faults, '/store', place), -1);
  sendMany(client, 10, 10);
  t.deepEqual(readBoth(client), expected(20));
  faults.failsSyncs = false;
  await sim.stop();
  sim.assertHealthy();
  const next = await SimBroker.start(8, { files: faults, clock, place });
  t.true(next.host.boot?.abnormal);
  t.is(next.host.boot?.dispatchFrom, 0);
  t.deepEqual(readBoth(next.client()), expected(20));
});

test('checkpoint: records at the end of one file and the start of the next that no dispatcher saw are found (BR-53)', async (t) => {
  for (const where of [place, '']) {
    for (const damagesThirdLast of [false, true]) {
      const sim = await SimBroker.start(9, { place: where, overrides });
      const client = sim.client();
      client.askSend('Orders', 0, nameAt(0));
      const size = sim.position('appended');
      let count = 1;
      // Until three messages fit into a later file and a fourth does not.
      const room = (): number => SEGMENT - (sim.position('appended') % SEGMENT);
      for (; room() > 4 * size + 7 || sim.position('appended') < SEGMENT; count++) client.askSend('Orders', count % 2, nameAt(count));
      sim.runner.runFor(3_000);
      for (const name of ['dispatch-0', 'dispatch-1']) sim.runner.starve(name);
      const ends = [0, 1, 2, 3].map(() => {
        client.askSend('Orders', count % 2, nameAt(count++));
        return sim.position('appended');
      });
      t.is(
        ends.findIndex((end) => end > Math.ceil((ends[0] as number) / SEGMENT) * SEGMENT),
        3,
      );
      const files = sim.kill();
      const third = ends[0] as number;
      if (damagesThirdLast) damage(files, third);
      const next = await SimBroker.start(10, { files, clock: sim.clock, place: where, overrides });
      t.deepEqual(readBoth(next.client()), expected(damagesThirdLast ? count - 3 : count));
      t.is(next.position('appended'), damagesThirdLast ? third : (ends[3] as number));
      next.assertHealthy();
    }
  }
});

/** Another byte in the body of the record at this position. */
function damage(files: Files, position: number): void {
  const fd = files.open(`/store/commitlog/${String(position - (position % SEGMENT)).padStart(20, '0')}`, 'write');
  const byte = new Uint8Array(1);
  files.read(fd, byte, 0, 1, (position % SEGMENT) + 90);
  files.write(fd, Uint8Array.from([(byte[0] as number) ^ 0xff]), 0, 1, (position % SEGMENT) + 90);
  files.close(fd);
}

test('checkpoint: it never vouches for queue files that a power failure takes back (BR-55)', async (t) => {
  let vouchedCount = 0;
  for (let seed = 1; seed <= 40; seed++) {
    const clock = new FakeClock();
    const files = new CrashFiles(clock);
    const settings = { flushDiskType: 'SYNC_FLUSH', flushIntervalConsumeQueue: 20, flushConsumeQueueThoroughInterval: 300 };
    const sim = await SimBroker.start(seed, { files, clock, place, settings, overrides });
    const client = sim.client();
    const count = 30 + sim.random.below(60);
    for (let i = 0; i < count; i++) {
      t.is(client.askSend('Orders', i % 2, nameAt(i)).code, 0);
      // Far enough apart that the three seconds of safety are a few messages only.
      sim.runner.runFor(sim.random.below(700));
    }
    const durable = files.crash(new SeededRandom(seed));
    if (checkpointOf(durable).logicsMs > 0) vouchedCount++;
    const next = await SimBroker.start(seed + 1_000, { files: durable, clock, place: 'after the failure', overrides });
    t.deepEqual(readBoth(next.client()), expected(count), `seed ${seed}`);
    next.assertHealthy();
  }
  t.true(vouchedCount > 20, `${vouchedCount}`);
});

test('checkpoint: after a kill the index goes on from its last flush, and every key is found', async (t) => {
  const indexed = { maxHashSlotNum: 16, maxIndexNum: 100 };
  const sim = await SimBroker.start(12, { place, settings: indexed });
  const client = sim.client();
  sendMany(client, 0, 30);
  sim.runner.runFor(11_000);
  sendMany(client, 30, 10);
  sim.runner.runFor(1_000);
  const files = sim.kill();
  const names = files.list('/store/index');
  t.is(names.length, 1);
  const next = await SimBroker.start(13, { files, clock: sim.clock, place, settings: indexed });
  t.deepEqual(files.list('/store/index'), names);
  const reader = next.client();
  for (let i = 0; i < 40; i++) t.deepEqual(askByKey(reader, nameAt(i)), [nameAt(i)]);
  next.assertHealthy();
  // Elsewhere no index file is trusted that is not full and synced: it is made again from the log.
  const elsewhere = await SimBroker.start(14, { files: next.kill(), clock: sim.clock, place: 'there', settings: indexed });
  const other = elsewhere.client();
  for (let i = 0; i < 40; i++) t.deepEqual(askByKey(other, nameAt(i)), [nameAt(i)]);
});

test('checkpoint: the index time moves when an index file is full, and the file outlives a power failure', async (t) => {
  const indexed = { maxHashSlotNum: 16, maxIndexNum: 20 };
  const sim = await SimBroker.start(15, { settings: indexed });
  sendMany(sim.client(), 0, 50);
  sim.runner.runFor(21_000);
  const files = sim.kill();
  const [first, second, third] = files.list('/store/index');
  t.true(checkpointOf(files).indexMs > 0);
  t.truthy(third);
  const next = await SimBroker.start(16, { files, clock: sim.clock, settings: indexed });
  t.deepEqual(files.list('/store/index').slice(0, 2), [first, second]);
  const reader = next.client();
  for (let i = 0; i < 50; i++) t.deepEqual(askByKey(reader, nameAt(i)), [nameAt(i)]);
});

function askByKey(client: SimClient, key: string): string[] {
  const ext = { topic: 'Orders', key, maxNum: 10, beginTimestamp: 0, endTimestamp: Number.MAX_SAFE_INTEGER };
  return recordsOf(client.ask(RequestCodes.QUERY_MESSAGE, ext)).map(nameOf);
}
