// Buffers for answers: taken when a connection has something to say, given back when the bytes have left.

/** Answers of one turn to one connection go into one chunk and leave with one write; a usual pull answer fits as well. */
export const CHUNK_SIZE = 64 * 1024;
const POOLED_COUNT_MAX = 128;

export class ChunkPool {
  readonly #free: Buffer[] = [];

  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(CHUNK_SIZE);
  }

  give(chunk: Buffer): void {
    if (this.#free.length < POOLED_COUNT_MAX) this.#free.push(chunk);
  }
}
