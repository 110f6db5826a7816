// The fault layer itself: operations that fail, tear, take their time, end the process, and a probe that says what it is told.
import test from 'ava';
import { FakeClock } from '../../src/base/clock.ts';
import { RingmqError } from '../../src/base/errors.ts';
import { MemoryFiles } from '../../src/store/files/memory-files.ts';
import { faultPoints, Killer, PointTally, ProcessEnded, pointOf } from './fault-points.ts';
import { Failure, Slowness, Tally } from './rules.ts';
import { WatchedFiles } from './watched-files.ts';

const LOG = '/store/commitlog/00000000000000000000';

function made(): WatchedFiles {
  const files = new WatchedFiles(new MemoryFiles());
  files.makeFolder('/store/commitlog');
  return files;
}

function write(files: WatchedFiles, path: string, size = 10): void {
  const fd = files.open(path, 'create');
  try {
    files.write(fd, new Uint8Array(size).fill(7), 0, size, 0);
    files.sync(fd);
  } finally {
    files.close(fd);
  }
}

test('watched files: the n-th operations of a kind on some paths fail with their code, all others go through', (t) => {
  const files = made();
  const failure = files.watch(new Failure({ kinds: ['write'], path: /commitlog/ }, { code: 'ENOSPC', first: 2, count: 2 }));
  const synced = files.watch(new Tally({ kinds: ['sync'] }));
  write(files, LOG);
  for (let i = 0; i < 2; i++) {
    const error = t.throws(() => write(files, LOG), { instanceOf: RingmqError });
    t.regex(error?.message ?? '', new RegExp(`path=${LOG} code=ENOSPC$`));
  }
  write(files, '/store/other');
  write(files, LOG);
  t.is(failure.seenCount, 4);
  t.is(synced.count, 3);
  t.is(files.openCountBelow('/store'), 0);
  files.unwatch(failure);
  failure.seenCount = 1;
  write(files, LOG);
});

test('watched files: a torn write leaves its first bytes', (t) => {
  const files = made();
  files.watch(new Failure({ kinds: ['write'] }, { code: 'ENOSPC', tornSizeBytes: 4 }));
  t.throws(() => write(files, LOG), { message: /ENOSPC/ });
  t.is(files.stat(LOG)?.sizeBytes, 4);
});

test('watched files: what is slow moves the clock', (t) => {
  const files = made();
  const clock = new FakeClock();
  const slowness = files.watch(new Slowness({ kinds: ['sync', 'remove'] }, clock, 5_000));
  write(files, LOG);
  t.is(clock.steadyMs(), 5_000);
  files.remove(LOG);
  t.is(clock.steadyMs(), 10_000);
  slowness.isOn = false;
  write(files, LOG);
  t.is(clock.steadyMs(), 10_000);
});

test('watched files: the probe tells figures, nothing, an error, or what the files below say', (t) => {
  const files = made();
  t.is(new WatchedFiles(files).usage('/store'), null);
  files.probe = { usedBytes: 90, freeBytes: 10 };
  t.deepEqual(new WatchedFiles(files).usage('/store'), { usedBytes: 90, freeBytes: 10 });
  files.probe = null;
  t.is(files.usage('/store'), null);
  files.probe = new Error('no such device');
  t.throws(() => files.usage('/store'), { message: 'no such device' });
});

test('fault points: every change of the disk has a name, and an unknown one is an error', (t) => {
  t.is(new Set(faultPoints).size, faultPoints.length);
  t.is(pointOf({ kind: 'write', path: LOG }), 'log: written');
  t.is(pointOf({ kind: 'rename', path: '/store/config/topics.json', to: '/store/config/topics.json.bak' }), 'topics: former one kept');
  t.is(pointOf({ kind: 'read', path: LOG }), null);
  t.throws(() => pointOf({ kind: 'write', path: '/store/surprise' }), { message: /no fault point/ });
});

test('fault points: a process ends before or after the n-th passing, and nothing reaches the disk afterwards', (t) => {
  for (const [moment, size] of [
    ['before', 0],
    ['within', 10],
    ['after', 20],
  ] as const) {
    const inner = new MemoryFiles();
    inner.makeFolder('/store/commitlog');
    const killer = new Killer('log: written', moment, 2);
    const tally = new PointTally();
    const files = new WatchedFiles(inner, killer, tally);
    write(files, LOG);
    t.throws(() => write(files, `${LOG.slice(0, -1)}1`, 20));
    t.true(killer.ended);
    t.is(inner.stat(`${LOG.slice(0, -1)}1`)?.sizeBytes, size);
    t.throws(() => files.remove(LOG), { instanceOf: ProcessEnded });
    t.throws(() => files.list('/store'), { instanceOf: ProcessEnded });
    t.is(tally.counts.get('log: written'), 1);
  }
});
