// The slot table of the index file that is being written, kept in memory in pieces that are touched and written back as a whole.
import { readI32, writeI32 } from '../base/bytes.ts';
import type { Files } from './files/files.ts';

const SLOT_SIZE = 4;
const CHUNK_BITS = 14;
const CHUNK_SLOTS = 1 << CHUNK_BITS;
const CHUNK_MASK = CHUNK_SLOTS - 1;

export class IndexSlots {
  readonly #files: Files;
  readonly #at: number;
  readonly #slotCount: number;
  readonly #chunks: (Uint8Array | undefined)[] = [];
  /** 1 for each piece that is not in the file yet. */
  readonly #dirty: Uint8Array;

  /** @param at where the table begins in the file. */
  constructor(files: Files, at: number, slotCount: number) {
    this.#files = files;
    this.#at = at;
    this.#slotCount = slotCount;
    this.#dirty = new Uint8Array((slotCount + CHUNK_MASK) >>> CHUNK_BITS);
  }

  get(fd: number, slot: number): number {
    return readI32(this.#chunk(fd, slot >>> CHUNK_BITS), (slot & CHUNK_MASK) * SLOT_SIZE);
  }

  /** Sets a slot and answers what was in it. */
  exchange(fd: number, slot: number, value: number): number {
    const index = slot >>> CHUNK_BITS;
    const chunk = this.#chunk(fd, index);
    const at = (slot & CHUNK_MASK) * SLOT_SIZE;
    const before = readI32(chunk, at);
    writeI32(chunk, at, value);
    this.#dirty[index] = 1;
    return before;
  }

  flush(fd: number): void {
    for (let index = this.#dirty.indexOf(1); index >= 0; index = this.#dirty.indexOf(1, index + 1)) {
      const chunk = this.#chunk(fd, index);
      this.#files.write(fd, chunk, 0, chunk.length, this.#at + index * CHUNK_SLOTS * SLOT_SIZE);
      this.#dirty[index] = 0;
    }
  }

  /**
   * Slots in the file with numbers from `end` on get the newest one below it in their chain.
   * @param before the number before an entry's in its chain; 0 at its end.
   */
  mend(fd: number, end: number, before: (number: number) => number): void {
    const chunk = new Uint8Array(Math.min(CHUNK_SLOTS, this.#slotCount) * SLOT_SIZE);
    for (let from = 0; from < this.#slotCount; from += CHUNK_SLOTS) {
      const size = Math.min(CHUNK_SLOTS, this.#slotCount - from) * SLOT_SIZE;
      this.#files.read(fd, chunk, 0, size, this.#at + from * SLOT_SIZE);
      let changed = false;
      for (let at = 0; at < size; at += SLOT_SIZE) {
        let number = readI32(chunk, at);
        if (number < end) continue;
        // Each entry's chain leads to smaller numbers; one that does not was never written whole.
        for (let next = number; number >= end; number = next) {
          next = before(number);
          if (next < 0 || next >= number) next = 0;
        }
        writeI32(chunk, at, number);
        changed = true;
      }
      if (changed) this.#files.write(fd, chunk, 0, size, this.#at + from * SLOT_SIZE);
    }
  }

  #chunk(fd: number, index: number): Uint8Array {
    let chunk = this.#chunks[index];
    if (chunk === undefined) {
      chunk = new Uint8Array(Math.min(CHUNK_SLOTS, this.#slotCount - index * CHUNK_SLOTS) * SLOT_SIZE);
      this.#files.read(fd, chunk, 0, chunk.length, this.#at + index * CHUNK_SLOTS * SLOT_SIZE);
      this.#chunks[index] = chunk;
    }
    return chunk;
  }
}
