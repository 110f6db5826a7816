// Reads the JSON headers that stock clients write without JSON.parse: one pass over the bytes, no object, no text. Anything unusual
// (blanks, escaped keys, nested values, unknown members) is left to the general reader, which alone says what is wrong.
import { FieldKinds, type FieldTable } from './field-table.ts';

/** What `scanJsonHeader` fills; worthless where it returns false. */
export interface ScanTarget {
  code: number;
  language: string | number;
  version: number;
  opaque: number;
  flag: number;
  remark: string | undefined;
  /** Where the opaque stands; -1 where there is none. */
  opaqueAt: number;
  readonly table: FieldTable;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const LETTER_U = 0x75;

const latin = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'latin1'));
const members = ['code', 'flag', 'opaque', 'version', 'language', 'remark', 'extFields', 'serializeTypeCurrentRPC'].map(latin);
const [CODE, FLAG, OPAQUE, VERSION, LANGUAGE, REMARK, EXT, TYPE] = [0, 1, 2, 3, 4, 5, 6, 7] as const;
const languages = ['JAVA', 'GO', 'CPP', 'NODE_JS'];
const languageBytes = languages.map(latin);
const isEscapeLetter = new Uint8Array(256);
for (const letter of latin('"\\/bfnrt')) isEscapeLetter[letter] = 1;

/** The place in the header being read; -1 once it turned out unusual. Headers are read one at a time. */
let at = 0;
let bytes: Buffer = Buffer.alloc(0);
let end = 0;
let sawEscape = false;

export function scanJsonHeader(source: Buffer, headerAt: number, size: number, into: ScanTarget): boolean {
  bytes = source;
  at = headerAt;
  end = headerAt + size;
  into.table.clear(source, false);
  into.version = into.opaque = into.flag = 0;
  into.language = '';
  into.remark = undefined;
  into.opaqueAt = -1;
  if (bytes[at++] !== OPEN) return false;
  let seen = 0;
  while (true) {
    const member = scanMember();
    if (member < 0 || (seen & (1 << member)) !== 0) return false;
    seen |= 1 << member;
    if (!scanValue(member, into)) return false;
    const next = bytes[at++];
    if (next === COMMA) continue;
    return next === CLOSE && at === end && (seen & (1 << CODE)) !== 0;
  }
}

/** `"name":` of a known member; -1 for anything else. */
function scanMember(): number {
  const source = bytes;
  const nameAt = at + 1;
  if (source[at] !== QUOTE) return -1;
  for (let member = 0; member < members.length; member++) {
    const name = members[member] as Uint8Array;
    const close = nameAt + name.length;
    if (source[close] !== QUOTE || source[nameAt] !== name[0]) continue;
    let i = 1;
    while (i < name.length && source[nameAt + i] === name[i]) i++;
    if (i < name.length || source[close + 1] !== COLON) continue;
    at = close + 2;
    return member;
  }
  return -1;
}

function scanValue(member: number, into: ScanTarget): boolean {
  switch (member) {
    case CODE:
      into.code = scanInt32();
      return at > 0;
    case FLAG:
      into.flag = scanInt32();
      return at > 0;
    case OPAQUE:
      into.opaqueAt = at;
      into.opaque = scanInt32();
      return at > 0;
    case VERSION:
      into.version = scanInt32();
      return at > 0;
    case LANGUAGE:
      return scanLanguage(into);
    case EXT:
      return scanExt(into.table);
    default:
      return scanTextMember(member, into);
  }
}

/** Sets `at` to -1 where there is no plain int32. */
function scanInt32(): number {
  const negative = bytes[at] === MINUS;
  if (negative) at++;
  const start = at;
  let value = 0;
  while (at < end) {
    const digit = (bytes[at] as number) - 0x30;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
    at++;
  }
  if (negative) value = 0 - value;
  const leadingZero = bytes[start] === 0x30 && (at - start > 1 || negative);
  if (at === start || at - start > 10 || (value | 0) !== value || leadingZero) at = -1;
  return value;
}

function scanLanguage(into: ScanTarget): boolean {
  const start = at + 1;
  if (bytes[at] !== QUOTE || !scanString() || sawEscape) return false;
  const size = at - 1 - start;
  for (let i = 0; i < languageBytes.length; i++) {
    const name = languageBytes[i] as Uint8Array;
    if (name.length === size && equals(name, start)) {
      into.language = languages[i] as string;
      return true;
    }
  }
  into.language = bytes.toString('utf8', start, at - 1);
  return true;
}

function equals(name: Uint8Array, start: number): boolean {
  for (let i = 0; i < name.length; i++) if (bytes[start + i] !== name[i]) return false;
  return true;
}

function scanTextMember(member: number, into: ScanTarget): boolean {
  const start = at + 1;
  if (bytes[at] !== QUOTE || !scanString() || sawEscape) return false;
  if (member === REMARK) into.remark = bytes.toString('utf8', start, at - 1);
  return member === REMARK || member === TYPE;
}

/** A string from its opening quote to behind its closing one; false where it is not valid JSON. */
function scanString(): boolean {
  const source = bytes;
  const limit = end;
  let i = at + 1;
  while (i < limit) {
    const c = source[i++] as number;
    if (c > BACKSLASH || (c > QUOTE && c < BACKSLASH) || c === 0x20 || c === 0x21) continue;
    if (c === QUOTE) {
      sawEscape = false;
      at = i;
      return true;
    }
    return c === BACKSLASH && scanEscaped(source, i - 1, limit);
  }
  return false;
}

/** The rest of a string from its first backslash on. */
function scanEscaped(source: Buffer, i: number, limit: number): boolean {
  while (i < limit) {
    const c = source[i++] as number;
    if (c === QUOTE) {
      sawEscape = true;
      at = i;
      return true;
    }
    if (c < 0x20) return false;
    if (c !== BACKSLASH) continue;
    const letter = source[i++] as number;
    if (letter === LETTER_U) {
      if (!isHex(source[i]) || !isHex(source[i + 1]) || !isHex(source[i + 2]) || !isHex(source[i + 3])) return false;
      i += 4;
    } else if (isEscapeLetter[letter] !== 1) return false;
  }
  return false;
}

function isHex(c: number | undefined): boolean {
  return c !== undefined && ((c >= 0x30 && c <= 0x39) || ((c | 0x20) >= 0x61 && (c | 0x20) <= 0x66));
}

function scanExt(table: FieldTable): boolean {
  const source = bytes;
  if (source[at++] !== OPEN) return false;
  if (source[at] === CLOSE) {
    at++;
    return true;
  }
  while (true) {
    const keyAt = at + 1;
    if (source[at] !== QUOTE || !scanString() || sawEscape) return false;
    const keySize = at - 1 - keyAt;
    if (source[at++] !== COLON) return false;
    const quoted = source[at] === QUOTE ? 1 : 0;
    const valueAt = at + quoted;
    if (quoted === 1 ? !scanString() : !scanWord()) return false;
    const kind = quoted === 1 && sawEscape ? FieldKinds.escaped : FieldKinds.plain;
    table.add(keyAt, keySize, valueAt, at - quoted - valueAt, kind);
    const next = source[at++];
    if (next === CLOSE) return true;
    if (next !== COMMA) return false;
  }
}

const wordTrue = latin('true');
const wordFalse = latin('false');

/** An integer, true or false, bare: its text is what it stands for. */
function scanWord(): boolean {
  const c = bytes[at] as number;
  if (c === 0x74 || c === 0x66) {
    const word = c === 0x74 ? wordTrue : wordFalse;
    if (!equals(word, at)) return false;
    at += word.length;
    return true;
  }
  const start = c === MINUS ? at + 1 : at;
  let i = start;
  while (i < end && (bytes[i] as number) >= 0x30 && (bytes[i] as number) <= 0x39) i++;
  // A zero with company is no number, and -0 is written 0.
  if (i === start || (bytes[start] === 0x30 && (i - start > 1 || start > at))) return false;
  at = i;
  return true;
}
