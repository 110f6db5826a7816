// Consume queues: their files against the rules of the format, repeats and gaps, failed writes, expiry and cuts.

import test from 'ava';
import { UNIT_SIZE } from '../../src/store/consume-queue.ts';
import { ConsumeQueues, queueFileSize } from '../../src/store/consume-queues.ts';
import type { Files } from '../../src/store/files/files.ts';
import { MemoryFiles } from '../../src/store/files/memory-files.ts';
import { prepareQueueFile } from '../../src/store/queue-files.ts';
import { isFiller, readUnitPosition, readUnitTagsCode, writeUnit } from '../../src/store/queue-unit.ts';

const PER_FILE = 50;
const FILE_SIZE = PER_FILE * UNIT_SIZE;

function open(files: Files, key = 0): { queues: ConsumeQueues; queue: ReturnType<ConsumeQueues['open']> } {
  const queues = new ConsumeQueues(files, '/cq', FILE_SIZE, 3);
  return { queues, queue: queues.open(key, 'T', 2) };
}

function fileBytes(files: Files, name: string): Uint8Array {
  const fd = files.open(`/cq/T/2/${name}`, 'read');
  const bytes = new Uint8Array(FILE_SIZE);
  files.read(fd, bytes, 0, FILE_SIZE, 0);
  files.close(fd);
  return bytes;
}

function positions(queue: ReturnType<ConsumeQueues['open']>): number[] {
  const count = queue.offsetMax - queue.offsetMin;
  const bytes = new Uint8Array((count + 10) * UNIT_SIZE);
  const read = queue.readUnits(queue.offsetMin, count + 10, bytes, 0);
  return Array.from({ length: read }, (_, i) => readUnitPosition(bytes, i * UNIT_SIZE));
}

const F0 = '00000000000000000000';
const F1 = '00000000000000001000';

test('consume queue: nothing is in files before the flush, and no file is made before its first unit', (t) => {
  const files = new MemoryFiles();
  const { queues, queue } = open(files);
  t.is(queue.append(0, 100, 10, -5), 'appended');
  t.is(queues.dirtyCount, 1);
  t.deepEqual(files.list('/cq'), []);
  t.deepEqual(positions(queue), [100]);
  queues.flushAll();
  t.is(queues.dirtyCount, 0);
  t.is(files.stat(`/cq/T/2/${F0}`)?.sizeBytes, FILE_SIZE);
  for (let i = 1; i < PER_FILE; i++) queue.append(i, 100 + i * 10, 10, i);
  queues.flushAll();
  t.deepEqual(files.list('/cq/T/2'), [F0]);
  queue.append(PER_FILE, 1_000, 10, 0);
  queues.flushAll();
  t.deepEqual(files.list('/cq/T/2'), [F0, F1]);
  const bytes = fileBytes(files, F0);
  t.is(Buffer.from(bytes.subarray(0, UNIT_SIZE)).toString('hex'), '00000000000000640000000afffffffffffffffb');
  t.is(queues.unsyncedCount, 2);
  queues.syncAll();
  t.is(queues.unsyncedCount, 0);
});

test('consume queue: due times of delayed messages are kept exactly', (t) => {
  const { queue } = open(new MemoryFiles());
  queue.append(0, 1, 1, 1_796_031_064_462);
  const unit = new Uint8Array(UNIT_SIZE);
  queue.readUnits(0, 1, unit, 0);
  t.is(readUnitTagsCode(unit, 0), 1_796_031_064_462);
});

test('consume queue: repeats are passed by, a gap is told and changes nothing', (t) => {
  const { queue } = open(new MemoryFiles());
  for (let i = 0; i < 5; i++) queue.append(i, i * 10, 10, 0);
  t.is(queue.append(3, 30, 10, 0), 'repeated');
  t.is(queue.append(0, 0, 10, 0), 'repeated');
  t.is(queue.append(6, 60, 10, 0), 'gap');
  t.is(queue.offsetMax, 5);
  t.deepEqual(positions(queue), [0, 10, 20, 30, 40]);
});

test('consume queue: a first message behind the last one begins the queue anew', (t) => {
  const files = new MemoryFiles();
  const { queues, queue } = open(files);
  for (let i = 0; i < 120; i++) queue.append(i, i * 10, 10, 0);
  t.is(queue.append(0, 5_000, 10, 0), 'restarted');
  t.is(queue.append(1, 5_010, 10, 0), 'appended');
  t.deepEqual(positions(queue), [5_000, 5_010]);
  queues.flushAll();
  t.deepEqual(files.list('/cq/T/2'), [F0]);
  t.deepEqual(positions(open(files).queue), [5_000, 5_010]);
});

test('consume queue: one that begins late has fillers in front of it, which nobody reads', (t) => {
  const files = new MemoryFiles();
  const { queues, queue } = open(files);
  t.is(queue.append(57, 7_000, 10, 1), 'appended');
  queue.append(58, 7_010, 10, 1);
  t.is(queue.offsetMin, 57);
  queues.flushAll();
  t.deepEqual(files.list('/cq/T/2'), [F1]);
  const bytes = fileBytes(files, F1);
  t.is(Buffer.from(bytes.subarray(6 * UNIT_SIZE, 7 * UNIT_SIZE)).toString('hex'), '00000000000000007fffffff0000000000000000');
  t.false(isFiller(bytes, 7 * UNIT_SIZE));
  const again = open(files).queue;
  t.is(again.offsetMin, 57);
  t.is(again.offsetMax, 59);
  t.is(again.readUnits(56, 1, new Uint8Array(UNIT_SIZE), 0), 0);
  again.truncateTo(7_000);
  t.is(again.offsetMax, 0);
  t.deepEqual(files.list('/cq'), []);
});

test('consume queue: files that hold fillers only, or nothing, are no queue', (t) => {
  const files = new MemoryFiles();
  const { queues, queue } = open(files);
  for (let i = 0; i < PER_FILE; i++) queue.append(i, i * 10, 10, 0);
  queues.flushAll();
  const fd = files.open(`/cq/T/2/${F1}`, 'create');
  files.truncate(fd, FILE_SIZE);
  const again = open(files).queue;
  t.is(again.offsetMax, PER_FILE);
  t.deepEqual(files.list('/cq/T/2'), [F0]);
  const other = new MemoryFiles();
  const late = open(other);
  late.queue.append(3, 10, 10, 0);
  late.queues.flushAll();
  const fd2 = other.open(`/cq/T/2/${F0}`, 'write');
  other.write(fd2, new Uint8Array(UNIT_SIZE), 0, UNIT_SIZE, 3 * UNIT_SIZE);
  const empty = open(other).queue;
  t.is(empty.offsetMax, 0);
  t.deepEqual(other.list('/cq'), []);
  t.is(empty.append(4, 20, 10, 0), 'appended');
});

test('consume queue: a write that fails changes nothing and is tried again', (t) => {
  const files = new MemoryFiles();
  const { queues, queue } = open(files);
  for (let i = 0; i < 64; i++) queue.append(i, i * 10, 10, 0);
  const write = files.write.bind(files);
  files.write = () => {
    throw new Error('disk');
  };
  t.throws(() => queue.append(64, 640, 10, 0), { message: 'disk' });
  t.is(queue.offsetMax, 64);
  t.is(queues.dirtyCount, 1);
  t.deepEqual(
    positions(queue),
    Array.from({ length: 64 }, (_, i) => i * 10),
  );
  files.write = write;
  t.is(queue.append(64, 640, 10, 0), 'appended');
  queues.flushAll();
  t.is(positions(open(files).queue).length, 65);
});

test('consume queue: the min moves up with the log, whole files go, the last one stays', (t) => {
  const files = new MemoryFiles();
  const { queues, queue } = open(files);
  for (let i = 0; i < 170; i++) queue.append(i, i * 10, 10, 0);
  queues.flushAll();
  queue.correctMin(715);
  t.is(queue.offsetMin, 72);
  t.is(files.list('/cq/T/2').length, 3);
  queues.correctMin(1_000_000);
  t.is(queue.offsetMin, 170);
  t.is(queue.offsetMax, 170);
  t.is(files.list('/cq/T/2').length, 1);
  t.is(queue.append(170, 1_000_000, 10, 0), 'appended');
  queues.flushAll();
  const again = new ConsumeQueues(files, '/cq', FILE_SIZE);
  again.correctMin(1_000_000);
  t.is(again.open(7, 'T', 2).offsetMin, 170);
});

test('consume queue: a cut leaves zeros, so that old units never come back', (t) => {
  const files = new MemoryFiles();
  const { queues, queue } = open(files);
  for (let i = 0; i < 140; i++) queue.append(i, i * 10, 10, 0);
  queues.flushAll();
  queue.truncateTo(705);
  t.is(queue.offsetMax, 71);
  t.deepEqual(files.list('/cq/T/2'), [F0, F1]);
  t.true(
    fileBytes(files, F1)
      .subarray(21 * UNIT_SIZE)
      .every((byte) => byte === 0),
  );
  t.is(queue.append(71, 705, 5, 0), 'appended');
  queues.flushAll();
  t.is(positions(open(files).queue).at(-1), 705);
  queue.truncateTo(0);
  t.deepEqual(files.list('/cq'), []);
});

test('consume queue: descriptors stay bounded over many queues', (t) => {
  const files = new MemoryFiles();
  const queues = new ConsumeQueues(files, '/cq', FILE_SIZE, 5);
  for (let key = 0; key < 40; key++) queues.open(key, `T${key % 7}`, key);
  for (let i = 0; i < 60; i++) for (const [key, queue] of queues.all()) queue.append(i, i * 1_000 + key, 10, 0);
  queues.flushAll();
  t.true(queues.openFileCount <= 5);
  t.is(queues.unsyncedCount, 80);
  queues.syncAll();
  for (const [key, queue] of queues.all()) t.is(queue.positionOf(3), 3_000 + key);
  queues.remove(3);
  t.is(queues.get(3), undefined);
  t.is(files.stat('/cq/T3/3'), null);
  queues.close();
  t.is(files.openCount, 0);
});

test('consume queue: file sizes are rounded up to whole units', (t) => {
  t.is(queueFileSize(6_000_000), 6_000_000);
  t.is(queueFileSize(6_000_001), 6_000_020);
});

test('consume queue: a tail of an old broker without zeros behind it is cut by its position', (t) => {
  const files = new MemoryFiles();
  const { queues, queue } = open(files);
  for (let i = 0; i < 20; i++) queue.append(i, i * 10, 10, 0);
  queues.flushAll();
  const unit = new Uint8Array(UNIT_SIZE);
  writeUnit(unit, 0, 9_999, 10, 0);
  const fd = files.open(`/cq/T/2/${F0}`, 'write');
  files.write(fd, unit, 0, UNIT_SIZE, 20 * UNIT_SIZE);
  const again = open(files).queue;
  t.is(again.offsetMax, 21);
  again.truncateTo(200);
  t.is(again.offsetMax, 20);
});

test('consume queues: a flush of some takes those that have waited longest, and each only once', (t) => {
  const files = new MemoryFiles();
  const queues = new ConsumeQueues(files, '/cq', FILE_SIZE, 3);
  const opened = [0, 1, 2, 3, 4].map((key) => queues.open(key, 'T', key));
  for (const queue of [3, 1, 4, 0, 2]) opened[queue]?.append(0, 100 + queue, 10, 0);
  t.is(queues.flushSome(2), 3);
  t.deepEqual([...files.list('/cq/T')].sort(), ['1', '3']);
  // Written a moment ago and new again: now it is the last in the row.
  opened[3]?.append(1, 200, 10, 0);
  t.is(queues.flushSome(3), 1);
  t.deepEqual([...files.list('/cq/T')].sort(), ['0', '1', '2', '3', '4']);
  t.is(queues.flushSome(100), 0);
  t.is(queues.flushSome(100), 0);
});

test('consume queue: the min can move up alone, and expired files go one by one later', (t) => {
  const files = new MemoryFiles();
  const { queues, queue } = open(files);
  for (let i = 0; i < 170; i++) queue.append(i, i * 10, 10, 0);
  queues.flushAll();
  queue.raiseMin(1_150);
  t.is(queue.offsetMin, 115);
  t.is(queue.readUnits(114, 1, new Uint8Array(UNIT_SIZE), 0), 0);
  t.is(files.list('/cq/T/2').length, 4);
  t.true(queue.hasExpiredFile);
  queue.deleteExpiredFile();
  t.deepEqual(files.list('/cq/T/2')[0], F1);
  queue.deleteExpiredFile();
  t.false(queue.hasExpiredFile);
  t.throws(() => queue.deleteExpiredFile(), { message: /expired/ });
  t.true(queue.isBelow(115, 1_151));
  t.false(queue.isBelow(115, 1_150));
  queue.raiseMin(1_700);
  t.is(queue.offsetMin, 170);
  queue.deleteExpiredFile();
  t.false(queue.hasExpiredFile, 'the last one stays');
  t.is(queue.append(170, 1_700, 10, 0), 'appended');
  t.deepEqual(positions(queue), [1_700]);
});

test('consume queue: a queue that begins is announced once, and its file may be made by another in any order of their steps', (t) => {
  const files = new MemoryFiles();
  const begun: string[] = [];
  const queues = new ConsumeQueues(files, '/cq', FILE_SIZE, 3, false, false, (topic, queueId) => begun.push(`${topic}/${queueId}`));
  const prepare = (queueId: number): void => prepareQueueFile(files, '/cq', 'T', queueId, FILE_SIZE);
  for (const queueId of [0, 1]) {
    const queue = queues.open(queueId, 'T', queueId);
    if (queueId === 0) prepare(0);
    for (let i = 0; i < 3; i++) queue.append(i, 100 + i * 10, 10, i);
    queues.flushAll();
    prepare(queueId);
    t.is(files.stat(`/cq/T/${queueId}/${F0}`)?.sizeBytes, FILE_SIZE);
  }
  t.deepEqual(begun, ['T/0', 'T/1']);
  queues.close();
  const again = new ConsumeQueues(files, '/cq', FILE_SIZE);
  for (const queueId of [0, 1]) t.deepEqual(positions(again.open(queueId, 'T', queueId)), [100, 110, 120]);
});

test('consume queue: a file that was made ahead and never written is no queue', (t) => {
  const files = new MemoryFiles();
  prepareQueueFile(files, '/cq', 'T', 2, FILE_SIZE);
  const { queue } = open(files);
  t.is(queue.offsetMax, 0);
  t.is(queue.append(7, 100, 10, 0), 'appended');
  t.is(queue.offsetMin, 7);
});
