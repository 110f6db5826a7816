// Reads the commit log from any thread, with a small cache of large blocks: readers that interleave share the reads of a block.
//
// A block is read whole when it follows one that is held, or is asked for again before as many others were as can be held: then it will be
// there when the next reader comes. Until then only what was asked for is read: of a queue among thousands each message lies in a block of
// its own, and whole blocks would cost ten times the messages. Where blocks that were read whole had to go before they had served enough
// reads, as with more readers than there is room for, only a few more are tried.
//
//   file:   |  block  |  block  |  block  |  block ...        blocks are aligned within their file and never cross its end
//   log:    ================ stable ======|== growing ==|     only the stable part is cached; the rest is read through
import { Arena, type Region } from '../base/arena.ts';
import { assert } from '../base/assert.ts';
import { copyBytes } from '../base/copy-bytes.ts';
import type { Files } from './files/files.ts';
import { SegmentDescriptors } from './segment-descriptors.ts';
import { segmentStart } from './segment-row.ts';

const DESCRIPTOR_LIMIT = 16;
/** A read costs as much as the copying of so many bytes, whatever its size. */
const CALL_SIZE = 32 * 1024;
/** Where blocks have not paid, one in so many is read whole all the same, to see whether they do by now. */
const TRY_EVERY = 64;
/** Blocks over which it is averaged what one has saved. */
const AVERAGE_COUNT = 16;

export interface LogReaderOptions {
  readonly blockSizeBytes?: number;
  readonly blockCount?: number;
  /** Where the blocks lie, so that they are copied from inside of an arena; with room for all of them. */
  readonly memory?: Region;
}

interface Block {
  /** Position of its first byte; -1 while it holds nothing. */
  position: number;
  /** How many of its bytes are held: less than the block while the stable part ended within it. */
  size: number;
  usedAt: number;
  /** What it has saved, in bytes: the reads that it served before as many others were missed as can be held. */
  saved: number;
  /** Misses before it was read. */
  missesBefore: number;
  readonly bytes: Uint8Array;
  /** Where in `bytes` it begins. */
  readonly at: number;
}

export class LogReader {
  readonly #files: Files;
  readonly #descriptors: SegmentDescriptors;
  readonly #segmentSizeBytes: number;
  readonly #blockSizeBytes: number;
  readonly #blocks: Block[] = [];
  readonly #byPosition = new Map<number, Block>();
  #last: Block | undefined;
  readonly #blockCount: number;
  readonly #memory: Region | undefined;
  readonly #arena: Arena | undefined;
  /** Blocks of which a part was read lately, the oldest first. */
  readonly #asked = new Set<number>();
  /** What a block costs, and what one has saved before it had to go, on average. */
  readonly #cost: number;
  #saved: number;
  #passedOver = 0;
  /** Times that a block was wanted and not held. */
  #misses = 0;
  #stable = 0;
  #positionMin = 0;
  #uses = 0;
  /** System reads made, for tests and counters. */
  readCount = 0;

  constructor(files: Files, folder: string, segmentSizeBytes: number, options: LogReaderOptions = {}) {
    this.#files = files;
    this.#descriptors = new SegmentDescriptors(files, folder, segmentSizeBytes, 'read', DESCRIPTOR_LIMIT);
    this.#segmentSizeBytes = segmentSizeBytes;
    this.#blockSizeBytes = Math.min(options.blockSizeBytes ?? 262_144, segmentSizeBytes);
    this.#blockCount = options.blockCount ?? 16;
    this.#cost = this.#saved = this.#blockSizeBytes + CALL_SIZE;
    this.#memory = options.memory;
    this.#arena = options.memory === undefined ? undefined : Arena.of(options.memory.memory);
    assert(this.#blockSizeBytes > 0 && this.#blockCount > 0, 'at least one block');
    assert((options.memory?.size ?? Number.POSITIVE_INFINITY) >= this.#blockSizeBytes * this.#blockCount, 'room for all blocks');
  }

  get openCount(): number {
    return this.#descriptors.openCount;
  }

  /** Bytes below this position never change any more and may be kept. */
  setStable(position: number): void {
    this.#stable = position;
  }

  /** What lies below is gone: reads of it fail even while the system still holds the file, and its descriptors are closed. */
  setMin(position: number): void {
    if (position === this.#positionMin) return;
    this.#positionMin = position;
    this.#descriptors.dropBelow(position);
  }

  /** Copies log bytes; false where some of them are in no file (any more). They may cross blocks, never files. */
  read(position: number, size: number, into: Uint8Array, at: number): boolean {
    assert(size > 0 && at >= 0 && at + size <= into.length, 'room for the bytes');
    if (position < this.#positionMin) return false;
    if (position + size > this.#stable) return this.#readThrough(position, size, into, at);
    const end = position + size;
    while (position < end) {
      const segment = segmentStart(position, this.#segmentSizeBytes);
      const start = position - ((position - segment) % this.#blockSizeBytes);
      if (this.#find(start) === undefined && !this.#isWorthReading(start)) return this.#readThrough(position, end - position, into, at);
      const block = this.#blockOf(segment, start, end);
      if (block === undefined) return false;
      const from = position - block.position;
      const part = Math.min(block.size - from, end - position);
      if (this.#misses - block.missesBefore <= this.#blockCount) block.saved += CALL_SIZE + part;
      this.#copy(block.bytes, block.at + from, into, at, part);
      at += part;
      position += part;
    }
    return true;
  }

  close(): void {
    this.#descriptors.close();
    this.#blocks.length = 0;
    this.#byPosition.clear();
    this.#last = undefined;
  }

  #readThrough(position: number, size: number, into: Uint8Array, at: number): boolean {
    const fd = this.#descriptors.fdFor(position);
    if (fd < 0) return false;
    this.readCount++;
    return this.#files.read(fd, into, at, size, position % this.#segmentSizeBytes) === size;
  }

  #isWorthReading(start: number): boolean {
    this.#misses++;
    if (this.#find(start - this.#blockSizeBytes) !== undefined || this.#asked.delete(start)) {
      if (this.#saved >= this.#cost) return true;
      this.#passedOver = (this.#passedOver + 1) % TRY_EVERY;
      return this.#passedOver === 0;
    }
    if (this.#asked.size >= this.#blockCount)
      for (const oldest of this.#asked) {
        this.#asked.delete(oldest);
        break;
      }
    this.#asked.add(start);
    return false;
  }

  /** The block at `start`, held far enough for a read up to `end` (which may go on in the next block). */
  #blockOf(segment: number, start: number, end: number): Block | undefined {
    const limit = Math.min(start + this.#blockSizeBytes, segment + this.#segmentSizeBytes);
    let block = this.#find(start);
    if (block === undefined) {
      block = this.#oldest();
      this.#empty(block);
    }
    const size = Math.min(limit, this.#stable) - start;
    if (start + block.size < Math.min(end, limit)) {
      const fd = this.#descriptors.fdFor(start);
      if (fd < 0) return undefined;
      this.readCount++;
      const missing = size - block.size;
      const count = this.#files.read(fd, block.bytes, block.at + block.size, missing, start + block.size - segment);
      if (count < missing) return undefined;
      block.position = start;
      block.size = size;
      this.#byPosition.set(start, block);
    }
    block.usedAt = ++this.#uses;
    this.#last = block;
    return block;
  }

  /** Records of one queue often follow each other in one block: the block of the last read is looked at first. */
  #find(start: number): Block | undefined {
    if (this.#last?.position === start) return this.#last;
    return this.#byPosition.get(start);
  }

  #oldest(): Block {
    if (this.#blocks.length < this.#blockCount) {
      const index = this.#blocks.length;
      const place =
        this.#arena === undefined || this.#memory === undefined
          ? { bytes: new Uint8Array(this.#blockSizeBytes), at: 0 }
          : { bytes: this.#arena.bytes, at: this.#memory.at + index * this.#blockSizeBytes };
      const block = { position: -1, size: 0, usedAt: 0, saved: 0, missesBefore: 0, ...place };
      this.#blocks.push(block);
      return block;
    }
    let oldest = this.#blocks[0] as Block;
    for (const block of this.#blocks) if (block.usedAt < oldest.usedAt) oldest = block;
    return oldest;
  }

  #empty(block: Block): void {
    if (block.position >= 0) this.#saved += (block.saved - this.#saved) / AVERAGE_COUNT;
    this.#byPosition.delete(block.position);
    block.position = -1;
    block.missesBefore = this.#misses;
    block.size = block.saved = 0;
  }

  #copy(from: Uint8Array, fromAt: number, into: Uint8Array, at: number, size: number): void {
    if (this.#arena !== undefined) this.#arena.copy(from, fromAt, into, at, size);
    else copyBytes(from, fromAt, fromAt + size, into, at);
  }
}
