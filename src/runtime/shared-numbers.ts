// Shared numbers: whole numbers up to 2^53 that one thread writes and any thread reads, never torn, with 32-bit atomics only.
import { assert } from '../base/assert.ts';
import { high32, join64 } from '../base/bytes.ts';

// A slot:
//
//   +0   i32  sequence   odd while the upper half changes
//   +4   i32  high       upper 32 bits, with the sign
//   +8   i32  low        lower 32 bits
//   +12  i32  unused, 0
//
// Most writes change the lower half only: one store. A write that changes the upper half (a position: once in 4 GiB) makes the sequence odd,
// stores both halves, and makes it even again. A reader takes the sequence, both halves, and the sequence again, until both are the
// same even number.
//
// Why the answer is a number that was written. All accesses are sequentially consistent atomics, so they have one order. Two equal even
// sequences mean that no change of the upper half overlaps the reads between them, so `high` stood still there; and `low` was either the
// half stored together with it or one stored alone later, under the same `high`. So (high, low) is the slot's value at the moment `low`
// was read, and a thread that reads again never goes back in time. This asks nothing of the values: they may grow, shrink and turn negative.
// (Two copies of `high` around `low` need no sequence, but are right for growing values only: b, c, b again lets a reader pair the last b
// with the low half of c.) The sequence wraps after 2^31 changes of the upper half, which would have to fit into one read to fool it.
const sequenceAt = 0;
const highAt = sequenceAt + 4;
const lowAt = highAt + 4;
const unusedAt = lowAt + 4;
const slotSize = unusedAt + 4;
assert(slotSize === 16);

const wordsPerSlot = slotSize >> 2;
const highWord = highAt >> 2;
const lowWord = lowAt >> 2;

export function sharedNumbersMemorySize(slotCount: number): number {
  return slotCount * slotSize;
}

export class SharedNumbers {
  readonly slotCount: number;
  readonly #words: Int32Array;

  /** Slots of 16 bytes, from number `firstSlot` of the memory on; all to its end where no count is given. */
  constructor(memory: SharedArrayBuffer, firstSlot = 0, slotCount = Math.floor(memory.byteLength / slotSize) - firstSlot) {
    assert(firstSlot >= 0 && slotCount >= 0 && (firstSlot + slotCount) * slotSize <= memory.byteLength, 'slots out of range');
    this.slotCount = slotCount;
    this.#words = new Int32Array(memory, firstSlot * slotSize, slotCount * wordsPerSlot);
  }

  get(slot: number): number {
    const words = this.#words;
    const word = slot * wordsPerSlot;
    for (;;) {
      const sequence = Atomics.load(words, word);
      const high = Atomics.load(words, word + highWord);
      const low = Atomics.load(words, word + lowWord);
      if ((sequence & 1) === 0 && Atomics.load(words, word) === sequence) return join64(high, low);
    }
  }

  /** Only one thread may set a slot. */
  set(slot: number, value: number): void {
    assert(Number.isSafeInteger(value), 'not a safe integer');
    const words = this.#words;
    const word = slot * wordsPerSlot;
    const high = high32(value);
    if (high === words[word + highWord]) {
      Atomics.store(words, word + lowWord, value | 0);
      return;
    }
    const changing = (words[word] as number) | 1;
    Atomics.store(words, word, changing);
    Atomics.store(words, word + highWord, high);
    Atomics.store(words, word + lowWord, value | 0);
    Atomics.store(words, word, changing + 1);
  }
}
