// A row of segments: the check at load, growth, expiry at the front, the cut at the end, and bounded descriptors.
import test, { type ExecutionContext } from 'ava';
import { RingmqError } from '../../src/base/errors.ts';
import { SeededRandom } from '../../src/base/random.ts';
import { MemoryFiles } from '../../src/store/files/memory-files.ts';
import { segmentName } from '../../src/store/segment-row.ts';
import { Segments } from '../../src/store/segments.ts';
import { PowerCutDisk } from '../faults/power-cut-disk.ts';

const SIZE = 1_000;

function make(files: MemoryFiles, name: string, sizeBytes: number): void {
  files.makeFolder('/log');
  const fd = files.open(`/log/${name}`, 'create');
  files.truncate(fd, sizeBytes);
  files.close(fd);
}

function refused(t: ExecutionContext, files: MemoryFiles, says: RegExp): void {
  const error = t.throws(() => Segments.load(files, '/log', SIZE, 'theSetting'), { instanceOf: RingmqError });
  t.is(error?.code, 'store');
  t.regex(error?.message ?? '', says);
}

test('segments: a missing folder is an empty row', (t) => {
  const row = Segments.load(new MemoryFiles(), '/log', SIZE, 's');
  t.is(row.count, 0);
  t.is(row.positionMin, 0);
  t.is(row.positionEnd, 0);
  t.is(row.fdFor(0), -1);
});

test('segments: a wrong size names file, size seen, size allowed and setting', (t) => {
  const files = new MemoryFiles();
  make(files, segmentName(0), 999);
  refused(t, files, /path=\/log\/0{20} sizeBytes=999 sizeBytesAllowed=1000 setting=theSetting$/);
});

test('segments: a stray file, a position off the grid and a gap are refused', (t) => {
  const stray = new MemoryFiles();
  make(stray, segmentName(0), SIZE);
  make(stray, 'README', SIZE);
  refused(t, stray, /no part of the store.*path=\/log\/README/);
  const shifted = new MemoryFiles();
  make(shifted, segmentName(500), SIZE);
  refused(t, shifted, /size/);
  const gap = new MemoryFiles();
  make(gap, segmentName(0), SIZE);
  make(gap, segmentName(2_000), SIZE);
  refused(t, gap, /missing=00000000000000001000/);
});

test('segments: two empty files at the end go, as files are made ahead of need', (t) => {
  const files = new MemoryFiles();
  files.makeFolder('/log');
  for (const name of ['0', '100', '200']) {
    const fd = files.open(`/log/${name.padStart(20, '0')}`, 'create');
    if (name === '0') files.truncate(fd, 100);
    files.close(fd);
  }
  t.is(Segments.load(files, '/log', 100, 'size').count, 1);
  t.deepEqual(files.list('/log'), ['0'.repeat(20)]);
});

test('segments: an empty last file goes, an empty one elsewhere is refused, folders are passed by', (t) => {
  const files = new MemoryFiles();
  make(files, segmentName(3_000), SIZE);
  make(files, segmentName(4_000), 0);
  files.makeFolder('/log/folder');
  refused(t, files, /sizeBytes=0/);
  files.remove('/log/folder');
  const row = Segments.load(files, '/log', SIZE, 's');
  t.is(row.positionMin, 3_000);
  t.is(row.positionEnd, 4_000);
  t.deepEqual(files.list('/log'), [segmentName(3_000)]);
});

test('segments: the row grows at its end and shrinks at its front', (t) => {
  const files = new MemoryFiles();
  const row = Segments.load(files, '/log', SIZE, 's');
  row.extendTo(5_200);
  row.extendTo(7_999);
  t.is(row.positionMin, 5_000);
  t.is(row.positionEnd, 8_000);
  t.is(files.stat(row.path(6_001))?.sizeBytes, SIZE);
  t.true(row.fdFor(5_000) > 0);
  row.deleteFirst();
  t.is(row.positionMin, 6_000);
  t.is(row.fdFor(5_999), -1);
  t.deepEqual(files.list('/log'), [segmentName(6_000), segmentName(7_000)]);
  row.close();
  t.is(files.openCount, 0);
});

test('segments: a cut zeroes its own file and removes later ones', (t) => {
  const files = new MemoryFiles();
  const row = Segments.load(files, '/log', SIZE, 's');
  row.extendTo(0);
  row.extendTo(2_500);
  for (const position of [0, 1_000, 2_000]) files.write(row.fdFor(position), new Uint8Array(900).fill(7), 0, 900, 0);
  t.is(row.cut(1_400), 500);
  t.is(row.positionEnd, 2_000);
  const back = new Uint8Array(SIZE);
  files.read(row.fdFor(1_000), back, 0, SIZE, 0);
  t.true(back.every((byte, i) => byte === (i < 400 ? 7 : 0)));
  t.is(row.cut(1_400), 0);
  t.is(row.cut(1_000), 0);
  t.deepEqual(files.list('/log'), [segmentName(0)]);
});

test('segments: few descriptors stay open, however many files are visited', (t) => {
  const files = new MemoryFiles();
  const row = Segments.load(files, '/log', SIZE, 's', 3);
  row.extendTo(0);
  row.extendTo(9_999);
  for (let i = 0; i < 40; i++) {
    const fd = row.fdFor((i * 7 * SIZE) % 10_000);
    files.write(fd, Uint8Array.from([(i * 7) % 10]), 0, 1, 0);
    t.true(row.openCount <= 3);
  }
  const back = new Uint8Array(1);
  for (let i = 0; i < 10; i++) {
    files.read(row.fdFor(i * SIZE), back, 0, 1, 0);
    t.is(back[0], i);
  }
});

test('segments: a second thread follows what the first has made', (t) => {
  const files = new MemoryFiles();
  const writer = Segments.load(files, '/log', SIZE, 's');
  writer.extendTo(0);
  const flusher = Segments.load(files, '/log', SIZE, 's');
  writer.extendTo(2_999);
  t.is(flusher.fdFor(2_000), -1);
  flusher.follow(3_000);
  t.true(flusher.fdFor(2_000) > 0);
  flusher.sync(0, 2_500);
});

test('segments: files that another thread took are forgotten with their descriptors, the last one stays', (t) => {
  const files = new MemoryFiles();
  for (const start of [0, 1_000, 2_000]) make(files, segmentName(start), SIZE);
  const row = Segments.load(files, '/log', SIZE, 's');
  for (const position of [0, 1_000, 2_000]) t.true(row.fdFor(position) >= 0);
  row.forgetBelow(1_999);
  t.is(row.positionMin, 1_000);
  t.is(row.openCount, 2);
  t.is(row.fdFor(999), -1);
  row.forgetBelow(9_999);
  t.is(row.positionMin, 2_000);
  t.is(row.positionEnd, 3_000);
  t.is(row.openCount, 1);
  t.true(row.fdFor(2_500) >= 0);
});

test('segments: an empty row that grew outlives a power cut, and a row that is cut to nothing keeps its place', (t) => {
  for (let seed = 1; seed <= 40; seed++) {
    const disk = new PowerCutDisk();
    disk.makeFolder('/log');
    disk.syncTree('/');
    Segments.load(disk, '/log', SIZE, 's').createNext();
    disk.cutPower(new SeededRandom(seed), seed % 2 === 0 ? 'journal' : 'folders');
    const row = Segments.load(disk, '/log', SIZE, 's');
    t.deepEqual([row.count, disk.stat(row.path(0))?.sizeBytes], [1, SIZE], `seed ${seed}`);
    row.createNext();
    row.cut(0);
    t.deepEqual(disk.list('/log'), [segmentName(0)]);
  }
});
