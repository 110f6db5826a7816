// The ring: a queue of variable-length records in shared memory, from exactly one writing thread to exactly one reading thread.
import { Arena, type Region } from '../base/arena.ts';
import { assert } from '../base/assert.ts';

// Memory: each position has its two cache lines to itself, so that the two threads do not steal a line from each other.
//
//   0        producer position: everything before it is published          written by the writer
//   128      consumer position: everything before it may be overwritten    written by the reader
//   256      records, `capacity` bytes
//   +8       overhang (see below)
//
// A record starts at a multiple of 8 and is contiguous:
//
//   +0  i32  size of the payload
//   +4  i32  type, not negative; -1 marks padding that runs to the end of the ring
//   +8       payload, then up to 7 unused bytes
//
// Padding also leads back to the start once the ring is drained and the record fits before `index`: padding + length <= capacity again.
//
// Positions count bytes for ever and wrap at 2^32: only differences mean something, and the capacity is at most 2^30.
//
// Overhang: a record may run 8 bytes past the end; the first 8 bytes of the ring then stay unused in its place. That is what makes half
// the capacity a safe limit. A record of `length` (header included, at most capacity / 2 + 8) that does not fit at `index` has
// index + length > capacity + 8, so its padding (capacity - index) is at most length - 16, and padding + length <= 2 * length - 16
// <= capacity: once the reader has drained the ring, every allowed record fits, wherever the position stands.
const lineSize = 128;
const producerAt = 0;
const consumerAt = producerAt + lineSize;
const recordsAt = consumerAt + lineSize;
const sizeAt = 0;
const typeAt = sizeAt + 4;
const headerSize = typeAt + 4;
const overhangSize = headerSize;
assert(headerSize === 8 && recordsAt % lineSize === 0);

const producerWord = producerAt >> 2;
const consumerWord = consumerAt >> 2;
const typeWord = typeAt >> 2;
const paddingType = -1;
const capacityMin = 64;
/** From here on a drained ring starts over instead of going on, so that a large one that is hardly used keeps to the cache. */
const startOverAt = 256 * 1024;
const capacityMax = 2 ** 30;
const noClaim = -1;

/** Size of the memory for a ring; the capacity is a power of two. */
export function ringMemorySize(capacityBytes: number): number {
  assert(Number.isInteger(capacityBytes) && capacityBytes >= capacityMin && capacityBytes <= capacityMax, 'ring capacity out of range');
  assert((capacityBytes & (capacityBytes - 1)) === 0, 'ring capacity is not a power of two');
  return recordsAt + capacityBytes + overhangSize;
}

function capacityOf(memory: Region): number {
  const capacity = memory.size - recordsAt - overhangSize;
  assert(ringMemorySize(capacity) === memory.size && memory.at % lineSize === 0, 'ring memory has a wrong size or place');
  return capacity;
}

/** Published bytes that the reader has not given back, without the padding in front of them; seen from any thread: for displays. */
export function ringUsedBytes(memory: Region): number {
  const { words } = Arena.of(memory.memory);
  const firstWord = memory.at >> 2;
  const consumer = Atomics.load(words, firstWord + consumerWord);
  const used = Math.max(0, (Atomics.load(words, firstWord + producerWord) - consumer) | 0);
  const index = consumer & (capacityOf(memory) - 1);
  const isPadding = used > 0 && words[firstWord + ((recordsAt + index) >> 2) + typeWord] === paddingType;
  return isPadding ? Math.max(0, used - (capacityOf(memory) - index)) : used;
}

export class RingWriter {
  /** The memory that the ring is a part of. */
  readonly arena: Arena;
  /** All of the arena; `claim` answers places in it. */
  readonly bytes: Buffer;
  /** The same memory: the field at byte `at` (a multiple of 4) is `words[at >> 2]`. */
  readonly words: Int32Array;
  readonly capacity: number;
  /** The largest payload that can be claimed. */
  readonly recordSizeMax: number;
  /** How often `claim` found the ring full. */
  fullCount = 0;

  /** Records before it are committed; those from `#published` on are not yet visible. */
  #position: number;
  #published: number;
  /** The consumer position as last seen; the real one is never behind it. */
  #consumed: number;
  #claimPosition = 0;
  #claimSize = noClaim;
  readonly #recordsAt: number;
  readonly #producerWord: number;
  readonly #consumerWord: number;

  constructor(memory: Region) {
    this.capacity = capacityOf(memory);
    this.recordSizeMax = this.capacity / 2;
    this.arena = Arena.of(memory.memory);
    this.bytes = this.arena.bytes;
    this.words = this.arena.words;
    this.#recordsAt = memory.at + recordsAt;
    this.#producerWord = (memory.at >> 2) + producerWord;
    this.#consumerWord = (memory.at >> 2) + consumerWord;
    this.#position = Atomics.load(this.words, this.#producerWord);
    this.#published = this.#position;
    this.#consumed = Atomics.load(this.words, this.#consumerWord);
  }

  get pendingBytes(): number {
    return (this.#position - this.#published) | 0;
  }

  /** The place of `size` contiguous bytes in `bytes`, a multiple of 8; -1 when the ring is full. Fill them, then commit or cancel. */
  claim(size: number): number {
    assert(this.#claimSize === noClaim, 'a record is already claimed');
    assert(size >= 0 && size <= this.recordSizeMax, 'record size out of range');
    const length = headerSize + ((size + 7) & ~7);
    const index = this.#position & (this.capacity - 1);
    const starts = index + length > this.capacity + overhangSize || (index >= startOverAt && length <= index && this.#isDrained());
    const padding = starts ? this.capacity - index : 0;
    if (!this.#hasRoom(padding + length)) {
      this.fullCount++;
      return -1;
    }
    if (padding > 0) {
      const word = (this.#recordsAt + index) >> 2;
      this.words[word] = padding - headerSize;
      this.words[word + typeWord] = paddingType;
    }
    this.#claimPosition = (this.#position + padding) | 0;
    this.#claimSize = size;
    return this.#recordsAt + (this.#claimPosition & (this.capacity - 1)) + headerSize;
  }

  /** Completes the claimed record; the reader sees it from the next `publish` on. */
  commit(type: number): void {
    assert(this.#claimSize !== noClaim && type >= 0, 'nothing is claimed, or the type is negative');
    const word = (this.#recordsAt + (this.#claimPosition & (this.capacity - 1))) >> 2;
    this.words[word] = this.#claimSize;
    this.words[word + typeWord] = type;
    this.#position = (this.#claimPosition + headerSize + ((this.#claimSize + 7) & ~7)) | 0;
    this.#claimSize = noClaim;
  }

  /** Gives up the claimed record. */
  cancel(): void {
    this.#claimSize = noClaim;
  }

  /** Makes all committed records visible; false where there was none. Ring the reader's doorbell after it. */
  publish(): boolean {
    if (this.#position === this.#published) return false;
    this.#published = this.#position;
    // All plain stores into the records happen before this one, and a reader that loads the new position sees them.
    Atomics.store(this.words, this.#producerWord, this.#position);
    return true;
  }

  /** True at the first claim after a publish that the reader has taken in full. */
  #isDrained(): boolean {
    if (this.#position !== this.#published) return false;
    this.#consumed = Atomics.load(this.words, this.#consumerWord);
    return this.#consumed === this.#position;
  }

  #hasRoom(length: number): boolean {
    if (((this.#position - this.#consumed) | 0) + length <= this.capacity) return true;
    this.#consumed = Atomics.load(this.words, this.#consumerWord);
    return ((this.#position - this.#consumed) | 0) + length <= this.capacity;
  }
}

export interface RingHandler {
  /**
   * `at` points into the reader's `bytes`; the bytes are the handler's, to read and even to change, until it returns.
   * Returning false leaves this record and all after it for a later drain.
   */
  onRecord(type: number, at: number, size: number): boolean;
}

export class RingReader {
  readonly bytes: Buffer;
  readonly words: Int32Array;
  readonly capacity: number;

  #position: number;
  #draining = false;
  readonly #recordsAt: number;
  readonly #producerWord: number;
  readonly #consumerWord: number;

  constructor(memory: Region) {
    const arena = Arena.of(memory.memory);
    this.capacity = capacityOf(memory);
    this.bytes = arena.bytes;
    this.words = arena.words;
    this.#recordsAt = memory.at + recordsAt;
    this.#producerWord = (memory.at >> 2) + producerWord;
    this.#consumerWord = (memory.at >> 2) + consumerWord;
    this.#position = Atomics.load(this.words, this.#consumerWord);
  }

  /** True where nothing is published that a drain has not taken; a record that the handler left counts as there. */
  isEmpty(): boolean {
    return Atomics.load(this.words, this.#producerWord) === this.#position;
  }

  /**
   * Hands up to `limit` records to the handler and returns how many it took. Their space goes back to the writer at the end, in one
   * store, also when the handler throws: the record it threw at counts as taken, or it would poison the ring for ever.
   */
  drain(handler: RingHandler, limit: number): number {
    assert(!this.#draining, 'drain called from its own handler');
    const start = this.#position;
    const end = Atomics.load(this.words, this.#producerWord);
    if (start === end) return 0;
    this.#draining = true;
    try {
      return this.#handOn(handler, limit, end);
    } finally {
      this.#draining = false;
      // The reads of the records happen before this store, and a writer that loads the new position may overwrite them.
      if (this.#position !== start) Atomics.store(this.words, this.#consumerWord, this.#position);
    }
  }

  #handOn(handler: RingHandler, limit: number, end: number): number {
    const words = this.words;
    const mask = this.capacity - 1;
    const first = this.#recordsAt;
    let position = this.#position;
    let count = 0;
    while (count < limit && position !== end) {
      const at = first + (position & mask);
      const size = words[at >> 2] as number;
      const type = words[(at >> 2) + typeWord] as number;
      const next = (position + headerSize + ((size + 7) & ~7)) | 0;
      assert(size >= 0 && ((end - next) | 0) >= 0, 'ring record runs past the published position');
      this.#position = next;
      if (type !== paddingType) {
        if (!handler.onRecord(type, at + headerSize, size)) {
          this.#position = position;
          return count;
        }
        count++;
      }
      position = next;
    }
    return count;
  }
}
