// Records read for answers while retention takes their file: they are whole, or gone.
import test from 'ava';
import { type ActorContext, Positions } from '../../src/actors/context.ts';
import { RecordReader } from '../../src/actors/record-reader.ts';
import { allocateRegion } from '../../src/base/arena.ts';
import { loadSettings } from '../../src/config/load.ts';
import { Counters, countersMemorySize } from '../../src/runtime/counters.ts';
import { SharedNumbers, sharedNumbersMemorySize } from '../../src/runtime/shared-numbers.ts';
import { MemoryFiles } from '../../src/store/files/memory-files.ts';
import { segmentName } from '../../src/store/segment-row.ts';

const FILE_SIZE = 1024 * 1024;
const FOLDER = '/store/commitlog';
const SIZE = 1_000;

class HookedFiles extends MemoryFiles {
  beforeRead: () => void = () => {};
  afterRead: () => void = () => {};

  override read(fd: number, into: Uint8Array, at: number, size: number, position: number): number {
    this.beforeRead();
    const count = super.read(fd, into, at, size, position);
    this.afterRead();
    return count;
  }
}

class Rig {
  readonly files = new HookedFiles();
  readonly positions = new SharedNumbers(new SharedArrayBuffer(sharedNumbersMemorySize(32)));
  readonly reader: RecordReader;

  constructor() {
    this.files.makeFolder(FOLDER);
    for (const start of [0, FILE_SIZE]) {
      const fd = this.files.open(`${FOLDER}/${segmentName(start)}`, 'create');
      this.files.write(fd, new Uint8Array(FILE_SIZE).fill(7), 0, FILE_SIZE, 0);
      this.files.close(fd);
    }
    this.positions.set(Positions.appended, 2 * FILE_SIZE);
    const { settings } = loadSettings({ sets: ['storePathRootDir=/store', `mappedFileSizeCommitLog=${FILE_SIZE}`] });
    const context = {
      settings,
      files: this.files,
      positions: this.positions,
      counters: new Counters(new SharedArrayBuffer(countersMemorySize(1))),
      windowReader: () => ({ low: () => 0, high: () => 0, read: () => false, isIntact: () => true, copy: () => {} }),
      blocks: allocateRegion(4 * FILE_SIZE),
    };
    this.reader = new RecordReader(context as unknown as ActorContext);
  }

  /** As the cleaner does: the log's start first, then the file. */
  readonly takeFile = (sizeLeft: number): void => {
    this.files.beforeRead = this.files.afterRead = () => {};
    this.positions.set(Positions.logMin, FILE_SIZE);
    const fd = this.files.open(`${FOLDER}/${segmentName(0)}`, 'write');
    this.files.truncate(fd, sizeLeft);
    this.files.close(fd);
  };

  /** One span; the bytes that were read, or null. */
  spans(position: number): Uint8Array | null {
    const into = new Uint8Array(SIZE).fill(255);
    const end = this.reader.readSpans(Int32Array.of(0, position, SIZE), 0, 1, into, 0);
    return end < 0 ? null : into;
  }

  one(position: number): Uint8Array | null {
    const into = new Uint8Array(SIZE).fill(255);
    return this.reader.read(position, SIZE, into, 0) ? into : null;
  }
}

const ways = { spans: (rig: Rig, position: number) => rig.spans(position), one: (rig: Rig, position: number) => rig.one(position) };
const moments: Readonly<Record<string, (rig: Rig, sizeLeft: number) => void>> = {
  'before the read': (rig, sizeLeft) => {
    rig.files.beforeRead = () => rig.takeFile(sizeLeft);
  },
  'after the read': (rig, sizeLeft) => {
    rig.files.afterRead = () => rig.takeFile(sizeLeft);
  },
};

for (const [way, read] of Object.entries(ways)) {
  for (const [moment, plan] of Object.entries(moments)) {
    test(`record reader: a file that is cut ${moment} has no records any more, read as ${way}`, (t) => {
      for (const sizeLeft of [0, 5_500, FILE_SIZE / 2]) {
        const rig = new Rig();
        t.deepEqual(read(rig, 100), new Uint8Array(SIZE).fill(7));
        plan(rig, sizeLeft);
        // Another block than the one that is kept by now.
        t.is(read(rig, 5_000 + FILE_SIZE / 4), null, `left ${sizeLeft}`);
        t.true(rig.reader.isGone(5_000));
        t.is(read(rig, 100), null, 'what was kept of it is not served either');
        t.deepEqual(read(rig, FILE_SIZE), new Uint8Array(SIZE).fill(7), 'the next file is as it was');
      }
    });
  }
}

test('record reader: files that are gone are let go of, also where nobody reads', (t) => {
  const rig = new Rig();
  rig.one(100);
  const open = rig.files.openCount;
  rig.takeFile(0);
  rig.reader.sweep(500);
  t.is(rig.files.openCount, open);
  rig.reader.sweep(1_000);
  t.is(rig.files.openCount, open - 1);
});
