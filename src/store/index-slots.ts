// The slot table of the index file that is being written, kept in memory in pieces that are touched and written back as a whole.
import { readI32, writeI32 } from '../base/bytes.ts';
import type { Files } from './files/files.ts';

const SLOT_SIZE = 4;
const CHUNK_SLOTS = 16_384;

export class IndexSlots {
  readonly #files: Files;
  readonly #at: number;
  readonly #slotCount: number;
  readonly #chunks: (Uint8Array | undefined)[] = [];
  readonly #dirty = new Set<number>();

  /** @param at where the table begins in the file. */
  constructor(files: Files, at: number, slotCount: number) {
    this.#files = files;
    this.#at = at;
    this.#slotCount = slotCount;
  }

  get(fd: number, slot: number): number {
    return readI32(this.#chunk(fd, Math.floor(slot / CHUNK_SLOTS)), (slot % CHUNK_SLOTS) * SLOT_SIZE);
  }

  set(fd: number, slot: number, value: number): void {
    const index = Math.floor(slot / CHUNK_SLOTS);
    writeI32(this.#chunk(fd, index), (slot % CHUNK_SLOTS) * SLOT_SIZE, value);
    this.#dirty.add(index);
  }

  flush(fd: number): void {
    for (const index of this.#dirty) {
      const chunk = this.#chunk(fd, index);
      this.#files.write(fd, chunk, 0, chunk.length, this.#at + index * CHUNK_SLOTS * SLOT_SIZE);
      this.#dirty.delete(index);
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
