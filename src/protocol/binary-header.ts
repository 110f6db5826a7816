// The binary form of a frame's header: entries are located once and read only when asked for.
import { assert } from '../base/assert.ts';
import { readI32, readU16, readUtf8, writeI32, writeU16 } from '../base/bytes.ts';
import type { HeaderParts } from './header.ts';
import { BROKER_VERSION, languageCode } from './versions.ts';

//   0      2          3         5        9      13           17      17+R         21+R
//   +------+----------+---------+--------+------+------------+--------+-----------+---------------+
//   | code | language | version | opaque | flag | remarkSize | remark |  extSize  |  ext entries  |
//   | i16  |    i8    |   i16   |  i32   | i32  |   R, i32   |  UTF-8 |  E, i32   |               |
//   +------+----------+---------+--------+------+------------+--------+-----------+---------------+
//   entry:  keySize i16 | key | valueSize i32 | value          a zero-length text means: absent
export const CODE_AT = 0;
export const LANGUAGE_AT = CODE_AT + 2;
export const VERSION_AT = LANGUAGE_AT + 1;
export const OPAQUE_AT = VERSION_AT + 2;
export const FLAG_AT = OPAQUE_AT + 4;
export const REMARK_SIZE_AT = FLAG_AT + 4;
export const REMARK_AT = REMARK_SIZE_AT + 4;
const BINARY_HEADER_FIXED = REMARK_AT + 4;
assert(BINARY_HEADER_FIXED === 21);

const ENTRY_WORDS = 4;
const KEY_SIZE_MAX = 0x7fff;
const CODE_MAX = 0x7fff;

/** Where the entries of one header lie; reused from header to header. */
export class BinaryExt {
  #bytes: Buffer = Buffer.alloc(0);
  /** Per entry: keyAt, keySize, valueAt, valueSize. */
  #words = new Int32Array(32 * ENTRY_WORDS);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** Locates the entries in [at, end). */
  scan(bytes: Buffer, at: number, end: number): string | null {
    this.#bytes = bytes;
    this.#count = 0;
    while (at < end) {
      if (end - at < 2) return entryFault('key size', at, end);
      const keySize = readU16(bytes, at);
      const keyAt = at + 2;
      if (keySize > KEY_SIZE_MAX || keySize + 4 > end - keyAt) return entryFault('key', at, end);
      const valueAt = keyAt + keySize + 4;
      const valueSize = readI32(bytes, valueAt - 4);
      if (valueSize < 0 || valueSize > end - valueAt) return entryFault('value', at, end);
      this.#add(keyAt, keySize, valueAt, valueSize);
      at = valueAt + valueSize;
    }
    return null;
  }

  #add(keyAt: number, keySize: number, valueAt: number, valueSize: number): void {
    const base = this.#count * ENTRY_WORDS;
    if (base === this.#words.length) {
      const wider = new Int32Array(2 * base);
      wider.set(this.#words);
      this.#words = wider;
    }
    const words = this.#words;
    words[base] = keyAt;
    words[base + 1] = keySize;
    words[base + 2] = valueAt;
    words[base + 3] = valueSize;
    this.#count++;
  }

  /** The entry of an ASCII name that counts, the last of its name; -1 where it is absent or empty. */
  find(name: string): number {
    const words = this.#words;
    const bytes = this.#bytes;
    const size = name.length;
    for (let base = (this.#count - 1) * ENTRY_WORDS; base >= 0; base -= ENTRY_WORDS) {
      if (words[base + 1] !== size) continue;
      const keyAt = words[base] as number;
      let i = 0;
      while (i < size && bytes[keyAt + i] === name.charCodeAt(i)) i++;
      if (i === size) return words[base + 3] === 0 ? -1 : base / ENTRY_WORDS;
    }
    return -1;
  }

  valueAt(entry: number): number {
    return this.#words[entry * ENTRY_WORDS + 2] as number;
  }

  valueSize(entry: number): number {
    return this.#words[entry * ENTRY_WORDS + 3] as number;
  }

  text(entry: number): string {
    const at = this.valueAt(entry);
    return this.#bytes.toString('utf8', at, at + this.valueSize(entry));
  }

  /** The value as an integer of up to 15 digits, NaN for anything else; without making a text of it. */
  number(entry: number): number {
    const bytes = this.#bytes;
    let at = this.valueAt(entry);
    const end = at + this.valueSize(entry);
    const negative = bytes[at] === 0x2d;
    if (negative) at++;
    if (at === end || end - at > 15) return Number.NaN;
    let value = 0;
    for (; at < end; at++) {
      const digit = (bytes[at] as number) - 0x30;
      if (digit < 0 || digit > 9) return Number.NaN;
      value = value * 10 + digit;
    }
    return negative ? 0 - value : value;
  }

  /** All entries that count, in order. */
  entries(): Map<string, string> {
    const found = new Map<string, string>();
    for (let base = 0; base < this.#count * ENTRY_WORDS; base += ENTRY_WORDS) {
      const keyAt = this.#words[base] as number;
      const keySize = this.#words[base + 1] as number;
      if (keySize === 0) continue;
      const key = readUtf8(this.#bytes, keyAt, keyAt + keySize);
      const entry = base / ENTRY_WORDS;
      if (this.valueSize(entry) === 0) found.delete(key);
      else found.set(key, this.text(entry));
    }
    return found;
  }
}

function entryFault(what: string, at: number, end: number): string {
  return `${what} of an entry of the binary header overruns it bytesLeft=${end - at}`;
}

/** What `readBinaryHeader` fills. */
export interface BinaryHeaderTarget {
  code: number;
  language: string | number;
  version: number;
  opaque: number;
  flag: number;
  remark: string | undefined;
  readonly binaryExt: BinaryExt;
}

export function readBinaryHeader(bytes: Buffer, at: number, size: number, into: BinaryHeaderTarget): string | null {
  if (size < BINARY_HEADER_FIXED) return `binary header is too short size=${size} min=${BINARY_HEADER_FIXED}`;
  const end = at + size;
  into.code = (readU16(bytes, at + CODE_AT) << 16) >> 16;
  into.language = ((bytes[at + LANGUAGE_AT] as number) << 24) >> 24;
  into.version = (readU16(bytes, at + VERSION_AT) << 16) >> 16;
  into.opaque = readI32(bytes, at + OPAQUE_AT);
  into.flag = readI32(bytes, at + FLAG_AT);
  const remarkSize = readI32(bytes, at + REMARK_SIZE_AT);
  if (remarkSize < 0 || remarkSize > size - BINARY_HEADER_FIXED) {
    return `remark overruns the binary header remarkSize=${remarkSize} max=${size - BINARY_HEADER_FIXED}`;
  }
  const remarkAt = at + REMARK_AT;
  into.remark = remarkSize === 0 ? undefined : readUtf8(bytes, remarkAt, remarkAt + remarkSize);
  const extAt = remarkAt + remarkSize + 4;
  const extSize = readI32(bytes, extAt - 4);
  if (extSize < 0 || extSize > end - extAt) return `extFields overrun the binary header extSize=${extSize} max=${end - extAt}`;
  return into.binaryExt.scan(bytes, extAt, extAt + extSize);
}

/** The binary header, or undefined where this form cannot say it (codes of the POP family, for one). */
export function binaryHeaderBytes(parts: HeaderParts): Buffer | undefined {
  const { code, ext } = parts;
  const version = parts.version ?? BROKER_VERSION;
  if (code > CODE_MAX || code < -CODE_MAX - 1 || version > CODE_MAX) return undefined;
  const remark = Buffer.from(parts.remark ?? '');
  const chunks: Buffer[] = [];
  let extSize = 0;
  for (const [name, value] of Object.entries(ext ?? {})) {
    const key = Buffer.from(name);
    if (key.length > KEY_SIZE_MAX) return undefined;
    const text = Buffer.from(String(value));
    const sizes = Buffer.alloc(6);
    writeU16(sizes, 0, key.length);
    writeI32(sizes, 2, text.length);
    chunks.push(sizes.subarray(0, 2), key, sizes.subarray(2), text);
    extSize += 6 + key.length + text.length;
  }
  const out = Buffer.alloc(BINARY_HEADER_FIXED + remark.length + extSize);
  writeU16(out, CODE_AT, code);
  out[LANGUAGE_AT] = languageCode(parts.language ?? 'JAVA');
  writeU16(out, VERSION_AT, version);
  writeI32(out, OPAQUE_AT, parts.opaque);
  writeI32(out, FLAG_AT, parts.flag);
  writeI32(out, REMARK_SIZE_AT, remark.length);
  remark.copy(out, REMARK_AT);
  let at = REMARK_AT + remark.length;
  writeI32(out, at, extSize);
  at += 4;
  for (const chunk of chunks) at += chunk.copy(out, at);
  return out;
}
