// Seeded records for ring tests: the writer and the verifier make the same sequence of sizes, types and bytes from the same seed.
import { SeededRandom } from '../../src/base/random.ts';

const canary = 0x5ca1ab1e;

export class RecordSequence {
  readonly #random: SeededRandom;
  readonly #sizeMax: number;
  index = -1;
  size = 0;
  type = 0;

  constructor(seed: number, sizeMax: number) {
    this.#random = new SeededRandom(seed);
    this.#sizeMax = sizeMax;
  }

  /** Mostly small records, some of any size, a few of the largest. */
  next(): void {
    this.index++;
    const draw = this.#random.below(4096);
    if (draw === 0) this.size = this.#sizeMax;
    else if (draw < 16) this.size = this.#random.below(this.#sizeMax + 1);
    else this.size = draw % Math.min(41, this.#sizeMax + 1);
    this.type = draw;
  }

  /** Whole words of canary ^ index, the last of them marked; then single bytes. */
  fill(words: Int32Array, bytes: Uint8Array, at: number): void {
    const count = this.size >> 2;
    const word = at >> 2;
    for (let i = 0; i < count; i++) words[word + i] = (canary ^ this.index) + i;
    for (let i = count * 4; i < this.size; i++) bytes[at + i] = this.index + i;
  }

  isIntact(words: Int32Array, bytes: Uint8Array, at: number): boolean {
    const count = this.size >> 2;
    const word = at >> 2;
    for (let i = 0; i < count; i++) if (words[word + i] !== (((canary ^ this.index) + i) | 0)) return false;
    for (let i = count * 4; i < this.size; i++) if (bytes[at + i] !== ((this.index + i) & 255)) return false;
    return true;
  }
}
