// What is noted on top of a table: the file that is made for the next table takes over only once that table is there.
import test from 'ava';
import type { Files } from '../../src/store/files/files.ts';
import { MemoryFiles } from '../../src/store/files/memory-files.ts';
import { TableJournal, tableBaseOf } from '../../src/store/table-journal.ts';
import { Failure } from '../faults/rules.ts';
import { WatchedFiles } from '../faults/watched-files.ts';

const former = tableBaseOf('former');
const next = tableBaseOf('next');

function payload(text: string): Uint8Array {
  return Buffer.from(text);
}

function journalOf(files: Files, sizeMax?: number): TableJournal {
  return new TableJournal(files, '/config', 't.journal', sizeMax);
}

function found(files: Files, base: typeof former): string[] {
  return journalOf(files)
    .load(base)
    .map((bytes) => Buffer.from(bytes).toString());
}

/** Two entries on the former table, and one prepared for the next. */
function prepared(files: Files): TableJournal {
  const journal = journalOf(files);
  journal.begin(former);
  journal.append([payload('a'), payload('b')]);
  journal.prepare(next, [payload('kept')]);
  return journal;
}

test('table journal: whichever table a kill leaves, one of the two files belongs to it', (t) => {
  for (const base of [former, next]) {
    const files = new MemoryFiles();
    prepared(files);
    t.deepEqual(found(files, base), base === former ? ['a', 'b'] : ['kept']);
  }
});

test('table journal: what was prepared for another table than the one that is written is none of it', (t) => {
  const files = new MemoryFiles();
  const journal = prepared(files);
  const third = tableBaseOf('third');
  journal.begin(third);
  t.deepEqual(found(files, third), []);
  journal.append([payload('c')]);
  t.deepEqual(found(files, third), ['c']);
  journal.close();
  t.is(files.openCount, 0);
});

test('table journal: once the next table is there, entries go behind what was prepared for it', (t) => {
  const files = new MemoryFiles();
  const journal = prepared(files);
  journal.begin(next);
  journal.append([payload('c')]);
  t.deepEqual(found(files, next), ['kept', 'c']);
  t.deepEqual(found(files, former), []);
  journal.close();
  t.is(files.openCount, 0);
});

test('table journal: one that a kill left prepared goes on as the journal of its table', (t) => {
  const files = new MemoryFiles();
  prepared(files);
  const journal = journalOf(files);
  journal.load(next);
  journal.append([payload('c')]);
  t.deepEqual(found(files, next), ['kept', 'c']);
});

test('table journal: a table that is never written leaves the former journal as it is', (t) => {
  const files = new MemoryFiles();
  const journal = prepared(files);
  journal.append([payload('c')]);
  t.deepEqual(found(files, former), ['a', 'b', 'c']);
  journal.prepare(next, []);
  journal.close();
  t.is(files.openCount, 0);
});

test('table journal: where nothing can be prepared the former goes on, and a written table begins anew', (t) => {
  for (const kind of ['make', 'truncate', 'write'] as const) {
    const inner = new MemoryFiles();
    const files = new WatchedFiles(inner);
    const journal = journalOf(files);
    journal.begin(former);
    journal.append([payload('a')]);
    const failure = files.watch(new Failure({ kinds: [kind], path: /\.tmp$/ }, { code: 'ENOSPC', tornSizeBytes: 3 }));
    t.throws(() => journal.prepare(next, [payload('kept')]), { message: /ENOSPC/ }, kind);
    journal.append([payload('b')]);
    t.deepEqual(found(files, former), ['a', 'b']);
    failure.isOn = false;
    journal.begin(next);
    journal.append([payload('c')]);
    t.deepEqual(found(files, next), ['c']);
    journal.close();
    t.is(inner.openCount, 0, kind);
  }
});

test('table journal: zeros that a power cut left are no entries, whatever the base', (t) => {
  const files = new MemoryFiles();
  const none = { sizeBytes: 0, crc: 0 };
  const journal = journalOf(files);
  journal.begin(none);
  journal.append([payload('a')]);
  const fd = files.open('/config/t.journal', 'write');
  files.truncate(fd, 4_096);
  files.close(fd);
  t.deepEqual(found(files, none), ['a']);
});

test('table journal: it says when it should be begun anew', (t) => {
  const journal = journalOf(new MemoryFiles(), 64);
  journal.begin(former);
  while (!journal.isFull) journal.append([payload('12345678')]);
  journal.prepare(former, [payload('all')]);
  journal.begin(former);
  t.false(journal.isFull);
});
