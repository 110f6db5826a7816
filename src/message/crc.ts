// The checksum of a record's body: CRC-32 with the sign bit cleared, as it is stored.
import { crc32 } from 'node:zlib';

/** Of `size` bytes as stored (maybe compressed); 0 for an empty body. The array may lie over shared memory. */
export function bodyCrc(b: Uint8Array, at: number, size: number): number {
  if (size === 0) return 0;
  return crc32(new Uint8Array(b.buffer, b.byteOffset + at, size)) & 0x7fffffff;
}
