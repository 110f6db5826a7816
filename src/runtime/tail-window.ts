// The tail window: the newest part of the log in one shared memory, written by one thread and read by any, without a lock.
import { Arena, type Region } from '../base/arena.ts';
import { assert } from '../base/assert.ts';
import { fence } from './fence.ts';
import { SharedNumbers } from './shared-numbers.ts';

// Memory: the byte at log position p stands at p mod size, behind the marks.
//
//   0      low: bytes before it are gone or about to be    (shared number)
//   128    high: bytes from it on are not written yet      (shared number)
//   256    data, `size` bytes, a power of two
//
//        low           high
//   ──────┬─────────────┬──────▶ log positions, high - low <= size
//         └── readable ─┘
//
// Before the writer overwrites a byte it raises `low` above it, by a whole step so that this costs one store per step. A reader
// copies, then looks at `low`: not past the first byte it wanted means that none of its bytes was touched before the copy was complete.
const lineSize = 128;
const lowAt = 0;
const highAt = lowAt + lineSize;
const dataAt = highAt + lineSize;
assert(dataAt === 256);

const lowSlot = lowAt / 16;
const highSlot = highAt / 16;
const sizeMin = 1024;
const sizeMax = 2 ** 30;
const lowStepMax = 64 * 1024;

/** Size of the memory for a window of this size, a power of two. */
export function windowMemorySize(sizeBytes: number): number {
  assert(Number.isInteger(sizeBytes) && sizeBytes >= sizeMin && sizeBytes <= sizeMax, 'window size out of range');
  assert((sizeBytes & (sizeBytes - 1)) === 0, 'window size is not a power of two');
  return dataAt + sizeBytes;
}

function assertMemory(memory: Region, sizeBytes: number): void {
  assert(windowMemorySize(sizeBytes) === memory.size && memory.at % lineSize === 0, 'window memory has a wrong size or place');
}

function numbersOf(memory: Region, arena: Arena): SharedNumbers {
  return new SharedNumbers(arena.buffer, memory.at / 16, dataAt / 16);
}

export class WindowWriter {
  /** All of the arena that the window is a part of; `at` answers places in it. */
  readonly bytes: Buffer;
  readonly sizeBytes: number;
  /** The largest part that can be reserved at once. */
  readonly recordSizeMax: number;
  readonly #arena: Arena;
  readonly #dataAt: number;
  readonly #numbers: SharedNumbers;
  readonly #lowStep: number;
  #low: number;
  /** Behind the last byte that was written or published. */
  #next: number;
  #empty: boolean;

  constructor(memory: Region, sizeBytes: number) {
    assertMemory(memory, sizeBytes);
    this.#arena = Arena.of(memory.memory);
    this.#dataAt = memory.at + dataAt;
    this.bytes = this.#arena.bytes;
    this.sizeBytes = sizeBytes;
    this.recordSizeMax = sizeBytes / 2;
    this.#lowStep = Math.min(lowStepMax, sizeBytes / 16);
    this.#numbers = numbersOf(memory, this.#arena);
    this.#low = this.#numbers.get(lowSlot);
    this.#next = this.#numbers.get(highSlot);
    this.#empty = this.#low === this.#next;
  }

  /**
   * Gives up what stands in the way of `size` bytes at `position` and returns their `at`. They may wrap at the window's end: see
   * `contiguous`. Readers see them after `publish`. Positions only go forward; where the log leaves a gap, so may the window.
   */
  reserve(position: number, size: number): number {
    assert(size >= 0 && size <= this.recordSizeMax, 'window part out of range');
    assert(position >= this.#next, 'the window only goes forward');
    if (this.#empty) {
      this.#empty = false;
      this.#raiseLow(position);
    }
    const needed = position + size - this.sizeBytes;
    if (needed > this.#low) this.#raiseLow(needed + this.#lowStep);
    return this.at(position);
  }

  /** Where in `bytes` the byte at this position stands. */
  at(position: number): number {
    // The bit operation takes the position modulo 2^32 first, which a power of two below that does not notice.
    return this.#dataAt + (position & (this.sizeBytes - 1));
  }

  /** How many bytes from this position on stand in one piece. */
  contiguous(position: number): number {
    return this.sizeBytes - (position & (this.sizeBytes - 1));
  }

  /** Makes reserved and filled bytes before `end` readable. */
  publish(end: number): void {
    this.#next = end;
    this.#numbers.set(highSlot, end);
  }

  /** Reserves and copies in (in two pieces where it wraps); readers see it after `publish`. */
  write(position: number, from: Buffer, at: number, size: number): void {
    const into = this.reserve(position, size);
    const first = Math.min(size, this.contiguous(position));
    this.#arena.copy(from, at, this.bytes, into, first);
    if (first < size) this.#arena.copy(from, at + first, this.bytes, this.#dataAt, size - first);
    this.#next = position + size;
  }

  /** Takes back what was written or published from this position on: nobody has been told of it. */
  rewind(position: number): void {
    assert(position <= this.#next, 'only what was written is taken back');
    this.publish(position);
  }

  #raiseLow(low: number): void {
    this.#low = low;
    this.#numbers.set(lowSlot, low);
    fence();
  }
}

export class WindowReader {
  readonly sizeBytes: number;
  readonly #arena: Arena;
  readonly #dataAt: number;
  readonly #numbers: SharedNumbers;

  constructor(memory: Region) {
    this.sizeBytes = memory.size - dataAt;
    assertMemory(memory, this.sizeBytes);
    this.#arena = Arena.of(memory.memory);
    this.#dataAt = memory.at + dataAt;
    this.#numbers = numbersOf(memory, this.#arena);
  }

  /** Bytes before this position are gone. */
  low(): number {
    return this.#numbers.get(lowSlot);
  }

  /** Bytes from this position on are not written yet. */
  high(): number {
    return this.#numbers.get(highSlot);
  }

  /** Copies the log's bytes; false, and rubbish in `into`, where they are not or no longer all in the window. */
  read(position: number, size: number, into: Uint8Array, at: number): boolean {
    if (position < this.low() || position + size > this.high()) return false;
    this.copy(position, size, into, at);
    return this.isIntact(position);
  }

  /** For several parts of one answer: copies without a check. They are good where `isIntact` of the lowest position is true afterwards. */
  copy(position: number, size: number, into: Uint8Array, at: number): void {
    const index = position & (this.sizeBytes - 1);
    const first = Math.min(size, this.sizeBytes - index);
    const arena = this.#arena;
    arena.copy(arena.bytes, this.#dataAt + index, into, at, first);
    if (first < size) arena.copy(arena.bytes, this.#dataAt, into, at + first, size - first);
  }

  /** Whether all that was copied from this position on, before this call, was still the log's bytes. */
  isIntact(position: number): boolean {
    fence();
    return position >= this.low();
  }
}
