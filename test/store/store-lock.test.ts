// One process per store: a second one is refused with the first one's process id, and a dead one holds nothing.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { RingmqError } from '../../src/base/errors.ts';
import { MemoryFiles } from '../../src/store/files/memory-files.ts';
import { NodeFiles } from '../../src/store/files/node-files.ts';
import { lockStore, refuseUsedStore } from '../../src/store/store-lock.ts';

function folder(t: ExecutionContext): string {
  const path = mkdtempSync(join(tmpdir(), 'ringmq-lock-'));
  t.teardown(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

test('store lock: a second holder is refused, under any path to the folder, until the first lets go', async (t) => {
  const root = folder(t);
  const lock = await lockStore(new NodeFiles(), root);
  t.is(readFileSync(join(root, 'lock'), 'utf8'), 'lock');
  const other = join(folder(t), 'link');
  symlinkSync(root, other);
  const error = await t.throwsAsync(lockStore(new NodeFiles(), other), { instanceOf: RingmqError });
  t.is(error?.code, 'store');
  t.regex(error?.message ?? '', new RegExp(`another broker.*storePathRootDir=${other} pid=${process.pid}$`));
  await (await lockStore(new NodeFiles(), folder(t))).release();
  await lock.release();
  const again = await lockStore(new NodeFiles(), root);
  await again.release();
});

test('store lock: a process that was killed holds nothing', async (t) => {
  const root = folder(t);
  const store = new URL('../../src/store/', import.meta.url).href;
  const script = `
    const { lockStore } = await import('${store}store-lock.js');
    const { NodeFiles } = await import('${store}files/node-files.js');
    await lockStore(new NodeFiles(), ${JSON.stringify(root)});
    process.stdout.write('held');
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  const error = await t.throwsAsync(lockStore(new NodeFiles(), root));
  t.regex(error?.message ?? '', new RegExp(`pid=${child.pid}$`));
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await ended;
  await (await lockStore(new NodeFiles(), root)).release();
});

test('store lock: a lock as a JVM takes it is seen', async (t) => {
  const root = folder(t);
  const script = `
import fcntl, sys, time
f = open(sys.argv[1], 'a+')
fcntl.lockf(f, fcntl.LOCK_EX, 1, 0)
print('held', flush=True)
time.sleep(60)`;
  const child = spawn('python3', ['-c', script, join(root, 'lock')], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => child.kill('SIGKILL'));
  const held = await new Promise((resolve) => {
    child.once('error', () => resolve(false));
    child.stdout.once('data', () => resolve(true));
  });
  if (held !== true || !existsSync('/proc/locks')) {
    t.log('skipped: needs python3, which takes POSIX locks, and /proc/locks');
    t.pass();
    return;
  }
  if (!readFileSync('/proc/locks', 'utf8').includes(String(child.pid))) {
    t.log('skipped: this system does not show locks in /proc/locks');
    t.pass();
    return;
  }
  const error = await t.throwsAsync(lockStore(new NodeFiles(), root), { instanceOf: RingmqError });
  t.regex(error?.message ?? '', new RegExp(`pid=${child.pid}$`));
  const reader = await t.throwsAsync(refuseUsedStore(root), { instanceOf: RingmqError });
  t.regex(reader?.message ?? '', new RegExp(`stop it first.*pid=${child.pid}$`));
});

test('store lock: who only reads is refused while a broker runs, and holds and writes nothing', async (t) => {
  const root = folder(t);
  await refuseUsedStore(root);
  t.false(existsSync(join(root, 'lock')));
  const lock = await lockStore(new NodeFiles(), root);
  await t.throwsAsync(refuseUsedStore(root), { instanceOf: RingmqError, message: /stop it first/ });
  await lock.release();
  await refuseUsedStore(root);
});

test('store lock: a store in memory needs none', async (t) => {
  const files = new MemoryFiles();
  files.makeFolder('/no/such/folder/here');
  const locks = [await lockStore(files, '/no/such/folder/here'), await lockStore(files, '/no/such/folder/here')];
  for (const lock of locks) await lock.release();
  t.deepEqual(files.list('/no/such/folder/here'), []);
});
