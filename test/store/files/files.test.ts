// One contract for every `Files`: the real file system and the one in memory answer and fail alike.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { FakeClock } from '../../../src/base/clock.ts';
import { RingmqError } from '../../../src/base/errors.ts';
import type { Files } from '../../../src/store/files/files.ts';
import { MemoryFiles } from '../../../src/store/files/memory-files.ts';
import { NodeFiles } from '../../../src/store/files/node-files.ts';
import { SparseBytes } from '../../../src/store/files/sparse-bytes.ts';

const root = mkdtempSync(join(tmpdir(), 'ringmq-files-'));
test.after.always(() => rmSync(root, { recursive: true, force: true }));

let folders = 0;

/** Runs the case on both; what it returns is the folder's content, which must be alike. */
function contract(title: string, run: (t: ExecutionContext, files: Files, folder: string) => void): void {
  test(`files: ${title} (node)`, (t) => {
    const folder = join(root, String(folders++));
    const files = new NodeFiles();
    files.makeFolder(folder);
    run(t, files, folder);
  });
  test(`files: ${title} (memory)`, (t) => {
    const files = new MemoryFiles();
    files.makeFolder('/store');
    run(t, files, '/store');
  });
}

function fails(t: ExecutionContext, code: string, act: () => void): void {
  const error = t.throws(act, { instanceOf: RingmqError });
  t.is(error?.code, 'io');
  t.regex(error?.message ?? '', new RegExp(`code=${code}$`));
}

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);

contract('what is written is read back, also across pages and holes', (t, files, folder) => {
  const fd = files.open(`${folder}/a`, 'create');
  const data = new Uint8Array(10_000).map((_, i) => i % 251);
  files.write(fd, data, 100, 9_000, 5_000);
  files.write(fd, bytes(7), 0, 1, 20_000);
  const back = new Uint8Array(30_000).fill(255);
  t.is(files.read(fd, back, 10, 25_000, 0), 20_001);
  t.true(back.subarray(10, 5_010).every((byte) => byte === 0));
  t.deepEqual(back.subarray(5_010, 14_010), data.subarray(100, 9_100));
  t.is(back[20_010], 7);
  t.is(back[20_011], 255);
  t.is(files.read(fd, back, 0, 10, 30_000), 0);
  files.sync(fd);
  files.close(fd);
  t.like(files.stat(`${folder}/a`), { sizeBytes: 20_001, isDirectory: false });
});

contract('truncate extends with zeros and forgets what it cuts', (t, files, folder) => {
  const fd = files.open(`${folder}/a`, 'create');
  files.write(fd, new Uint8Array(5_000).fill(9), 0, 5_000, 0);
  files.truncate(fd, 4_500);
  files.truncate(fd, 2 ** 30);
  const back = new Uint8Array(1_000);
  t.is(files.read(fd, back, 0, 1_000, 4_000), 1_000);
  t.true(back.every((byte, i) => byte === (i < 500 ? 9 : 0)));
  t.is(files.stat(`${folder}/a`)?.sizeBytes, 2 ** 30);
  files.close(fd);
});

contract('a file that is removed or replaced lives on behind its descriptor', (t, files, folder) => {
  const fd = files.open(`${folder}/a`, 'create');
  files.write(fd, bytes(1, 2, 3), 0, 3, 0);
  const other = files.open(`${folder}/b`, 'create');
  files.write(other, bytes(4), 0, 1, 0);
  files.rename(`${folder}/b`, `${folder}/a`);
  files.remove(`${folder}/a`);
  const back = new Uint8Array(3);
  t.is(files.read(fd, back, 0, 3, 0), 3);
  t.deepEqual(back, bytes(1, 2, 3));
  t.deepEqual(files.list(folder), []);
  files.close(fd);
  files.close(other);
});

contract('folders are made with their parents, listed in order, and removed with all in them', (t, files, folder) => {
  files.makeFolder(`${folder}/x/y/z`);
  files.makeFolder(`${folder}/x/y`);
  for (const name of ['b', 'a', 'B', '10', '9']) files.close(files.open(`${folder}/x/${name}`, 'create'));
  t.deepEqual(files.list(`${folder}/x`), ['10', '9', 'B', 'a', 'b', 'y']);
  files.syncFolder(`${folder}/x`);
  t.true(files.stat(`${folder}/x/y`)?.isDirectory);
  files.rename(`${folder}/x`, `${folder}/w`);
  t.is(files.stat(`${folder}/x/y`), null);
  files.remove(`${folder}/w`);
  files.remove(`${folder}/w`);
  t.deepEqual(files.list(folder), []);
  t.deepEqual(files.list(`${folder}/none`), []);
});

contract('failures carry the path and the code of the system', (t, files, folder) => {
  fails(t, 'ENOENT', () => files.open(`${folder}/none`, 'read'));
  fails(t, 'ENOENT', () => files.open(`${folder}/none`, 'write'));
  fails(t, 'ENOENT', () => files.open(`${folder}/no/ne`, 'create'));
  fails(t, 'EISDIR', () => files.open(folder, 'write'));
  const fd = files.open(`${folder}/a`, 'create');
  files.write(fd, bytes(1), 0, 1, 0);
  files.close(fd);
  fails(t, 'ENOTDIR', () => files.open(`${folder}/a/b`, 'create'));
  fails(t, 'ENOTDIR', () => files.list(`${folder}/a`));
  fails(t, 'EEXIST', () => files.makeFolder(`${folder}/a`));
  fails(t, 'ENOTDIR', () => files.makeFolder(`${folder}/a/b/c`));
  fails(t, 'ENOENT', () => files.rename(`${folder}/none`, `${folder}/b`));
  fails(t, 'ENOENT', () => files.syncFolder(`${folder}/none`));
  t.is(files.stat(`${folder}/a/b`), null);
  const read = files.open(`${folder}/a`, 'read');
  fails(t, 'EBADF', () => files.write(read, bytes(1), 0, 1, 0));
  fails(t, 'EINVAL', () => files.truncate(read, 0));
  files.close(read);
  files.makeFolder(`${folder}/f/g`);
  fails(t, 'EISDIR', () => files.rename(`${folder}/a`, `${folder}/f`));
  fails(t, 'ENOTDIR', () => files.rename(`${folder}/f`, `${folder}/a`));
  files.makeFolder(`${folder}/h`);
  fails(t, 'ENOTEMPTY', () => files.rename(`${folder}/h`, `${folder}/f`));
  const error = t.throws(() => files.open(`${folder}/none`, 'read'));
  t.true(error?.message.includes(`path=${folder}/none`));
});

test('files: a closed descriptor is refused in memory', (t) => {
  const files = new MemoryFiles();
  const fd = files.open('/a', 'create');
  files.close(fd);
  t.is(files.openCount, 0);
  fails(t, 'EBADF', () => files.close(fd));
  fails(t, 'EBADF', () => files.sync(fd));
  fails(t, 'EBADF', () => files.read(fd, bytes(0), 0, 1, 0));
});

test('files: memory files take their time of change from the clock', (t) => {
  const clock = new FakeClock(1_000);
  const files = new MemoryFiles(clock);
  const fd = files.open('/a', 'create');
  clock.advance(5);
  files.write(fd, bytes(1), 0, 1, 0);
  clock.advance(5);
  t.is(files.stat('/a')?.mtimeMs, 1_005);
});

test('files: a huge truncate holds no memory', (t) => {
  const sparse = new SparseBytes();
  sparse.truncate(2 ** 30);
  t.is(sparse.heldBytes, 0);
  sparse.write(bytes(1), 0, 1, 2 ** 29);
  t.is(sparse.heldBytes, 4096);
  t.is(sparse.sizeBytes, 2 ** 30);
});
