// Places for answers: taken when a connection has something to say, given back when the bytes have left.
import { Arena, type Region } from '../../base/arena.ts';

/** Answers of one turn to one connection go into one chunk and leave with one write; a usual pull answer fits as well. */
export const CHUNK_SIZE = 64 * 1024;

/** `CHUNK_SIZE` bytes from `at` on. */
export interface Chunk {
  readonly bytes: Buffer;
  readonly at: number;
}

export class ChunkPool {
  /** The arena's, so that records are copied inside of it. */
  readonly #free: Chunk[];
  readonly #home: Buffer;

  constructor(region: Region) {
    const { bytes } = Arena.of(region.memory);
    const count = Math.floor(region.size / CHUNK_SIZE);
    this.#home = bytes;
    // The first is taken first, and again and again while little is under way: it stays in the cache.
    this.#free = Array.from({ length: count }, (_, i) => ({ bytes, at: region.at + (count - 1 - i) * CHUNK_SIZE }));
  }

  take(): Chunk {
    return this.#free.pop() ?? { bytes: Buffer.allocUnsafeSlow(CHUNK_SIZE), at: 0 };
  }

  give(chunk: Chunk): void {
    if (chunk.bytes === this.#home) this.#free.push(chunk);
  }
}
