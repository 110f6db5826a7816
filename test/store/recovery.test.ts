// Recovery of made-up stores: lagging, lost, stale and torn queues, torn logs, two lives of one queue, and any crash at all.

import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { RingmqError } from '../../src/base/errors.ts';
import { silentLog } from '../../src/base/log.ts';
import { markRunning, markStopped } from '../../src/store/abort-marker.ts';
import { Checkpoint } from '../../src/store/checkpoint.ts';
import { ConsumeQueues } from '../../src/store/consume-queues.ts';
import { MemoryFiles } from '../../src/store/files/memory-files.ts';
import { isFiller, isUnit, readUnitPosition, UNIT_SIZE } from '../../src/store/queue-unit.ts';
import { type RecoveredStore, recoverStore } from '../../src/store/recovery.ts';
import { segmentName } from '../../src/store/segment-row.ts';
import { followLog, unitsOf } from './following.ts';
import { settingsOf } from './golden.ts';
import { LogMaker } from './records.ts';

const SEGMENT = 4_096;
const CQ_SIZE = 10 * UNIT_SIZE;
const settings = settingsOf('/store', { mappedFileSizeCommitLog: SEGMENT, mappedFileSizeConsumeQueue: CQ_SIZE });

class World {
  readonly files = new MemoryFiles();
  log: LogMaker;
  queues: ConsumeQueues;
  readonly keys = new Map<string, number>();
  dispatched = 0;

  constructor(position = 0) {
    this.files.makeFolder('/store');
    this.log = new LogMaker(this.files, '/store/commitlog', SEGMENT, position);
    this.queues = new ConsumeQueues(this.files, '/store/consumequeue', CQ_SIZE);
  }

  /** Dispatches the next so many records. */
  dispatch(count = Number.POSITIVE_INFINITY, flush = true): void {
    for (; count > 0 && this.dispatched < this.log.records.length; count--) {
      const record = this.log.records[this.dispatched++];
      if (record === undefined) return;
      const name = `${record.topic}/${record.queueId}`;
      let key = this.keys.get(name);
      if (key === undefined) {
        key = this.keys.size;
        this.keys.set(name, key);
        this.queues.open(key, record.topic, record.queueId);
      }
      this.queues.get(key)?.append(record.queueOffset, record.position, record.size, 0);
    }
    if (flush) this.queues.flushAll();
  }

  /** Recovers and checks that queues and log agree to the last record. */
  recover(t: ExecutionContext, more: Partial<typeof settings> = {}): RecoveredStore {
    const found = recoverStore(this.files, { ...settings, ...more }, silentLog);
    const queues = followLog(t, this.files, settings, found);
    const expected = new Map<string, { position: number; size: number; queueOffset: number }[]>();
    for (const record of this.log.records) {
      if (record.position + record.size > found.positionMax || record.position < found.positionMin) continue;
      const name = `${record.topic}/${record.queueId}`;
      // A queue that begins anew forgets its former life.
      if (record.queueOffset === 0) expected.set(name, []);
      const units = expected.get(name) ?? [];
      expected.set(name, units);
      units.push(record);
    }
    for (const [name, records] of expected) {
      const queue = queues.get(name);
      const first = records[0]?.queueOffset ?? 0;
      t.deepEqual(
        queue === undefined ? undefined : unitsOf(queue),
        records.map(({ position, size }) => ({ position, size })),
        name,
      );
      t.is(queue?.offsetMin, first, name);
      const bounds = found.queues.find((each) => `${each.topic}/${each.queueId}` === name);
      t.is(bounds?.offsetNext, first + records.length, name);
      t.is(bounds?.offsetMin, first, name);
    }
    return found;
  }

  fill(count: number): this {
    for (let i = 0; i < count; i++) this.log.append(`T${i % 3}`, i % 2, { bodySize: (i * 37) % 300 });
    return this;
  }
}

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
    { topic: 'Old', queueId: 0, offsetMin: 5, offsetNext: 5 },
  );
});

test('recovery: offsets that no record has are told, and their places can be filled', (t) => {
  const world = new World();
  world.log.append('T', 0);
  world.log.append('T', 0, { queueOffset: 3 });
  const found = recoverStore(world.files, settings, silentLog);
  t.deepEqual(found.queues, [{ topic: 'T', queueId: 0, offsetMin: 0, offsetNext: 4 }]);
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

/** The rules for handing a store over to Apache's broker. */
test('recovery: what a clean stop leaves keeps the rules of the format', (t) => {
  const world = new World().fill(237);
  world.dispatch();
  world.log.files.close(world.log.position);
  const unit = new Uint8Array(CQ_SIZE);
  const logFiles = world.files.list('/store/commitlog');
  t.is(logFiles.length, Math.ceil(world.log.position / SEGMENT));
  for (const topic of world.files.list('/store/consumequeue')) {
    for (const queueId of world.files.list(`/store/consumequeue/${topic}`)) {
      const names = world.files.list(`/store/consumequeue/${topic}/${queueId}`);
      const expected = world.log.records.filter((record) => record.topic === topic && record.queueId === Number(queueId));
      let index = 0;
      for (const name of names) {
        const fd = world.files.open(`/store/consumequeue/${topic}/${queueId}/${name}`, 'read');
        t.is(world.files.read(fd, unit, 0, CQ_SIZE, 0), CQ_SIZE);
        t.is(world.files.stat(`/store/consumequeue/${topic}/${queueId}/${name}`)?.sizeBytes, CQ_SIZE);
        t.true(isUnit(unit, 0), 'no file without a unit');
        for (let at = 0; at < CQ_SIZE; at += UNIT_SIZE) {
          if (index < expected.length) t.is(readUnitPosition(unit, at), expected[index++]?.position ?? -1);
          else t.true(unit.subarray(at, at + UNIT_SIZE).every((byte) => byte === 0));
        }
        world.files.close(fd);
      }
      t.is(index, expected.length);
    }
  }
  for (const record of world.log.records) t.true((record.position % SEGMENT) + record.size + 8 <= SEGMENT);
});

test('recovery: whatever a crash leaves, log and queues agree after it', (t) => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 120 }),
      fc.nat(120),
      fc.nat(119),
      fc.constantFrom('none', 'zero', 'flip', 'short'),
      fc.nat(3),
      fc.boolean(),
      (count, dispatched, hit, damage, lostFiles, flushed) => {
        const world = new World().fill(count);
        world.dispatch(dispatched, flushed);
        markRunning(world.files, '/store', 1);
        const record = world.log.records[hit % count];
        if (record === undefined) return;
        const fd = world.log.files.segments.fdFor(record.position);
        const at = record.position % SEGMENT;
        if (damage === 'zero') world.files.write(fd, new Uint8Array(record.size), 0, record.size, at);
        if (damage === 'flip') world.files.write(fd, Uint8Array.from([255]), 0, 1, at + record.size - 1 - (record.size > 100 ? 10 : 0));
        if (damage === 'short') world.files.write(fd, new Uint8Array(record.size - 20), 0, record.size - 20, at + 20);
        for (let i = 0; i < lostFiles; i++) {
          const folder = `/store/consumequeue/T${i}/${i % 2}`;
          const name = world.files.list(folder).at(-1);
          if (name !== undefined) world.files.remove(`${folder}/${name}`);
        }
        const found = world.recover(t);
        if (damage === 'none') t.is(found.positionMax, world.log.position);
        if (damage === 'zero') t.is(found.positionMax, record.position);
        // The next start, clean or not, changes nothing any more.
        t.is(world.recover(t).positionMax, found.positionMax);
        markStopped(world.files, '/store');
        t.is(world.recover(t).dispatchFrom, found.positionMax);
      },
    ),
    { numRuns: 150 },
  );
});
