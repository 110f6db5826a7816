// The arena: one stretch of shared memory for all that bytes of messages pass through (read buffers, rings, tail window, answers), so
// that they are copied inside of it, by addresses, without a view for each copy.
//
//   0        the kernel's tables                  16 KiB
//   16384    regions, each from a multiple of 128 on
//
// Every thread has one `bytes` over all of it: an address is an index, and two places are both in the arena where their array is this one.
import { assert } from './assert.ts';
import { copyBytes } from './copy-bytes.ts';
import { allocateWasmMemory, KERNEL_TABLES_SIZE, type Kernel, kernelOver, WASM_PAGE_SIZE, type WasmMemory } from './kernel.ts';

const REGION_ALIGNMENT = 128;
/** Addresses stay small integers. */
export const ARENA_SIZE_MAX = 2 ** 31 - WASM_PAGE_SIZE;

/** What other threads are given; without WebAssembly it is a plain shared buffer. */
export type ArenaMemory = WasmMemory | SharedArrayBuffer;

/** A part of the arena, for one purpose; may be posted to another thread, with all regions of one message. */
export interface Region {
  readonly memory: ArenaMemory;
  readonly at: number;
  readonly size: number;
}

/** One region for each of the sizes, together in one new arena. Pages that nobody touches cost nothing. */
export function allocateRegions(sizes: readonly number[]): Region[] {
  let end = KERNEL_TABLES_SIZE;
  const places = sizes.map((size) => {
    const at = end;
    end += Math.ceil(size / REGION_ALIGNMENT) * REGION_ALIGNMENT;
    return at;
  });
  assert(end <= ARENA_SIZE_MAX, 'the arena fits into its addresses');
  const memory = allocateWasmMemory(Math.ceil(end / WASM_PAGE_SIZE)) ?? new SharedArrayBuffer(end);
  return places.map((at, i) => ({ memory, at, size: sizes[i] as number }));
}

/** One region in an arena of its own. */
export function allocateRegion(size: number): Region {
  return allocateRegions([size])[0] as Region;
}

export class Arena {
  static readonly #known = new WeakMap<ArenaMemory, Arena>();
  readonly buffer: SharedArrayBuffer;
  readonly bytes: Buffer;
  readonly words: Int32Array;
  readonly #kernel: Kernel | null;

  private constructor(memory: ArenaMemory) {
    this.#kernel = memory instanceof SharedArrayBuffer ? null : kernelOver(memory);
    this.buffer = memory instanceof SharedArrayBuffer ? memory : memory.buffer;
    this.bytes = Buffer.from(this.buffer);
    this.words = new Int32Array(this.buffer);
  }

  /** The same one for all regions of an arena on this thread. */
  static of(memory: ArenaMemory): Arena {
    let arena = Arena.#known.get(memory);
    if (arena === undefined) {
      arena = new Arena(memory);
      Arena.#known.set(memory, arena);
    }
    return arena;
  }

  /** Whether `crc32` is to be had. */
  get hasKernel(): boolean {
    return this.#kernel !== null;
  }

  /** Copies `size` bytes between any two arrays; fast where both are the arena's own `bytes`. They may overlap. */
  copy(from: Uint8Array, fromAt: number, to: Uint8Array, toAt: number, size: number): void {
    const { bytes } = this;
    if (from === bytes && to === bytes) {
      if (this.#kernel !== null) this.#kernel.copy(toAt, fromAt, size);
      else bytes.copyWithin(toAt, fromAt, fromAt + size);
    } else copyBytes(from, fromAt, fromAt + size, to, toAt);
  }

  /** CRC-32 of the arena's bytes [at, end), as a signed number. */
  crc32(at: number, end: number): number {
    assert(this.#kernel !== null, 'there is a kernel');
    return this.#kernel.crc32(at, end);
  }
}
