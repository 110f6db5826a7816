// The commit log's files: where records are placed, what the reader gives back, and how the walker steps.

import test from 'ava';
import fc from 'fast-check';
import { Arena, allocateRegions, type Region } from '../../src/base/arena.ts';
import { RecordFaults } from '../../src/message/record-check.ts';
import { readQueueOffset } from '../../src/message/record-layout.ts';
import { CommitLogFiles, placeRecord } from '../../src/store/commit-log-files.ts';
import { MemoryFiles } from '../../src/store/files/memory-files.ts';
import { LogReader } from '../../src/store/log-reader.ts';
import { LogWalker } from '../../src/store/log-walker.ts';
import { LogMaker, makeRecord } from './records.ts';

const SEGMENT = 4_096;

function filled(count: number): { files: MemoryFiles; log: LogMaker } {
  const files = new MemoryFiles();
  const log = new LogMaker(files, '/log', SEGMENT);
  for (let i = 0; i < count; i++) log.append(`T${i % 3}`, i % 2, { bodySize: (i * 37) % 700 });
  return { files, log };
}

test('commit log: a record leaves eight bytes behind it, else a blank fills the file', (t) => {
  t.is(placeRecord(0, 4_088, SEGMENT), 0);
  t.is(placeRecord(1, 4_088, SEGMENT), 4_095);
  t.is(placeRecord(SEGMENT + 4_000, 88, SEGMENT), 0);
  t.is(placeRecord(SEGMENT + 4_000, 89, SEGMENT), 96);
  t.is(placeRecord(4_085, 100, SEGMENT), 11);
  t.throws(() => placeRecord(0, 4_089, SEGMENT), { message: /fits/ });
});

test('commit log: the next file is made ahead, and goes at a clean stop', (t) => {
  const files = new MemoryFiles();
  const log = CommitLogFiles.open(files, '/log', SEGMENT);
  log.write(0, new Uint8Array(10), 0, 10);
  t.is(files.list('/log').length, 2);
  log.write(10, new Uint8Array(4_086), 0, 4_086);
  t.is(files.list('/log').length, 2);
  log.write(SEGMENT, new Uint8Array(1), 0, 1);
  t.is(files.list('/log').length, 3);
  t.is(log.fileEnd(SEGMENT), 2 * SEGMENT);
  t.throws(() => log.write(2 * SEGMENT - 1, new Uint8Array(2), 0, 2), { message: /within/ });
  log.close(SEGMENT + 1);
  t.is(files.list('/log').length, 2);
  t.is(files.openCount, 0);
});

test('commit log: a log that begins late gets its own file first', (t) => {
  const files = new MemoryFiles();
  const log = CommitLogFiles.open(files, '/log', SEGMENT);
  log.write(5 * SEGMENT, new Uint8Array(1), 0, 1);
  t.is(log.positionMin, 5 * SEGMENT);
});

test('log reader: any range reads as it was written, cached or not', (t) => {
  const { files, log } = filled(200);
  const whole = new Uint8Array(log.position);
  const plain = new LogReader(files, '/log', SEGMENT);
  for (let p = 0; p < whole.length; p += SEGMENT) t.true(plain.read(p, Math.min(SEGMENT, whole.length - p), whole, p));
  fc.assert(
    fc.property(
      fc.constantFrom(100, 512, 1_000, SEGMENT),
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.tuple(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 1_500 }), fc.nat(whole.length)), { maxLength: 40 }),
      fc.boolean(),
      (blockSizeBytes, blockCount, reads, inArena) => {
        const [memory, target] = allocateRegions([blockSizeBytes * blockCount, 2_000]) as [Region, Region];
        const options = { blockSizeBytes, blockCount, ...(inArena ? { memory } : {}) };
        const reader = new LogReader(files, '/log', SEGMENT, options);
        let stable = 0;
        for (const [position, wanted, grown] of reads) {
          stable = Math.max(stable, grown);
          reader.setStable(stable);
          const size = Math.min(wanted, SEGMENT - (position % SEGMENT), whole.length - position);
          const into = inArena ? Arena.of(target.memory).bytes : new Uint8Array(size + 6);
          const at = inArena ? target.at + 3 : 3;
          if (!reader.read(position, size, into, at)) return false;
          if (Buffer.compare(into.subarray(at, at + size), whole.subarray(position, position + size)) !== 0) return false;
        }
        reader.close();
        return true;
      },
    ),
  );
});

test('log reader: consumers that interleave share the reads of blocks', (t) => {
  const { files, log } = filled(400);
  const reader = new LogReader(files, '/log', SEGMENT, { blockSizeBytes: 1_024, blockCount: 16 });
  reader.setStable(log.position);
  const into = new Uint8Array(1_000);
  const blocks = new Set<number>();
  for (let i = 0; i + 8 <= log.records.length; i++) {
    const record = log.records[i];
    if (record === undefined) continue;
    t.true(reader.read(record.position, record.size, into, 0));
    for (let p = record.position; p < record.position + record.size; p++) blocks.add(Math.floor(p / 1_024));
  }
  // Of the first block a part is read before it is read whole.
  t.is(reader.readCount, blocks.size + 1);
});

test('log reader: of records far apart only these are read, until a block is asked for again', (t) => {
  const { files, log } = filled(400);
  const sizes: number[] = [];
  const readFile = files.read.bind(files);
  files.read = (fd, into, at, size, position) => {
    sizes.push(size);
    return readFile(fd, into, at, size, position);
  };
  const blockSizeBytes = 1_024;
  const reader = new LogReader(files, '/log', SEGMENT, { blockSizeBytes, blockCount: 4 });
  reader.setStable(log.position);
  const into = new Uint8Array(1_000);
  const read = (position: number) => {
    sizes.length = 0;
    t.true(reader.read(position, 50, into, 0));
    return [...sizes];
  };
  for (let block = 0; block < 10; block += 2) t.deepEqual(read(block * blockSizeBytes + 10), [50]);
  t.deepEqual(read(4 * blockSizeBytes + 200), [blockSizeBytes], 'asked for again: read whole');
  t.deepEqual(read(4 * blockSizeBytes + 10), [], 'held');
  t.deepEqual(read(5 * blockSizeBytes), [blockSizeBytes], 'follows one that is held');
  // So many others later it is forgotten that a block was asked for.
  for (let i = 0; i < 16; i++) t.deepEqual(read((20 + 2 * i) * blockSizeBytes), [50]);
  t.deepEqual(read(2 * blockSizeBytes), [50]);
});

test('log reader: where blocks have to go before they have served enough, only a few are read whole', (t) => {
  const { files, log } = filled(400);
  const blockSizeBytes = 1_024;
  const reader = new LogReader(files, '/log', SEGMENT, { blockSizeBytes, blockCount: 2 });
  reader.setStable(log.position);
  const into = new Uint8Array(1_000);
  let wholeCount = 0;
  const readFile = files.read.bind(files);
  files.read = (fd, bytes, at, size, position) => {
    if (size === blockSizeBytes) wholeCount++;
    return readFile(fd, bytes, at, size, position);
  };
  const readTwice = (block: number) => {
    for (const at of [10, 200]) t.true(reader.read(block * blockSizeBytes + at, 50, into, 0));
  };
  // Each is asked for twice, which has it read whole, and never again.
  for (let i = 0; i < 1_000; i++) readTwice((i * 7) % 29);
  t.true(wholeCount > 10 && wholeCount < 100, `${wholeCount} of 1000`);
  // A reader that goes through the log has its blocks again.
  wholeCount = 0;
  for (let position = 0; position < 25 * blockSizeBytes; position += 64) t.true(reader.read(position, 50, into, 0));
  for (let position = 0; position < 25 * blockSizeBytes; position += 64) t.true(reader.read(position, 50, into, 0));
  t.true(wholeCount > 25, String(wholeCount));
});

test('log reader: what grows is read through until it is stable', (t) => {
  const files = new MemoryFiles();
  const log = new LogMaker(files, '/log', SEGMENT);
  const reader = new LogReader(files, '/log', SEGMENT, { blockSizeBytes: 1_024 });
  const into = new Uint8Array(2_000);
  for (let i = 0; i < 100; i++) {
    reader.setStable(log.position);
    const position = log.append('T', 0, { bodySize: 100 + (i % 50) });
    const size = log.position - position;
    t.true(reader.read(position, size, into, 0));
    t.is(readQueueOffset(into, 0), i);
    reader.setStable(log.position);
    t.true(reader.read(position, size, into, 0));
    t.is(readQueueOffset(into, 0), i);
  }
});

test('log reader: files that are gone answer false', (t) => {
  const { files, log } = filled(60);
  const reader = new LogReader(files, '/log', SEGMENT);
  const into = new Uint8Array(100);
  t.true(reader.read(0, 100, into, 0));
  log.files.segments.deleteFirst();
  reader.setMin(SEGMENT);
  t.is(reader.openCount, 0);
  t.false(reader.read(0, 100, into, 0));
  t.false(new LogReader(files, '/log', SEGMENT).read(0, 100, into, 0));
  t.true(reader.read(SEGMENT, 100, into, 0));
  t.false(reader.read(100 * SEGMENT, 100, into, 0));
  reader.setStable(200 * SEGMENT);
  t.false(reader.read(100 * SEGMENT, 100, into, 0));
});

test('log walker: steps over blanks from file to file, with any buffer', (t) => {
  const { files, log } = filled(150);
  for (const bufferSizeBytes of [8, 100, 1_000, SEGMENT, 1_048_576]) {
    const walker = new LogWalker(files, '/log', SEGMENT, { checkCrc: true, bufferSizeBytes });
    const seen: object[] = [];
    while (walker.next(log.position))
      seen.push({ position: walker.position, size: walker.size, queueOffset: readQueueOffset(walker.bytes, walker.at) });
    t.is(walker.stop, 'end');
    t.is(walker.position, log.position);
    t.deepEqual(
      seen,
      log.records.map(({ position, size, queueOffset }) => ({ position, size, queueOffset })),
    );
  }
});

test('log walker: follows an end that moves', (t) => {
  const files = new MemoryFiles();
  const log = new LogMaker(files, '/log', SEGMENT);
  log.append('T', 0);
  const walker = new LogWalker(files, '/log', SEGMENT);
  for (let i = 0; i < 100; i++) {
    t.true(walker.next(log.position));
    t.is(readQueueOffset(walker.bytes, walker.at), i);
    t.false(walker.next(log.position));
    t.is(walker.stop, 'end');
    log.append('T', 0, { bodySize: 200 });
  }
});

test('log walker: stops at a bad body, at zeros and at a lost file', (t) => {
  const { files, log } = filled(30);
  const end = log.files.segments.positionEnd;
  const walker = new LogWalker(files, '/log', SEGMENT, { checkCrc: true });
  walker.seek(0);
  while (walker.next(end));
  t.is(walker.stop, 'fault');
  t.is(walker.fault, RecordFaults.nothing);
  t.is(walker.position, log.position);
  const bad = log.records.find((record) => record.size > 120);
  if (bad === undefined) throw new Error('a record with a body');
  files.write(log.files.segments.fdFor(bad.position), Uint8Array.from([1, 2]), 0, 2, (bad.position % SEGMENT) + 90);
  walker.seek(0);
  while (walker.next(end));
  t.is(walker.fault, RecordFaults.badBodyCrc);
  t.is(walker.position, bad.position);
  log.files.segments.deleteFirst();
  const late = new LogWalker(files, '/log', SEGMENT);
  t.false(late.next(end));
  t.is(late.stop, 'gone');
});

test('log walker: a foreign record that ends at the very end of its file hides nothing', (t) => {
  const files = new MemoryFiles();
  const log = CommitLogFiles.open(files, '/log', SEGMENT);
  const fixed = makeRecord(0, { topic: 'T', queueId: 0, queueOffset: 0, bodySize: 0 }).length;
  const end = 2 * SEGMENT - 5;
  // One record fills its file to the last byte, the next leaves 5 bytes.
  log.write(0, makeRecord(0, { topic: 'T', queueId: 0, queueOffset: 0, bodySize: SEGMENT - fixed }), 0, SEGMENT);
  log.write(SEGMENT, makeRecord(SEGMENT, { topic: 'T', queueId: 0, queueOffset: 1, bodySize: SEGMENT - fixed - 5 }), 0, SEGMENT - 5);
  log.write(2 * SEGMENT, makeRecord(2 * SEGMENT, { topic: 'T', queueId: 0, queueOffset: 2, bodySize: 0 }), 0, fixed);
  const walker = new LogWalker(files, '/log', SEGMENT);
  let count = 0;
  while (walker.next(2 * SEGMENT + fixed)) count++;
  t.is(count, 3);
  t.is(walker.stop, 'end');
  walker.seek(0);
  while (walker.next(end));
  t.is(walker.position, end);
});

test('commit log: what a failed write left is zeros again, across files, and nothing else is touched', (t) => {
  const files = new MemoryFiles();
  const log = CommitLogFiles.open(files, '/log', SEGMENT);
  log.write(0, new Uint8Array(SEGMENT).fill(1), 0, SEGMENT);
  log.write(SEGMENT, new Uint8Array(SEGMENT).fill(2), 0, SEGMENT);
  log.erase(SEGMENT - 100, SEGMENT + 50);
  log.erase(10 * SEGMENT, 11 * SEGMENT);
  const reader = new LogReader(files, '/log', SEGMENT);
  const bytes = (position: number, size: number): number[] => {
    const into = new Uint8Array(size);
    t.true(reader.read(position, size, into, 0));
    return [...new Set(into)];
  };
  t.deepEqual(bytes(0, SEGMENT - 100), [1]);
  t.deepEqual(bytes(SEGMENT - 100, 100), [0]);
  t.deepEqual(bytes(SEGMENT, 50), [0]);
  t.deepEqual(bytes(SEGMENT + 50, SEGMENT - 50), [2]);
});
