// The checksum of a record's body: CRC-32 with the sign bit cleared, as it is stored.
import { crc32 } from 'node:zlib';
import type { Arena } from '../base/arena.ts';

/** From here on the library's loop is faster in spite of what a call of it costs (measured: 512 bytes 377 against 288 ns, 1,024 bytes 468 against 531). */
const KERNEL_SIZE_MAX = 768;

/** Of `size` bytes as stored (maybe compressed); 0 for an empty body. The array may lie over shared memory. */
export function bodyCrc(b: Uint8Array, at: number, size: number): number {
  if (size === 0) return 0;
  return crc32(new Uint8Array(b.buffer, b.byteOffset + at, size)) & 0x7fffffff;
}

/** The same; small bodies that lie in the arena without a view and a native call. */
export function bodyCrcIn(arena: Arena, b: Uint8Array, at: number, size: number): number {
  if (size > KERNEL_SIZE_MAX || b !== arena.bytes || !arena.hasKernel) return bodyCrc(b, at, size);
  return arena.crc32(at, at + size) & 0x7fffffff;
}
