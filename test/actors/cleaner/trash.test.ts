// Deleting a large file: out of its folder at once, cut in small steps, gone in the end, whatever fails in between.
import test from 'ava';
import { Trash } from '../../../src/actors/cleaner/trash.ts';
import { FakeClock } from '../../../src/base/clock.ts';
import { silentLog } from '../../../src/base/log.ts';
import { MemoryFiles } from '../../../src/store/files/memory-files.ts';
import { fileError } from '../../../src/store/files/node-files.ts';

const MIB = 1024 * 1024;
const NAME = '00000000000000000000';

class WatchedFiles extends MemoryFiles {
  readonly calls: string[] = [];
  failsAt = '';

  override rename(from: string, to: string): void {
    this.#note('rename', from);
    super.rename(from, to);
  }

  override truncate(fd: number, sizeBytes: number): void {
    this.#note('truncate', String(sizeBytes / MIB));
    super.truncate(fd, sizeBytes);
  }

  override syncFolder(path: string): void {
    this.#note('sync', path);
    super.syncFolder(path);
  }

  override remove(path: string): void {
    this.#note('remove', path);
    super.remove(path);
  }

  #note(call: string, of: string): void {
    this.calls.push(`${call} ${of}`);
    if (this.failsAt === call) throw fileError(call, of, 'EXDEV');
  }
}

function make(files: MemoryFiles, sizeMib: number): void {
  files.makeFolder('/store/commitlog');
  const fd = files.open(`/store/commitlog/${NAME}`, 'create');
  files.truncate(fd, sizeMib * MIB);
  files.close(fd);
}

function newTrash(files: MemoryFiles): Trash {
  return new Trash(files, '/store/trash', silentLog);
}

test('trash: one small step a turn, after both folders are synced, and nothing is left (BR-57)', (t) => {
  const files = new WatchedFiles(new FakeClock());
  make(files, 100);
  files.calls.length = 0;
  const trash = newTrash(files);
  t.is(trash.nextStepMs, Number.POSITIVE_INFINITY);
  trash.take('/store/commitlog', NAME);
  t.deepEqual(files.list('/store/commitlog'), []);
  t.deepEqual(files.calls, [`rename /store/commitlog/${NAME}`, 'sync /store/trash', 'sync /store/commitlog']);
  let nowMs = 1_000;
  const perStep: string[][] = [];
  while (!trash.isEmpty) {
    files.calls.length = 0;
    t.true(trash.step(nowMs));
    t.false(trash.step(nowMs), 'a pause between two steps');
    perStep.push([...files.calls]);
    nowMs = trash.nextStepMs;
  }
  t.deepEqual(perStep.slice(0, 3), [['truncate 68'], ['truncate 36'], ['truncate 4']]);
  t.deepEqual(perStep[3], ['truncate 0', `remove /store/trash/${NAME}`, 'remove /store/trash']);
  t.deepEqual(files.list('/store'), ['commitlog']);
  t.is(files.openCount, 0);
});

test('trash: what one process leaves, the next one deletes', (t) => {
  const files = new WatchedFiles(new FakeClock());
  make(files, 100);
  const first = newTrash(files);
  first.take('/store/commitlog', NAME);
  first.step(0);
  first.close();
  t.is(files.openCount, 0);
  const next = newTrash(files);
  next.adopt();
  t.false(next.isEmpty);
  for (let nowMs = 0; !next.isEmpty; nowMs += 10) next.step(nowMs);
  t.deepEqual(files.list('/store'), ['commitlog']);
});

test('trash: what lies there under another name is left alone', (t) => {
  const files = new WatchedFiles(new FakeClock());
  make(files, 1);
  files.makeFolder('/store/trash');
  files.close(files.open('/store/trash/letters', 'create'));
  const trash = newTrash(files);
  trash.adopt();
  t.true(trash.isEmpty);
  trash.take('/store/commitlog', NAME);
  for (let nowMs = 0; !trash.isEmpty; nowMs += 10) trash.step(nowMs);
  t.deepEqual(files.list('/store/trash'), ['letters']);
});

test('trash: a folder on another disk is no trash: the file is removed at once', (t) => {
  const files = new WatchedFiles(new FakeClock());
  make(files, 1);
  files.failsAt = 'rename';
  const trash = newTrash(files);
  trash.take('/store/commitlog', NAME);
  t.true(trash.isEmpty);
  t.deepEqual(files.list('/store/commitlog'), []);
});

test('trash: a file that cannot be deleted is told of, and the others go on', (t) => {
  const files = new WatchedFiles(new FakeClock());
  make(files, 1);
  const trash = newTrash(files);
  trash.take('/store/commitlog', NAME);
  files.failsAt = 'truncate';
  t.true(trash.step(0));
  t.true(trash.isEmpty);
  t.is(files.openCount, 0);
  t.deepEqual(files.list('/store/trash'), [NAME], 'for the next start');
});
