// Buffers for answers: taken when a connection has something to say, given back when the bytes have left.

/** Small answers of one turn to one connection go into one chunk and leave with one write. */
export const CHUNK_SIZE = 16 * 1024;
const POOLED_COUNT_MAX = 512;

export class ChunkPool {
  readonly #free: Buffer[] = [];

  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(CHUNK_SIZE);
  }

  give(chunk: Buffer): void {
    if (this.#free.length < POOLED_COUNT_MAX) this.#free.push(chunk);
  }
}
