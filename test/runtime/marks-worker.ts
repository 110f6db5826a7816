// Writers and readers of shared numbers, feed and window on threads of their own: every value read must be one that was written.
import { Arena, type Region } from '../../src/base/arena.ts';
import { present } from '../../src/base/assert.ts';
import { FeedReader, FeedWriter } from '../../src/runtime/feed.ts';
import { SharedNumbers } from '../../src/runtime/shared-numbers.ts';
import { WindowReader, WindowWriter } from '../../src/runtime/tail-window.ts';
import { report, workerTask, yieldCore } from './threads.ts';

export interface MarksTask {
  readonly role: 'numbers-write' | 'numbers-read' | 'feed-write' | 'feed-read' | 'window-write' | 'window-read';
  readonly memory: SharedArrayBuffer;
  /** Word 0: 1 once the writer is done. Word 1: readers that have begun. */
  readonly flags: SharedArrayBuffer;
  readonly count: number;
  readonly windowSizeBytes: number;
  /** For the window's roles: it, and room for 1 KiB for each side in the same arena. */
  readonly window?: Region;
  readonly scratch?: Region;
}

const task = workerTask<MarksTask>();
const flags = new Int32Array(task.flags);
const isDone = (): boolean => Atomics.load(flags, 0) === 1;

/** Upper and lower half carry the same number, so that a mixture of two values shows. */
function twin(n: number): number {
  return n * (2 ** 32 + 1);
}

/** Up and down over a few upper halves, the hardest case for a reader: b, c, b. */
function writeNumbers(): void {
  const numbers = new SharedNumbers(task.memory);
  for (let i = 0; i < task.count; i++) {
    numbers.set(1, twin(i % 3));
    numbers.set(2, i * 5000);
  }
}

function readNumbers(): { failure: string; reads: number } {
  const numbers = new SharedNumbers(task.memory);
  let last = 0;
  let reads = 0;
  for (; !isDone(); reads++) {
    const value = numbers.get(1);
    if (value !== 0 && value !== twin(1) && value !== twin(2)) return { failure: `torn: ${value}`, reads };
    const growing = numbers.get(2);
    if (growing < last || growing % 5000 !== 0) return { failure: `went back: ${last} then ${growing}`, reads };
    last = growing;
  }
  return { failure: '', reads };
}

const recordSize = 100;

function writeFeed(): void {
  const feed = new FeedWriter(task.memory);
  for (let i = 0; i < task.count; i++) {
    feed.append(i, twin(i & 0xfffff), i * recordSize, recordSize, ~i, i * 2 ** 20, i >> 1, i ^ 0x5555, i ^ 0x3333);
    if (i % 8 === 7) feed.publish();
    // The reader shall keep up for a while, and then be overrun.
    if (i % 4096 > 2048 && i % 64 === 0) yieldCore();
  }
  feed.publish();
}

function readFeed(): { failure: string; reads: number; overruns: number } {
  const feed = new FeedReader(task.memory);
  let failure = '';
  let expected = 0;
  let overruns = 0;
  let reads = 0;
  const handler = {
    onEntry(
      key: number,
      queueOffset: number,
      position: number,
      size: number,
      tagsCode: number,
      storeTimeMs: number,
      entryFlags: number,
      uniqueKeyHash: number,
      tagKeyHash: number,
    ): void {
      const i = expected++;
      reads++;
      const right = key === i && queueOffset === twin(i & 0xfffff) && position === i * recordSize && size === recordSize;
      const marks = tagsCode === ~i && entryFlags === i >> 1 && uniqueKeyHash === (i ^ 0x5555) && tagKeyHash === (i ^ 0x3333);
      if (!right || !marks || storeTimeMs !== i * 2 ** 20) failure = `entry ${i} is torn: key=${key}`;
    },
  };
  while (failure === '') {
    const last = isDone();
    const count = feed.poll(handler, 100);
    if (count === -1) {
      overruns++;
      const position = feed.resync();
      if (position % recordSize !== 0 || position < expected * recordSize) failure = `resync answered ${position} at ${expected}`;
      expected = position / recordSize;
    } else if (count === 0 && last) break;
  }
  return { failure: failure === '' && expected !== task.count ? `ended at ${expected}` : failure, reads, overruns };
}

/** Each byte of the log is known from its position. */
function byteAt(position: number): number {
  return (position * 7 + (position >>> 11)) & 255;
}

/** Memory of the window's own arena, so that its fast copies are what races. */
function scratch(offset: number): { bytes: Buffer; at: number } {
  const region = present(task.scratch);
  return { bytes: Arena.of(region.memory).bytes, at: region.at + offset };
}

function writeWindow(): void {
  const window = new WindowWriter(present(task.window), task.windowSizeBytes);
  const { bytes: record, at: first } = scratch(0);
  let position = 0;
  for (let i = 0; i < task.count; i++) {
    const size = 1 + ((i * 37) & 255);
    for (let at = 0; at < size; at++) record[first + at] = byteAt(position + at);
    window.write(position, record, first, size);
    position += size;
    // As the commit log does it: many records are written, then all are shown at once.
    if (i % 3 === 0) window.publish(position);
    if (i % 32 === 0) yieldCore();
  }
}

function readWindow(): { failure: string; reads: number; misses: number } {
  const window = new WindowReader(present(task.window));
  const { bytes: into, at: first } = scratch(512);
  let reads = 0;
  let misses = 0;
  for (let round = 0; !isDone(); round++) {
    // At the edge that is just being overwritten, where it hurts.
    const size = 1 + (round & 255);
    const position = window.low() + (round % 5 === 0 ? 500 : round % 3);
    if (!window.read(position, size, into, first + (round & 7))) {
      misses++;
      continue;
    }
    reads++;
    for (let at = 0; at < size; at++) {
      if (into[first + (round & 7) + at] !== byteAt(position + at)) return { failure: `byte ${position + at} is wrong`, reads, misses };
    }
  }
  return { failure: '', reads, misses };
}

function runWriter(write: () => void): void {
  while (Atomics.load(flags, 1) === 0) yieldCore();
  write();
  Atomics.store(flags, 0, 1);
  report({});
}

function runReader(read: () => unknown): void {
  Atomics.add(flags, 1, 1);
  report(read());
}

if (task.role === 'numbers-write') runWriter(writeNumbers);
else if (task.role === 'feed-write') runWriter(writeFeed);
else if (task.role === 'window-write') runWriter(writeWindow);
else if (task.role === 'numbers-read') runReader(readNumbers);
else if (task.role === 'feed-read') runReader(readFeed);
else runReader(readWindow);
