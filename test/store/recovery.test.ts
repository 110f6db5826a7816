// Recovery of made-up stores: lagging, lost, stale and torn queues, torn logs, two lives of one queue.
import test from 'ava';
import { RingmqError } from '../../src/base/errors.ts';
import { silentLog } from '../../src/base/log.ts';
import { markRunning, markStopped } from '../../src/store/abort-marker.ts';
import { Checkpoint } from '../../src/store/checkpoint.ts';
import { MemoryFiles } from '../../src/store/files/memory-files.ts';
import { isFiller, UNIT_SIZE } from '../../src/store/queue-unit.ts';
import { recoverStore } from '../../src/store/recovery.ts';
import { segmentName } from '../../src/store/segment-row.ts';
import { unitsOf } from './following.ts';
import { LogMaker } from './records.ts';
import { CQ_SIZE, SEGMENT, worldSettings as settings, World } from './world.ts';

test('recovery: an empty store is empty', (t) => {
  const found = recoverStore(new MemoryFiles(), settings, silentLog);
  t.like(found, { positionMin: 0, positionMax: 0, dispatchFrom: 0, abnormal: false, storeTimeMsMax: 0 });
  t.deepEqual(found.queues, []);
});

test('recovery: a clean stop with all dispatched has nothing to do', (t) => {
  const world = new World().fill(100);
  world.dispatch();
  world.log.files.close(world.log.position);
  const found = world.recover(t, { verifySizeBytes: 2_000 });
  t.is(found.dispatchFrom, world.log.position);
  t.is(found.storeTimeMsMax, 1_099);
  t.deepEqual(found.warnings, []);
});

test('recovery: queues that lag behind under a clean marker are caught up, by one record and by many', (t) => {
  for (const missing of [1, 2, 40, 100]) {
    const world = new World().fill(100);
    world.dispatch(100 - missing);
    const found = world.recover(t);
    t.is(found.dispatchFrom, world.log.records[100 - missing]?.position ?? -1);
  }
});

test('recovery: one queue that lags far behind is found beyond the part that is verified', (t) => {
  const world = new World().fill(200);
  world.dispatch();
  world.queues.get(world.keys.get('T0/0') ?? -1)?.cutTo(2);
  const found = world.recover(t, { verifySizeBytes: 2_000 });
  t.true(found.dispatchFrom <= (world.log.records[12]?.position ?? 0));
  t.true(found.warnings.some((warning) => warning.includes('lack messages')));
});

test('recovery: missing queue folders are made again', (t) => {
  const world = new World().fill(100);
  world.dispatch();
  world.files.remove('/store/consumequeue/T1');
  t.is(world.recover(t).dispatchFrom, world.log.records[1]?.position ?? -1);
  world.files.remove('/store/consumequeue');
  t.is(world.recover(t).dispatchFrom, 0);
});

test('recovery: the last queue file is missing', (t) => {
  const world = new World().fill(200);
  world.dispatch();
  const folder = '/store/consumequeue/T1/1';
  const last = world.files.list(folder).at(-1);
  world.files.remove(`${folder}/${last}`);
  world.recover(t, { verifySizeBytes: 2_000 });
});

test('recovery: after an unclean stop holes in queues are filled, however sound their ends', (t) => {
  const world = new World().fill(150);
  world.dispatch();
  markRunning(world.files, '/store', 1);
  const fd = world.files.open(`/store/consumequeue/T0/0/${segmentName(CQ_SIZE)}`, 'write');
  world.files.write(fd, new Uint8Array(3 * UNIT_SIZE), 0, 3 * UNIT_SIZE, 4 * UNIT_SIZE);
  world.files.close(fd);
  const found = world.recover(t);
  t.true(found.abnormal);
  t.is(found.dispatchFrom, 0);
});

test('recovery: the checkpoint tells where an unclean stop must be rebuilt from', (t) => {
  const world = new World().fill(300);
  world.dispatch();
  markRunning(world.files, '/store', 1);
  const checkpoint = new Checkpoint(world.files, '/store');
  checkpoint.setLogTime(1_250 + 3_000);
  checkpoint.setQueueTime(1_250 + 3_000, 0);
  checkpoint.close();
  const found = world.recover(t);
  const record = world.log.records.find(({ position }) => position === found.dispatchFrom);
  t.is(found.dispatchFrom % SEGMENT, 0);
  t.true((record?.storeTimeMs ?? 0) <= 1_250 && (record?.storeTimeMs ?? 0) > 1_200);
});

test('recovery: stale units and records behind a cut never come back', (t) => {
  const world = new World().fill(150);
  world.dispatch();
  markRunning(world.files, '/store', 1);
  const torn = world.log.records[90] ?? { position: 0, size: 0 };
  const log = world.log.files.segments;
  world.files.write(log.fdFor(torn.position), Uint8Array.from([9]), 0, 1, (torn.position % SEGMENT) + 91);
  const found = world.recover(t);
  t.is(found.positionMax, torn.position);
  t.true(found.warnings.some((warning) => warning.includes('was cut')));
  const rest = new Uint8Array(SEGMENT);
  const fd = world.files.open(`/store/commitlog/${segmentName(torn.position - (torn.position % SEGMENT))}`, 'read');
  world.files.read(fd, rest, 0, SEGMENT, 0);
  t.true(rest.subarray(torn.position % SEGMENT).every((byte) => byte === 0));
  t.is(world.files.list('/store/commitlog').at(-1), segmentName(torn.position - (torn.position % SEGMENT)));
  // The second unclean stop in a row, with a little more written.
  const more = new LogMaker(world.files, '/store/commitlog', SEGMENT, found.positionMax);
  const next = new Map(found.queues.map((queue) => [`${queue.topic}/${queue.queueId}`, queue.offsetNext]));
  world.log.records.length = 90;
  for (let i = 0; i < 5; i++) {
    more.append('T0', 0, { queueOffset: (next.get('T0/0') ?? 0) + i, storeTimeMs: 5_000 + i });
  }
  world.log.records.push(...more.records);
  t.is(world.recover(t).positionMax, more.position);
  markStopped(world.files, '/store');
  t.is(world.recover(t).dispatchFrom, more.position);
});

test('recovery: units that point at other records are cut and made again', (t) => {
  const world = new World().fill(100);
  world.dispatch();
  const queue = world.queues.get(world.keys.get('T2/1') ?? -1);
  // What Apache's broker leaves when one record was never dispatched: all later ones one place too low.
  const units = queue === undefined ? [] : unitsOf(queue);
  queue?.cutTo(8);
  for (let i = 9; i < units.length; i++) queue?.append(i - 1, units[i]?.position ?? 0, units[i]?.size ?? 0, 0);
  world.queues.flushAll();
  const found = world.recover(t, { verifySizeBytes: 2_000 });
  t.true(found.warnings.some((warning) => /point at no record.*T2 queueId=1/.test(warning)));
});

test('recovery: of a queue that was deleted and made anew only the second life counts', (t) => {
  const world = new World().fill(60);
  world.log.append('T0', 0, { queueOffset: 0 });
  world.fill(60);
  world.dispatch();
  world.recover(t);
  world.files.remove('/store/consumequeue');
  world.recover(t);
  markRunning(world.files, '/store', 1);
  world.recover(t);
});

test('recovery: a log without its first files', (t) => {
  const world = new World().fill(200);
  world.dispatch();
  for (let i = 0; i < 3; i++) world.log.files.segments.deleteFirst();
  t.is(world.recover(t).positionMin, 3 * SEGMENT);
  world.files.remove('/store/consumequeue/T1');
  world.recover(t, { verifySizeBytes: 2_000 });
  markRunning(world.files, '/store', 1);
  world.recover(t);
});

test('recovery: queues older than the log keep their next offset', (t) => {
  const world = new World();
  for (let i = 0; i < 5; i++) world.log.append('Old', 0);
  world.fill(100);
  world.dispatch();
  world.log.files.segments.deleteFirst();
  const found = world.recover(t);
  t.deepEqual(
    found.queues.find((queue) => queue.topic === 'Old'),
    { topic: 'Old', queueId: 0, offsetMin: 5, offsetNext: 5, from: 0 },
  );
});

test('recovery: offsets that no record has are told, and their places can be filled', (t) => {
  const world = new World();
  world.log.append('T', 0);
  world.log.append('T', 0, { queueOffset: 3 });
  const found = recoverStore(world.files, settings, silentLog);
  t.deepEqual(found.queues, [{ topic: 'T', queueId: 0, offsetMin: 0, offsetNext: 4, from: 0 }]);
  t.true(found.warnings.some((warning) => /missing in the log: topic=T queueId=0 count=2/.test(warning)));
  const queue = world.queues.open(0, 'T', 0);
  const [first, second] = world.log.records;
  queue.append(0, first?.position ?? 0, 10, 0);
  t.is(queue.append(3, second?.position ?? 0, 10, 0), 'gap');
  queue.skipTo(3);
  t.is(queue.append(3, second?.position ?? 0, 10, 0), 'appended');
  const units = new Uint8Array(4 * UNIT_SIZE);
  t.is(queue.readUnits(0, 4, units, 0), 4);
  t.deepEqual(
    [0, 1, 2, 3].map((i) => isFiller(units, i * UNIT_SIZE)),
    [false, true, true, false],
  );
});

test('recovery: an empty log with full queues is refused', (t) => {
  const world = new World().fill(10);
  world.dispatch();
  world.files.remove('/store/commitlog');
  const error = t.throws(() => recoverStore(world.files, settings, silentLog), { instanceOf: RingmqError });
  t.is(error?.code, 'store');
  t.regex(error?.message ?? '', /commit log is empty.*storePathCommitLog=\/store\/commitlog/);
  t.true(world.files.list('/store/consumequeue').length > 0);
});

test('recovery: a log of which all is lost goes on at its place', (t) => {
  const world = new World(5 * SEGMENT);
  world.log.append('T', 0);
  world.files.write(world.log.files.segments.fdFor(5 * SEGMENT), new Uint8Array(8), 0, 8, 0);
  const found = recoverStore(world.files, settings, silentLog);
  t.is(found.positionMax, 5 * SEGMENT);
  t.is(recoverStore(world.files, settings, silentLog).positionMax, 5 * SEGMENT);
});
