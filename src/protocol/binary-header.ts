// The binary form of a frame's header: entries are located once and read only when asked for.
import { assert } from '../base/assert.ts';
import { readI32, readU16, readUtf8, writeI32, writeU16 } from '../base/bytes.ts';
import { FieldKinds, type FieldTable } from './field-table.ts';
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

const KEY_SIZE_MAX = 0x7fff;
const CODE_MAX = 0x7fff;

/** Locates the entries in [at, end). */
function scanEntries(bytes: Buffer, at: number, end: number, table: FieldTable): string | null {
  table.clear(bytes, true);
  while (at < end) {
    if (end - at < 2) return entryFault('key size', at, end);
    const keySize = readU16(bytes, at);
    const keyAt = at + 2;
    if (keySize > KEY_SIZE_MAX || keySize + 4 > end - keyAt) return entryFault('key', at, end);
    const valueAt = keyAt + keySize + 4;
    const valueSize = readI32(bytes, valueAt - 4);
    if (valueSize < 0 || valueSize > end - valueAt) return entryFault('value', at, end);
    table.add(keyAt, keySize, valueAt, valueSize, FieldKinds.plain);
    at = valueAt + valueSize;
  }
  return null;
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
  readonly table: FieldTable;
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
  return scanEntries(bytes, extAt, extAt + extSize, into.table);
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
