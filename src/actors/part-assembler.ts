// Puts the parts of frames and JSON messages together again on the receiving side of a ring.
import type { RingReader } from '../runtime/ring.ts';

export class PartAssembler {
  readonly #ring: RingReader;
  readonly #parts: Buffer[] = [];
  /** Of the frame that the last call completed. */
  connectionId = 0;

  constructor(ring: RingReader) {
    this.#ring = ring;
  }

  /** Takes one part of a frame; the whole frame once its last part is in, else null. */
  takeFrame(at: number): Buffer | null {
    const { words } = this.#ring;
    this.connectionId = words[at >> 2] as number;
    return this.#take(words[(at >> 2) + 1] as number, words[(at >> 2) + 2] as number, at + 12);
  }

  /** Takes one part of a JSON message; its value once the last part is in, else null. */
  takeJson<T>(at: number): T | null {
    const { words } = this.#ring;
    const bytes = this.#take(words[at >> 2] as number, words[(at >> 2) + 1] as number, at + 8);
    return bytes === null ? null : (JSON.parse(bytes.toString('utf8')) as T);
  }

  /** Forgets a message of which parts are still to come: its sender is gone. */
  clear(): void {
    this.#parts.length = 0;
  }

  #take(last: number, size: number, at: number): Buffer | null {
    const part = Buffer.allocUnsafe(size);
    this.#ring.bytes.copy(part, 0, at, at + size);
    if (last === 1 && this.#parts.length === 0) return part;
    this.#parts.push(part);
    if (last !== 1) return null;
    const whole = Buffer.concat(this.#parts);
    this.#parts.length = 0;
    return whole;
  }
}
