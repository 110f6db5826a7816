// Index files: the golden ones are read key by key and written byte by byte; queries equal a slow search.
import { readFileSync } from 'node:fs';
import test from 'ava';
import fc from 'fast-check';
import { RingmqError } from '../../src/base/errors.ts';
import { MemoryFiles } from '../../src/store/files/memory-files.ts';
import { NodeFiles } from '../../src/store/files/node-files.ts';
import { indexFileSize } from '../../src/store/index-file.ts';
import { IndexFiles, indexHash } from '../../src/store/index-files.ts';
import { type GoldenRecord, goldenStores, readGoldenRecords } from '../message/golden-store.ts';
import { goldenSizes, unpackGoldenStore } from './golden.ts';

const SLOTS = 7;
const ENTRIES = 20;

function keysOf(record: GoldenRecord): string[] {
  if ((record.sysFlag & 0xc) === 0xc) return [];
  const { UNIQ_KEY: unique, KEYS: keys, TAGS: tags } = record.properties;
  const found = unique === undefined ? [] : [unique];
  for (const key of keys?.split(' ') ?? []) if (key !== '') found.push(key);
  if (tags !== undefined) found.push(`T#${tags}`);
  return found.map((key) => `${record.topic}#${key}`);
}

function bytesOf(files: MemoryFiles, path: string): Buffer {
  const bytes = Buffer.alloc(files.stat(path)?.sizeBytes ?? 0);
  const fd = files.open(path, 'read');
  files.read(fd, bytes, 0, bytes.length, 0);
  files.close(fd);
  return bytes;
}

for (const name of ['clean', 'crash', 'plain-crash', 'exotic']) {
  test(`index: every key of the golden store ${name} is found`, (t) => {
    const stores = goldenStores(t);
    if (stores === null) return;
    const root = unpackGoldenStore(t, stores, name);
    const index = IndexFiles.open(new NodeFiles(), `${root}/index`, goldenSizes.maxHashSlotNum, goldenSizes.maxIndexNum);
    let missing = 0;
    for (const record of readGoldenRecords(stores, name)) {
      if (record.physicalOffset > index.newestPosition) continue;
      const timeMs = record.storeTimestamp;
      for (const key of keysOf(record)) if (!index.query(key, 1_000, timeMs, timeMs).includes(record.physicalOffset)) missing++;
    }
    t.is(missing, 0);
    t.deepEqual(index.query('GoldA#no such key', 64, 0, Number.MAX_SAFE_INTEGER), []);
    index.close();
  });
}

test('index: files written from the golden records are the golden files, but for what the first entry counts from', (t) => {
  const stores = goldenStores(t);
  if (stores === null) return;
  const folder = `${unpackGoldenStore(t, stores, 'clean')}/index`;
  const files = new MemoryFiles();
  const index = IndexFiles.open(files, '/index', goldenSizes.maxHashSlotNum, goldenSizes.maxIndexNum);
  for (const record of readGoldenRecords(stores, 'clean'))
    for (const key of keysOf(record)) index.insert(key, record.physicalOffset, record.storeTimestamp);
  index.close();
  t.is(files.openCount, 0);
  const names = new NodeFiles().list(folder);
  const ours = files.list('/index');
  t.is(ours.length, names.length);
  const firstSeconds = 40 + goldenSizes.maxHashSlotNum * 4 + 20 + 12;
  names.forEach((name, i) => {
    const expected = readFileSync(`${folder}/${name}`);
    expected.writeInt32BE(0, firstSeconds);
    t.is(Buffer.compare(bytesOf(files, `/index/${ours[i]}`), expected), 0, name);
  });
});

test('index: hashes are those of Java, without a sign', (t) => {
  t.is(indexHash('topic#key'), 0x7fff_ffff & indexHash('topic#key'));
  // A text whose hash is -2^31, which has no positive counterpart.
  t.is(indexHash('polygenelubricants'), 0);
  t.is(indexHash('TagA'), 2_598_919);
});

test('index: a record that is followed again gets no second entries', (t) => {
  const files = new MemoryFiles();
  const first = IndexFiles.open(files, '/index', SLOTS, ENTRIES);
  first.insert('T#a', 100, 1_000);
  first.insert('T#b', 100, 1_000);
  first.insert('T#a', 200, 2_000);
  first.close();
  const bytes = bytesOf(files, `/index/${files.list('/index')[0]}`);
  const again = IndexFiles.open(files, '/index', SLOTS, ENTRIES);
  t.is(again.newestPosition, 200);
  t.is(again.newestTimeMs, 2_000);
  again.insert('T#a', 100, 1_000);
  again.insert('T#a', 200, 2_000);
  again.close();
  t.deepEqual(bytesOf(files, `/index/${files.list('/index')[0]}`), bytes);
  again.insert('T#a', 300, 3_000);
  t.deepEqual(again.query('T#a', 64, 0, 10_000), [100, 200, 300]);
  t.deepEqual(again.query('T#a', 2, 0, 10_000), [200, 300]);
});

test('index: keys of one record on both sides of a file’s end are all there after an unclean stop', (t) => {
  const files = new MemoryFiles();
  const first = IndexFiles.open(files, '/index', SLOTS, ENTRIES);
  for (let i = 1; i < ENTRIES - 1; i++) first.insert(`T#${i}`, i, i * 1_000);
  for (const key of ['x', 'y', 'z']) first.insert(`T#${key}`, 500, 50_000);
  t.is(first.fileCount, 2);
  t.is(first.syncedTimeMs, 50_000);
  first.flush();
  const again = IndexFiles.open(files, '/index', SLOTS, ENTRIES, { abnormal: true, syncedTimeMs: 50_000 });
  t.is(again.fileCount, 1);
  t.is(again.newestPosition, 500);
  for (const key of ['x', 'y', 'z']) again.insert(`T#${key}`, 500, 50_000);
  for (const key of ['x', 'y', 'z']) t.deepEqual(again.query(`T#${key}`, 64, 0, 100_000), [500]);
  const lost = IndexFiles.open(files, '/index', SLOTS, ENTRIES, { abnormal: true, syncedTimeMs: 49_999 });
  t.is(lost.fileCount, 0);
  t.deepEqual(files.list('/index'), []);
});

test('index: files that know more than the log are deleted, those older than the log expire', (t) => {
  const files = new MemoryFiles();
  const index = IndexFiles.open(files, '/index', SLOTS, ENTRIES);
  for (let i = 0; i < 100; i++) index.insert(`T#${i}`, i * 10, 1_000 + i);
  index.close();
  t.is(index.fileCount, 6);
  index.deleteExpired(370);
  t.is(index.fileCount, 5);
  index.deleteExpired(371);
  t.is(index.fileCount, 4);
  index.deleteExpired(10_000);
  t.is(index.fileCount, 1);
  t.deepEqual(index.query('T#98', 64, 0, 10_000), [980]);
  const short = IndexFiles.open(files, '/index', SLOTS, ENTRIES, { logPositionMax: 990 });
  t.is(short.fileCount, 0);
});

test('index: a wrong size is refused, a stray name is passed by', (t) => {
  const files = new MemoryFiles();
  files.makeFolder('/index');
  files.close(files.open('/index/README', 'create'));
  IndexFiles.open(files, '/index', SLOTS, ENTRIES).insert('T#a', 1, 1_000);
  const error = t.throws(() => IndexFiles.open(files, '/index', SLOTS + 1, ENTRIES), { instanceOf: RingmqError });
  t.regex(error?.message ?? '', /sizeBytes=468 sizeBytesAllowed=472 setting=maxHashSlotNum, maxIndexNum$/);
  t.is(indexFileSize({ slotCount: 5_000_000, entryCount: 20_000_000 }), 420_000_040);
});

test('index: names follow each other although the clock does not', (t) => {
  const files = new MemoryFiles();
  const index = IndexFiles.open(files, '/index', SLOTS, 3);
  for (let i = 0; i < 9; i++) index.insert(`T#${i}`, i, 1_700_000_000_000 - i * 1_000);
  const names = files.list('/index');
  t.is(names.length, 5);
  for (const name of names) t.regex(name, /^20\d{15}$/);
  t.deepEqual(index.query('T#8', 64, 0, 2_000_000_000_000), [8]);
});

test('index: a query finds what a slow search finds, to the second', (t) => {
  const insertion = fc.record({ key: fc.nat(12), records: fc.integer({ min: 0, max: 2 }), laterMs: fc.nat(2_500) });
  fc.assert(
    fc.property(
      fc.array(insertion, { maxLength: 120 }),
      fc.nat(12),
      fc.nat(200_000),
      fc.nat(60_000),
      (insertions, asked, beginMs, lengthMs) => {
        const files = new MemoryFiles();
        let index = IndexFiles.open(files, '/index', SLOTS, ENTRIES);
        const all: { key: number; position: number; timeMs: number }[] = [];
        let timeMs = 1_000;
        insertions.forEach(({ key, laterMs }, i) => {
          timeMs += laterMs;
          index.insert(`T#${key}`, i * 10, timeMs);
          all.push({ key, position: i * 10, timeMs });
          if (i % 37 === 36) {
            index.close();
            index = IndexFiles.open(files, '/index', SLOTS, ENTRIES);
          }
        });
        const found = index.query(`T#${asked}`, 1_000, beginMs, beginMs + lengthMs);
        const of = (slackMs: number) =>
          all.filter((row) => row.key === asked && row.timeMs >= beginMs - slackMs && row.timeMs <= beginMs + lengthMs + slackMs);
        const hashes = new Set(Array.from({ length: 13 }, (_, key) => indexHash(`T#${key}`)));
        return (
          hashes.size === 13 &&
          of(0).every((row) => found.includes(row.position)) &&
          found.every((position) => of(1_000).some((row) => row.position === position)) &&
          found.every((position, i) => i === 0 || position > (found[i - 1] as number))
        );
      },
    ),
  );
  t.pass();
});

test('index: a kill in the midst of a flush leaves what the flush before had written', (t) => {
  const files = new MemoryFiles();
  const nextEntryAt = 36;
  const keys = ['a', 'b', 'c'];
  const first = IndexFiles.open(files, '/index', SLOTS, 200);
  for (let i = 1; i <= 40; i++) first.insert(`T#${keys[i % 3]}`, i, i * 1_000);
  first.flush();
  const path = `/index/${files.list('/index')[0]}`;
  const header = bytesOf(files, path).subarray(0, 40);
  t.is(header.readInt32BE(nextEntryAt), 41);
  for (let i = 41; i <= 90; i++) first.insert(`T#${keys[i % 3]}`, i, i * 1_000);
  first.flush();
  // Entries and slots are written, the header is not.
  const fd = files.open(path, 'write');
  files.write(fd, header, 0, header.length, 0);
  files.close(fd);
  const again = IndexFiles.open(files, '/index', SLOTS, 200, { abnormal: true, written: true });
  t.is(again.newestPosition, 40);
  const found = (index: IndexFiles, key: string): number[] => index.query(`T#${key}`, 100, 0, 1_000_000);
  const wanted = (count: number, k: number): number[] => Array.from({ length: count }, (_, i) => i + 1).filter((i) => i % 3 === k);
  keys.forEach((key, k) => {
    t.deepEqual(found(again, key), wanted(40, k));
  });
  for (let i = 35; i <= 100; i++) again.insert(`T#${keys[i % 3]}`, i, i * 1_000);
  keys.forEach((key, k) => {
    t.deepEqual(found(again, key), wanted(100, k));
  });
  // Elsewhere nothing of it is trusted.
  t.is(IndexFiles.open(files, '/index', SLOTS, 200, { abnormal: true }).fileCount, 0);
});

test('index: keys of one record on both sides of a file’s end are all there after a kill', (t) => {
  const files = new MemoryFiles();
  const first = IndexFiles.open(files, '/index', SLOTS, ENTRIES);
  for (let i = 1; i < ENTRIES - 1; i++) first.insert(`T#${i}`, i, i * 1_000);
  for (const key of ['x', 'y', 'z']) first.insert(`T#${key}`, 500, 50_000);
  t.is(first.fileCount, 2);
  const again = IndexFiles.open(files, '/index', SLOTS, ENTRIES, { abnormal: true, written: true });
  t.is(again.fileCount, 2);
  t.is(again.newestPosition, 500);
  for (const key of ['x', 'y', 'z']) again.insert(`T#${key}`, 500, 50_000);
  for (const key of ['x', 'y', 'z']) t.deepEqual(again.query(`T#${key}`, 64, 0, 100_000), [500]);
});

test('index: a file whose making was cut short is none', (t) => {
  const files = new MemoryFiles();
  files.makeFolder('/index');
  files.close(files.open('/index/20260101000000000', 'create'));
  t.is(IndexFiles.open(files, '/index', SLOTS, ENTRIES).fileCount, 0);
  t.deepEqual(files.list('/index'), []);
});
