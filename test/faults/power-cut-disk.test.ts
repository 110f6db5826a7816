// The disk that loses power: synced bytes and names stay, all else may go, and nothing comes up that was never written.
import test from 'ava';
import { RingmqError } from '../../src/base/errors.ts';
import { SeededRandom } from '../../src/base/random.ts';
import { type CutOrder, PowerCutDisk } from './power-cut-disk.ts';

const SIZE = 4 * 512;

function write(disk: PowerCutDisk, path: string, letter: number, position = 0, size = SIZE): number {
  const fd = disk.open(path, 'create');
  disk.write(fd, new Uint8Array(size).fill(letter), 0, size, position);
  return fd;
}

function bytesOf(disk: PowerCutDisk, path: string): Uint8Array {
  const bytes = new Uint8Array(disk.stat(path)?.sizeBytes ?? 0);
  const fd = disk.open(path, 'read');
  disk.read(fd, bytes, 0, bytes.length, 0);
  disk.close(fd);
  return bytes;
}

/** What is found after the cut, as a text, for many seeds. */
function outcomes(order: CutOrder, build: (disk: PowerCutDisk) => void, look: (disk: PowerCutDisk) => string): Set<string> {
  const found = new Set<string>();
  for (let seed = 1; seed <= 300; seed++) {
    const disk = new PowerCutDisk();
    build(disk);
    disk.cutPower(new SeededRandom(seed), order);
    found.add(look(disk));
  }
  return found;
}

test('power cut disk: what is synced stays, in a folder that is synced', (t) => {
  for (const order of ['journal', 'folders'] as const) {
    const found = outcomes(
      order,
      (disk) => {
        disk.makeFolder('/a/b');
        disk.syncFolder('/');
        disk.syncFolder('/a');
        disk.sync(write(disk, '/a/b/f', 7));
        disk.syncFolder('/a/b');
      },
      (disk) => `${disk.stat('/a/b/f')?.sizeBytes} ${bytesOf(disk, '/a/b/f').every((byte) => byte === 7)}`,
    );
    t.deepEqual([...found], [`${SIZE} true`]);
  }
});

test('power cut disk: without a sync bytes go sector by sector, sizes and names by the journal', (t) => {
  const found = outcomes(
    'journal',
    (disk) => {
      disk.makeFolder('/a');
      disk.syncFolder('/');
      write(disk, '/a/f', 7);
    },
    (disk) => {
      if (disk.stat('/a/f') === null) return 'gone';
      const bytes = bytesOf(disk, '/a/f');
      return Array.from({ length: bytes.length / 512 }, (_, i) => new Set(bytes.subarray(i * 512, i * 512 + 512)))
        .map((values) => (values.size === 1 ? [...values].join() : 'torn'))
        .join(' ');
    },
  );
  t.true(found.has('gone') && found.has('') && found.has('7 7 7 7') && found.has('0 0 0 0') && found.has('0 7 0 7'), [...found].join('; '));
  t.false([...found].some((text) => text.includes('torn')));
});

test('power cut disk: written over, a sector holds one of its versions', (t) => {
  const found = outcomes(
    'journal',
    (disk) => {
      const fd = write(disk, '/f', 1, 0, 512);
      disk.sync(fd);
      disk.syncFolder('/');
      for (const letter of [2, 3]) disk.write(fd, new Uint8Array(512).fill(letter), 0, 512, 0);
    },
    (disk) => [...new Set(bytesOf(disk, '/f'))].join(),
  );
  t.deepEqual([...found].sort(), ['1', '2', '3']);
});

test('power cut disk: a rename is whole or not at all, and the journal keeps the order', (t) => {
  const build = (disk: PowerCutDisk): void => {
    disk.makeFolder('/a');
    disk.sync(write(disk, '/a/old', 1, 0, 1));
    disk.sync(write(disk, '/a/new', 2, 0, 1));
    disk.syncFolder('/');
    disk.syncFolder('/a');
    disk.rename('/a/old', '/a/kept');
    disk.rename('/a/new', '/a/old');
  };
  const look = (disk: PowerCutDisk): string =>
    disk
      .list('/a')
      .map((name) => `${name}=${bytesOf(disk, `/a/${name}`)[0]}`)
      .join();
  for (const order of ['journal', 'folders'] as const) {
    t.deepEqual([...outcomes(order, build, look)].sort(), ['kept=1,new=2', 'kept=1,old=2', 'new=2,old=1']);
  }
});

test('power cut disk: between folders that are not synced, order holds by the journal only', (t) => {
  const build = (disk: PowerCutDisk): void => {
    disk.makeFolder('/a');
    disk.makeFolder('/b');
    disk.syncFolder('/');
    disk.close(disk.open('/a/first', 'create'));
    disk.close(disk.open('/b/second', 'create'));
  };
  const look = (disk: PowerCutDisk): string => [...disk.list('/a'), ...disk.list('/b')].join();
  t.deepEqual([...outcomes('journal', build, look)].sort(), ['', 'first', 'first,second']);
  t.deepEqual([...outcomes('folders', build, look)].sort(), ['', 'first', 'first,second', 'second']);
});

test('power cut disk: a removed folder may come back in part, a killed process changes nothing', (t) => {
  const build = (disk: PowerCutDisk): void => {
    disk.makeFolder('/a/b');
    for (const name of ['f', 'g']) disk.sync(write(disk, `/a/b/${name}`, 1, 0, 1));
    disk.syncTree('/');
    disk.remove('/a');
  };
  t.deepEqual([...outcomes('journal', build, (disk) => disk.list('/a/b').join())].sort(), ['', 'f,g', 'g']);
  const disk = new PowerCutDisk();
  disk.makeFolder('/a');
  const fd = write(disk, '/a/f', 7);
  disk.endProcess();
  t.is(disk.openCount, 0);
  t.throws(() => disk.sync(fd), { instanceOf: RingmqError });
  t.is(bytesOf(disk, '/a/f').length, SIZE);
  disk.cutPower(new SeededRandom(1), 'folders');
  for (let seed = 1; disk.stat('/a') !== null && seed < 100; seed++) disk.cutPower(new SeededRandom(seed));
  t.notThrows(() => disk.list('/a'));
});
