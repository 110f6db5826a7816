// Units that were read from queue files lately, a block at a time, for all queues of one owner: a reader that goes forward makes one
// system call a block instead of one a pull, a reader that filters even more so.
import { copyBytes } from '../base/copy-bytes.ts';
import type { QueueFiles } from './queue-files.ts';
import { UNIT_SIZE } from './queue-unit.ts';

/** 5 KiB: eight whole pulls; hardly dearer to read than one of them. */
const UNITS_PER_BLOCK = 256;
const SLOT_COUNT = 64;

interface Slot {
  owner: QueueFiles | null;
  begin: number;
  readonly bytes: Uint8Array;
}

export class UnitBlocks {
  readonly unitsPerBlock: number;
  readonly #slots: (Slot | undefined)[] = new Array<Slot | undefined>(SLOT_COUNT).fill(undefined);

  /** Blocks begin at multiples of their size within their file, and none goes on into the next. */
  constructor(unitsPerFile: number) {
    this.unitsPerBlock = Math.min(UNITS_PER_BLOCK, unitsPerFile);
  }

  /**
   * Copies units [index, index + count) of a queue's files; blocks that end at or before `stableEnd` are kept: none of their units may
   * change before `drop`. @param hash tells queues apart, mostly.
   */
  read(owner: QueueFiles, hash: number, index: number, count: number, stableEnd: number, into: Uint8Array, at: number): void {
    const { unitsPerFile } = owner;
    while (count > 0) {
      const within = index % unitsPerFile;
      const begin = index - (within % this.unitsPerBlock);
      const end = Math.min(begin + this.unitsPerBlock, index - within + unitsPerFile);
      const part = Math.min(count, end - index);
      if (end > stableEnd) owner.read(index, part, into, at);
      else
        copyBytes(this.#block(owner, hash, begin, end - begin), (index - begin) * UNIT_SIZE, (index - begin + part) * UNIT_SIZE, into, at);
      index += part;
      count -= part;
      at += part * UNIT_SIZE;
    }
  }

  /** What was kept of a queue counts no more. */
  drop(owner: QueueFiles): void {
    for (const slot of this.#slots) if (slot?.owner === owner) slot.owner = null;
  }

  #block(owner: QueueFiles, hash: number, begin: number, count: number): Uint8Array {
    // Queues that are read side by side move through the slots together.
    const at = (hash + Math.floor(begin / this.unitsPerBlock)) & (SLOT_COUNT - 1);
    let slot = this.#slots[at];
    if (slot?.owner === owner && slot.begin === begin) return slot.bytes;
    slot ??= { owner: null, begin: 0, bytes: new Uint8Array(this.unitsPerBlock * UNIT_SIZE) };
    this.#slots[at] = slot;
    slot.owner = null;
    owner.read(begin, count, slot.bytes, 0);
    slot.owner = owner;
    slot.begin = begin;
    return slot.bytes;
  }
}
