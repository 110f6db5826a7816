// The feed: one fixed-size entry per record of the log, for any number of followers; the writer waits for none of them.
import { assert } from '../base/assert.ts';
import { high32, join64 } from '../base/bytes.ts';
import { fence } from './fence.ts';
import { SharedNumbers } from './shared-numbers.ts';

// Memory: sequence number n of an entry is in place n mod capacity. Sequences wrap at 2^32: only differences mean something.
//
//   0      i32  published: entries before it are visible
//   128    i32  low: entries before it are gone or about to be
//   256         start: the log position at which the feed began, one shared number
//   384         entries
//
//   entry  +0   u32  queue key            +24  i32  size
//          +4   i32  flags                +28  i32  tags code
//          +8   i64  queue offset         +32  i64  store time, ms
//          +16  i64  position             +40  i32  unique key's hash
//                                         +44  i32  tag key's hash
//
// 64-bit fields are two words, upper half first.
//
// Overrun: before the writer touches a place that still holds a promised entry, it raises `low` above that entry, by a whole step
// so that this costs one store per step. A reader copies entries out, then looks at `low`: not past the first of them means that
// none of them was touched before the copy was complete. So a torn entry is never handed on.
const lineSize = 128;
const publishedAt = 0;
const lowAt = publishedAt + lineSize;
const startAt = lowAt + lineSize;
const entriesAt = startAt + lineSize;

const keyWord = 0;
const flagsWord = keyWord + 1;
const queueOffsetWord = flagsWord + 1;
const positionWord = queueOffsetWord + 2;
const sizeWord = positionWord + 2;
const tagsCodeWord = sizeWord + 1;
const storeTimeWord = tagsCodeWord + 1;
const uniqueKeyHashWord = storeTimeWord + 2;
const tagKeyHashWord = uniqueKeyHashWord + 1;
const entryWords = tagKeyHashWord + 1;
assert(entryWords * 4 === 48 && entriesAt === 384);

const publishedWord = publishedAt >> 2;
const lowWord = lowAt >> 2;
const startSlot = startAt / 16;
const entriesWord = entriesAt >> 2;
const capacityMin = 16;
const capacityMax = 2 ** 24;
const lowStepMax = 64;
const copyCount = 32;

/** Size of the memory for a feed of this many entries, a power of two. */
export function feedMemorySize(capacity: number): number {
  assert(Number.isInteger(capacity) && capacity >= capacityMin && capacity <= capacityMax, 'feed capacity out of range');
  assert((capacity & (capacity - 1)) === 0, 'feed capacity is not a power of two');
  return entriesAt + capacity * entryWords * 4;
}

function capacityOf(memory: SharedArrayBuffer): number {
  const capacity = (memory.byteLength - entriesAt) / (entryWords * 4);
  assert(feedMemorySize(capacity) === memory.byteLength, 'feed memory has a wrong size');
  return capacity;
}

export class FeedWriter {
  readonly capacity: number;
  /** How many entries one publish may make visible at most; a longer batch must publish in between. */
  readonly batchCountMax: number;
  readonly #words: Int32Array;
  readonly #lowStep: number;
  #next: number;
  #published: number;
  #low: number;

  /** `startPosition` is where the log's next record will stand; it counts only for a feed that has no entry yet. */
  constructor(memory: SharedArrayBuffer, startPosition = 0) {
    this.capacity = capacityOf(memory);
    this.batchCountMax = this.capacity / 2;
    this.#words = new Int32Array(memory);
    this.#lowStep = Math.min(lowStepMax, this.capacity / 4);
    this.#published = Atomics.load(this.#words, publishedWord);
    this.#next = this.#published;
    this.#low = Atomics.load(this.#words, lowWord);
    if (this.#next === this.#low) new SharedNumbers(memory, startSlot, 1).set(0, startPosition);
  }

  get pendingCount(): number {
    return (this.#next - this.#published) | 0;
  }

  append(
    key: number,
    queueOffset: number,
    position: number,
    size: number,
    tagsCode: number,
    storeTimeMs: number,
    flags: number,
    uniqueKeyHash: number,
    tagKeyHash: number,
  ): void {
    assert(((this.#next - this.#published) | 0) < this.batchCountMax, 'feed batch is too long');
    if (((this.#next - this.#low) | 0) >= this.capacity) this.#raiseLow();
    const words = this.#words;
    const at = entriesWord + (this.#next & (this.capacity - 1)) * entryWords;
    words[at + keyWord] = key;
    words[at + flagsWord] = flags;
    words[at + queueOffsetWord] = high32(queueOffset);
    words[at + queueOffsetWord + 1] = queueOffset;
    words[at + positionWord] = high32(position);
    words[at + positionWord + 1] = position;
    words[at + sizeWord] = size;
    words[at + tagsCodeWord] = tagsCode;
    words[at + storeTimeWord] = high32(storeTimeMs);
    words[at + storeTimeWord + 1] = storeTimeMs;
    words[at + uniqueKeyHashWord] = uniqueKeyHash;
    words[at + tagKeyHashWord] = tagKeyHash;
    this.#next = (this.#next + 1) | 0;
  }

  /** Makes what was appended visible. Ring the followers' doorbells after it. */
  publish(): void {
    if (this.#next === this.#published) return;
    this.#published = this.#next;
    Atomics.store(this.#words, publishedWord, this.#published);
  }

  /** Takes back what was appended and not published. */
  discard(): void {
    this.#next = this.#published;
  }

  #raiseLow(): void {
    this.#low = (this.#next - this.capacity + this.#lowStep) | 0;
    Atomics.store(this.#words, lowWord, this.#low);
    fence();
  }
}

export interface FeedHandler {
  onEntry(
    key: number,
    queueOffset: number,
    position: number,
    size: number,
    tagsCode: number,
    storeTimeMs: number,
    flags: number,
    uniqueKeyHash: number,
    tagKeyHash: number,
  ): void;
}

export class FeedReader {
  readonly capacity: number;
  readonly #words: Int32Array;
  readonly #start: SharedNumbers;
  readonly #copy = new Int32Array(copyCount * entryWords);
  #next: number;

  /** Begins at the feed's first entry ever; a follower that joins later calls `resync` before its first poll. */
  constructor(memory: SharedArrayBuffer, startSequence = 0) {
    this.capacity = capacityOf(memory);
    this.#words = new Int32Array(memory);
    this.#start = new SharedNumbers(memory, startSlot, 1);
    this.#next = startSequence | 0;
  }

  get sequence(): number {
    return this.#next;
  }

  /** Entries published and not yet polled; more than the capacity, or negative, where this follower was overrun. */
  lagCount(): number {
    return (Atomics.load(this.#words, publishedWord) - this.#next) | 0;
  }

  /**
   * Hands up to `limit` entries on and returns how many; -1, and nothing handed on, when the next entry is gone: the follower then
   * reads the log itself up to the position that `resync` answers. An entry at which the handler throws counts as handed on.
   */
  poll(handler: FeedHandler, limit: number): number {
    const available = this.lagCount();
    if (available === 0) return 0;
    if (available < 0 || available > this.capacity) return -1;
    const count = Math.min(available, limit);
    let handed = 0;
    while (handed < count) {
      const part = Math.min(count - handed, copyCount);
      if (!this.#tryCopy(this.#next, part)) return handed === 0 ? -1 : handed;
      for (let i = 0; i < part; i++) this.#handOn(handler, i * entryWords);
      handed += part;
    }
    return handed;
  }

  /**
   * Moves to the oldest entry that is still there and returns the log position of its record: from there on the feed goes on without
   * a gap. In a feed without entries that is the position where it began.
   */
  resync(): number {
    let low = Atomics.load(this.#words, lowWord);
    for (;;) {
      this.#next = low;
      const position = this.positionOfNext();
      if (position !== -1) return position;
      // The writer passed by just now. Halfway to the newest entry is safer.
      low = Atomics.load(this.#words, lowWord);
      low = (low + (((Atomics.load(this.#words, publishedWord) - low) | 0) >> 1)) | 0;
    }
  }

  /**
   * Where in the log this follower stands: the position of the next entry's record or, where none is published yet, the end of the newest
   * one's. -1 when overrun.
   */
  positionOfNext(): number {
    const available = this.lagCount();
    if (available < 0 || available > this.capacity) return -1;
    if (available > 0) return this.#tryCopy(this.#next, 1) ? this.#copiedPosition() : -1;
    if (this.#next === Atomics.load(this.#words, lowWord)) return this.#start.get(0);
    return this.#tryCopy((this.#next - 1) | 0, 1) ? this.#copiedPosition() + (this.#copy[sizeWord] as number) : -1;
  }

  #copiedPosition(): number {
    return join64(this.#copy[positionWord] as number, this.#copy[positionWord + 1] as number);
  }

  /** False when the writer may have touched one of them meanwhile. */
  #tryCopy(sequence: number, count: number): boolean {
    const words = this.#words;
    const copy = this.#copy;
    const mask = this.capacity - 1;
    for (let i = 0; i < count; i++) {
      const from = entriesWord + ((sequence + i) & mask) * entryWords;
      const to = i * entryWords;
      for (let word = 0; word < entryWords; word++) copy[to + word] = words[from + word] as number;
    }
    fence();
    return ((sequence - Atomics.load(words, lowWord)) | 0) >= 0;
  }

  #handOn(handler: FeedHandler, at: number): void {
    const copy = this.#copy;
    this.#next = (this.#next + 1) | 0;
    handler.onEntry(
      (copy[at + keyWord] as number) >>> 0,
      join64(copy[at + queueOffsetWord] as number, copy[at + queueOffsetWord + 1] as number),
      join64(copy[at + positionWord] as number, copy[at + positionWord + 1] as number),
      copy[at + sizeWord] as number,
      copy[at + tagsCodeWord] as number,
      join64(copy[at + storeTimeWord] as number, copy[at + storeTimeWord + 1] as number),
      copy[at + flagsWord] as number,
      copy[at + uniqueKeyHashWord] as number,
      copy[at + tagKeyHashWord] as number,
    );
  }
}
