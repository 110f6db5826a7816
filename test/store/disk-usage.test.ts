// How full a disk is: rounded up, of the folder that exists, and unknown where nothing sensible is told.
import test from 'ava';
import { FakeClock } from '../../src/base/clock.ts';
import { RingmqError } from '../../src/base/errors.ts';
import { usedPercent } from '../../src/store/disk-usage.ts';
import { type DiskUsage, isNoSpace } from '../../src/store/files/files.ts';
import { MemoryFiles } from '../../src/store/files/memory-files.ts';
import { fileError, NodeFiles } from '../../src/store/files/node-files.ts';

class Disk extends MemoryFiles {
  readonly asked: string[] = [];
  readonly #answer: DiskUsage | null;

  constructor(answer: DiskUsage | null) {
    super(new FakeClock());
    this.#answer = answer;
  }

  usage(path: string): DiskUsage | null {
    this.asked.push(path);
    return this.#answer;
  }
}

test('disk usage: whole percent, rounded up', (t) => {
  const percent = (usedBytes: number, freeBytes: number): number | null => usedPercent(new Disk({ usedBytes, freeBytes }), '/store');
  t.is(percent(0, 10), 0);
  t.is(percent(1, 999_999), 1);
  t.is(percent(75, 25), 75);
  t.is(percent(750_001, 249_999), 76);
  t.is(percent(5, 0), 100);
});

test('disk usage: what makes no sense is unknown, and so is a system that does not tell (BR-59)', (t) => {
  t.is(usedPercent(new Disk({ usedBytes: 0, freeBytes: 0 }), '/store'), null);
  t.is(usedPercent(new Disk({ usedBytes: -1, freeBytes: 10 }), '/store'), null);
  t.is(usedPercent(new Disk(null), '/store'), null);
  t.is(usedPercent(new MemoryFiles(), '/store'), null);
  t.is(new NodeFiles().usage('/no/such/folder'), null);
});

test('disk usage: a folder that is not made yet lies on the disk of its parent', (t) => {
  const disk = new Disk({ usedBytes: 1, freeBytes: 1 });
  disk.makeFolder('/store');
  t.is(usedPercent(disk, '/store/consumequeue'), 50);
  t.is(usedPercent(disk, '/other/folder'), 50);
  t.deepEqual(disk.asked, ['/store', '/']);
});

test('disk usage: a real disk tells its size', (t) => {
  const percent = usedPercent(new NodeFiles(), process.cwd());
  t.true(percent !== null && percent >= 0 && percent <= 100, String(percent));
});

test('disk usage: want of room is told from other failures', (t) => {
  t.true(isNoSpace(fileError('write', '/a', 'ENOSPC')));
  t.true(isNoSpace(fileError('write', '/a', 'EDQUOT')));
  t.false(isNoSpace(fileError('write', '/a', 'EIO')));
  t.false(isNoSpace(new RingmqError('store', 'x', { code: 'ENOSPC' })));
  t.false(isNoSpace(new Error('ENOSPC')));
});
