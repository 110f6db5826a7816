// The bytes between two ends of a connection in memory: a bounded queue that remembers where each write was cut.
import { assert, present } from '../base/assert.ts';
import { Fifo } from './fifo.ts';

export class MemoryPipe {
  readonly #capacitySizeBytes: number;
  readonly #pieces = new Fifo<Uint8Array>();
  /** Bytes of the first piece that have left. */
  #headAt = 0;
  #sizeBytes = 0;

  constructor(capacitySizeBytes: number) {
    this.#capacitySizeBytes = capacitySizeBytes;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** An empty pipe takes a piece of any size, so that a whole write can pass undivided. */
  get spaceBytes(): number {
    return this.#sizeBytes === 0 ? Number.POSITIVE_INFINITY : Math.max(0, this.#capacitySizeBytes - this.#sizeBytes);
  }

  /** What is left of the first piece. */
  get headSizeBytes(): number {
    return this.#sizeBytes === 0 ? 0 : present(this.#pieces.peek(), 'first piece').length - this.#headAt;
  }

  /** Copies: as with a kernel, the writer may reuse its bytes afterwards. */
  put(bytes: Uint8Array): void {
    assert(bytes.length > 0 && bytes.length <= this.spaceBytes, 'piece does not fit into the pipe');
    const piece = Buffer.allocUnsafe(bytes.length);
    piece.set(bytes);
    this.#pieces.push(piece);
    this.#sizeBytes += bytes.length;
  }

  /** Moves the next bytes, across pieces, into `taken`, as many as it holds. */
  take(taken: Uint8Array): void {
    const sizeBytes = taken.length;
    assert(sizeBytes > 0 && sizeBytes <= this.#sizeBytes, 'more bytes asked than the pipe holds');
    for (let at = 0; at < sizeBytes; ) {
      const piece = present(this.#pieces.peek(), 'first piece');
      const part = piece.subarray(this.#headAt, this.#headAt + sizeBytes - at);
      taken.set(part, at);
      at += part.length;
      this.#headAt += part.length;
      if (this.#headAt < piece.length) break;
      this.#pieces.shift();
      this.#headAt = 0;
    }
    this.#sizeBytes -= sizeBytes;
  }

  clear(): void {
    this.#pieces.clear();
    this.#headAt = 0;
    this.#sizeBytes = 0;
  }
}
