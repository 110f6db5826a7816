// Reads the commit log from any thread, with a small cache of large blocks: readers that interleave share one read per block.
//
//   file:   |  block  |  block  |  block  |  block ...        blocks are aligned within their file and never cross its end
//   log:    ================ stable ======|== growing ==|     only the stable part is cached; the rest is read through
import { assert } from '../base/assert.ts';
import type { Files } from './files/files.ts';
import { SegmentDescriptors } from './segment-descriptors.ts';
import { segmentStart } from './segment-row.ts';

const DESCRIPTOR_LIMIT = 16;

export interface LogReaderOptions {
  readonly blockSizeBytes?: number;
  readonly blockCount?: number;
}

interface Block {
  /** Position of its first byte; -1 while it holds nothing. */
  position: number;
  /** How many of its bytes are held: less than the block while the stable part ended within it. */
  size: number;
  usedAt: number;
  bytes: Uint8Array;
}

export class LogReader {
  readonly #files: Files;
  readonly #descriptors: SegmentDescriptors;
  readonly #segmentSizeBytes: number;
  readonly #blockSizeBytes: number;
  readonly #blocks: Block[] = [];
  readonly #blockCount: number;
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
    assert(this.#blockSizeBytes > 0 && this.#blockCount > 0, 'room for blocks');
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
      const block = this.#blockOf(position, end);
      if (block === undefined) return false;
      const from = position - block.position;
      const part = Math.min(block.size - from, end - position);
      copy(block.bytes, from, part, into, at);
      at += part;
      position += part;
    }
    return true;
  }

  close(): void {
    this.#descriptors.close();
    this.#blocks.length = 0;
  }

  #readThrough(position: number, size: number, into: Uint8Array, at: number): boolean {
    const fd = this.#descriptors.fdFor(position);
    if (fd < 0) return false;
    this.readCount++;
    return this.#files.read(fd, into, at, size, position % this.#segmentSizeBytes) === size;
  }

  /** The block with the byte at `position`, held far enough for a read up to `end` (which may go on in the next block). */
  #blockOf(position: number, end: number): Block | undefined {
    const segment = segmentStart(position, this.#segmentSizeBytes);
    const start = position - ((position - segment) % this.#blockSizeBytes);
    const limit = Math.min(start + this.#blockSizeBytes, segment + this.#segmentSizeBytes);
    let block = this.#find(start);
    if (block === undefined) {
      block = this.#oldest();
      block.position = -1;
      block.size = 0;
    }
    const size = Math.min(limit, this.#stable) - start;
    if (start + block.size < Math.min(end, limit)) {
      const fd = this.#descriptors.fdFor(position);
      if (fd < 0) return undefined;
      this.readCount++;
      const missing = size - block.size;
      const count = this.#files.read(fd, block.bytes, block.size, missing, start + block.size - segment);
      if (count < missing) return undefined;
      block.position = start;
      block.size = size;
    }
    block.usedAt = ++this.#uses;
    return block;
  }

  #find(start: number): Block | undefined {
    for (const block of this.#blocks) if (block.position === start) return block;
    return undefined;
  }

  #oldest(): Block {
    if (this.#blocks.length < this.#blockCount) {
      const block = { position: -1, size: 0, usedAt: 0, bytes: new Uint8Array(this.#blockSizeBytes) };
      this.#blocks.push(block);
      return block;
    }
    let oldest = this.#blocks[0] as Block;
    for (const block of this.#blocks) if (block.usedAt < oldest.usedAt) oldest = block;
    return oldest;
  }
}

/** Below this many bytes a plain loop beats the view that `set` needs. */
const LOOP_SIZE_MAX = 48;

function copy(from: Uint8Array, fromAt: number, size: number, to: Uint8Array, at: number): void {
  if (size > LOOP_SIZE_MAX) to.set(from.subarray(fromAt, fromAt + size), at);
  else for (let i = 0; i < size; i++) to[at + i] = from[fromAt + i] as number;
}
