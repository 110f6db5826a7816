// Big-endian fields and Java's string hash on plain byte arrays, without allocation; the array may lie over shared memory.

const TWO_POW_32 = 2 ** 32;
const POW_31_2 = 31 * 31;
const POW_31_3 = 31 * POW_31_2;
const POW_31_4 = 31 * POW_31_3;

export function readU16(b: Uint8Array, at: number): number {
  return ((b[at] as number) << 8) | (b[at + 1] as number);
}

export function readI16(b: Uint8Array, at: number): number {
  return (readU16(b, at) << 16) >> 16;
}

export function readI32(b: Uint8Array, at: number): number {
  return ((b[at] as number) << 24) | ((b[at + 1] as number) << 16) | ((b[at + 2] as number) << 8) | (b[at + 3] as number);
}

export function readU32(b: Uint8Array, at: number): number {
  return readI32(b, at) >>> 0;
}

/** A signed 64-bit field as a number: exact up to 2^53, which positions, offsets and times never pass. */
export function readI64(b: Uint8Array, at: number): number {
  return readI32(b, at) * TWO_POW_32 + readU32(b, at + 4);
}

export function writeU16(b: Uint8Array, at: number, value: number): void {
  b[at] = value >>> 8;
  b[at + 1] = value;
}

export function writeI32(b: Uint8Array, at: number, value: number): void {
  b[at] = value >>> 24;
  b[at + 1] = value >>> 16;
  b[at + 2] = value >>> 8;
  b[at + 3] = value;
}

/** Writes a safe integer as a signed 64-bit field. */
export function writeI64(b: Uint8Array, at: number, value: number): void {
  writeI32(b, at, Math.floor(value / TWO_POW_32));
  writeI32(b, at + 4, value | 0);
}

/** Upper 32 bits of a safe integer, for fields kept as two halves. */
export function high32(value: number): number {
  return Math.floor(value / TWO_POW_32);
}

/** Lower 32 bits of a safe integer, as a signed 32-bit number: that is how `|` takes any number. */
export function low32(value: number): number {
  return value | 0;
}

export function join64(high: number, low: number): number {
  return high * TWO_POW_32 + (low >>> 0);
}

/** Java's `String.hashCode`: over UTF-16 units, wrapped to a signed 32-bit number. */
export function javaHash(text: string): number {
  return extendJavaHashText(0, text);
}

const utf8 = new TextDecoder();

/** `javaHash` of UTF-8 bytes [at, end); ASCII is hashed in place. */
export function javaHashUtf8(b: Uint8Array, at: number, end: number): number {
  return extendJavaHash(0, b, at, end);
}

/**
 * `javaHash` of a text with that hash so far, followed by UTF-8 bytes [at, end). `| 0` before the loop tells the compiler what `before`
 * is: without it the hash is a double in each round (190 ns for 32 bytes instead of 40-65).
 */
export function extendJavaHash(before: number, b: Uint8Array, at: number, end: number): number {
  let hash = before | 0;
  let i = at;
  // Four a step: one multiplication has to wait for the one before it, but not those of the letters.
  for (; i + 4 <= end; i += 4) {
    const [c0, c1, c2, c3] = [b[i] as number, b[i + 1] as number, b[i + 2] as number, b[i + 3] as number];
    if ((c0 | c1 | c2 | c3) >= 0x80) return extendJavaHashText(before, readUtf8(b, at, end));
    hash = (Math.imul(POW_31_4, hash) + Math.imul(POW_31_3, c0) + Math.imul(POW_31_2, c1) + Math.imul(31, c2) + c3) | 0;
  }
  for (; i < end; i++) {
    const c = b[i] as number;
    if (c >= 0x80) return extendJavaHashText(before, readUtf8(b, at, end));
    hash = (Math.imul(31, hash) + c) | 0;
  }
  return hash;
}

export function extendJavaHashText(before: number, text: string): number {
  let hash = before | 0;
  for (let i = 0; i < text.length; i++) hash = (Math.imul(31, hash) + text.charCodeAt(i)) | 0;
  return hash;
}

/** UTF-8 bytes [at, end) as text; a decoder cannot read shared memory, so such bytes are copied first. */
export function readUtf8(b: Uint8Array, at: number, end: number): string {
  if (Buffer.isBuffer(b)) return b.toString('utf8', at, end);
  const part = b.subarray(at, end);
  return utf8.decode(part.buffer instanceof SharedArrayBuffer ? new Uint8Array(part) : part);
}

export function equalBytes(a: Uint8Array, aAt: number, b: Uint8Array, bAt: number, size: number): boolean {
  for (let i = 0; i < size; i++) if (a[aAt + i] !== b[bAt + i]) return false;
  return true;
}

/** A Buffer over the same memory: its native methods (copy, utf8Write, …) also work on shared memory. */
export function asBuffer(b: Uint8Array): Buffer {
  return Buffer.isBuffer(b) ? b : Buffer.from(b.buffer, b.byteOffset, b.byteLength);
}
