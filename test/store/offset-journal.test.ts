// Offsets noted between two writings of their table: found again after a kill, and only on top of the table that they belong to.
import test from 'ava';
import { silentLog } from '../../src/base/log.ts';
import { SeededRandom } from '../../src/base/random.ts';
import { MemoryFiles } from '../../src/store/files/memory-files.ts';
import { type CommittedOffset, OffsetJournal } from '../../src/store/offset-journal.ts';
import { OffsetsFile } from '../../src/store/offsets-file.ts';
import { tableBaseOf } from '../../src/store/table-journal.ts';
import { PowerCutDisk } from '../faults/power-cut-disk.ts';

const PATH = '/config/consumerOffset.journal';
const base = tableBaseOf('{"offsetTable":{}}');

function entry(offset: number, key = 't@g', queueId = 0): CommittedOffset {
  return { key, queueId, offset };
}

function sizeOf(files: MemoryFiles): number {
  return files.stat(PATH)?.sizeBytes ?? -1;
}

function patch(files: MemoryFiles, position: number, byte: number): void {
  const fd = files.open(PATH, 'write');
  files.write(fd, Uint8Array.of(byte), 0, 1, position);
  files.close(fd);
}

test('offset journal: what was appended is there for the next process, in its order', (t) => {
  const files = new MemoryFiles();
  const journal = new OffsetJournal(files, '/config');
  journal.begin(base);
  const entries = [entry(7), entry(2 ** 40, '%RETRY%g@g', 3), entry(5)];
  journal.append(entries.slice(0, 2));
  journal.append(entries.slice(2));
  t.deepEqual(new OffsetJournal(files, '/config').load(base), entries);
});

test('offset journal: another table makes it void, and the next entries begin anew', (t) => {
  const files = new MemoryFiles();
  const journal = new OffsetJournal(files, '/config');
  journal.begin(base);
  journal.append([entry(1), entry(2)]);
  const later = tableBaseOf('{"offsetTable":{"t@g":{0:2}}}');
  t.deepEqual(new OffsetJournal(files, '/config').load(later), []);
  journal.begin(later);
  journal.append([entry(3)]);
  t.deepEqual(new OffsetJournal(files, '/config').load(later), [entry(3)]);
  t.deepEqual(new OffsetJournal(files, '/config').load(base), []);
});

test('offset journal: it ends at the first entry that is torn, and old ones behind that never come back', (t) => {
  const files = new MemoryFiles();
  const first = new OffsetJournal(files, '/config');
  first.begin(base);
  first.append([entry(1)]);
  const end = sizeOf(files);
  first.append([entry(2)]);
  first.append([entry(3)]);
  patch(files, end + 12, 0xff);
  const second = new OffsetJournal(files, '/config');
  t.deepEqual(second.load(base), [entry(1)]);
  second.append([entry(9)]);
  t.deepEqual(new OffsetJournal(files, '/config').load(base), [entry(1), entry(9)]);
});

test('offset journal: entries of an earlier base do not count behind a head that was written alone', (t) => {
  const files = new MemoryFiles();
  const journal = new OffsetJournal(files, '/config');
  journal.begin(base);
  journal.append([entry(1), entry(2)]);
  const later = tableBaseOf('later');
  const other = new MemoryFiles();
  const made = new OffsetJournal(other, '/config');
  made.begin(later);
  made.append([entry(5)]);
  const head = new Uint8Array(16);
  const from = other.open(PATH, 'read');
  other.read(from, head, 0, 16, 0);
  const to = files.open(PATH, 'write');
  files.write(to, head, 0, 16, 0);
  t.deepEqual(new OffsetJournal(files, '/config').load(later), []);
});

test('offset journal: what a start after a kill has found stays through a power cut', (t) => {
  for (let seed = 1; seed <= 50; seed++) {
    const disk = new PowerCutDisk();
    disk.makeFolder('/config');
    disk.syncTree('/');
    const journal = new OffsetJournal(disk, '/config');
    journal.begin(base);
    journal.append([entry(7), entry(8)]);
    disk.endProcess();
    t.deepEqual(new OffsetJournal(disk, '/config').load(base), [entry(7), entry(8)]);
    disk.cutPower(new SeededRandom(seed), seed % 2 === 0 ? 'journal' : 'folders');
    t.deepEqual(new OffsetJournal(disk, '/config').load(base), [entry(7), entry(8)], `seed ${seed}`);
  }
});

test('offsets file: a kill between two writings of the table loses no committed offset', (t) => {
  const files = new MemoryFiles();
  const file = new OffsetsFile(files, '/config', silentLog);
  t.is(file.load(), null);
  file.note([entry(4)]);
  t.is(new OffsetsFile(files, '/config', silentLog).load()?.rows.get('t@g')?.get(0), 4);
  file.save({ dataVersion: null, rows: new Map([['t@g', new Map([[0, 4]])]]) });
  file.note([entry(6), entry(1, 'u@g', 2)]);
  const rows = new OffsetsFile(files, '/config', silentLog).load()?.rows;
  t.is(rows?.get('t@g')?.get(0), 6);
  t.is(rows?.get('u@g')?.get(2), 1);
});
