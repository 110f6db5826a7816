// Where the fields of one header lie in its frame: they are located once, and read only when asked for, as text, number or bytes.
import { asBuffer } from '../base/bytes.ts';

/** How a value's bytes are to be read. */
export const FieldKinds = {
  /** UTF-8 as it stands. */
  plain: 0,
  /** The inside of a JSON string with escapes. */
  escaped: 1,
} as const;
export type FieldKind = (typeof FieldKinds)[keyof typeof FieldKinds];

//   per entry:  keyAt | keySize | valueAt | valueSize | kind
const KEY_AT = 0;
const KEY_SIZE = KEY_AT + 1;
const VALUE_AT = KEY_SIZE + 1;
const VALUE_SIZE = VALUE_AT + 1;
const KIND = VALUE_SIZE + 1;
const ENTRY_WORDS = KIND + 1;

const FIRST_COUNT = 32;
const DIGITS_MAX = 15;

/** Reused from header to header; its texts are valid as long as the frame's bytes are. */
export class FieldTable {
  #bytes: Buffer = Buffer.alloc(0);
  #words = new Int32Array(FIRST_COUNT * ENTRY_WORDS);
  #end = 0;
  /** In the binary form an empty value means that the field is absent. */
  #emptyIsAbsent = false;

  clear(bytes: Buffer, emptyIsAbsent: boolean): void {
    this.#bytes = bytes;
    this.#end = 0;
    this.#emptyIsAbsent = emptyIsAbsent;
  }

  add(keyAt: number, keySize: number, valueAt: number, valueSize: number, kind: FieldKind): void {
    const base = this.#end;
    if (base === this.#words.length) {
      const wider = new Int32Array(2 * base);
      wider.set(this.#words);
      this.#words = wider;
    }
    const words = this.#words;
    words[base + KEY_AT] = keyAt;
    words[base + KEY_SIZE] = keySize;
    words[base + VALUE_AT] = valueAt;
    words[base + VALUE_SIZE] = valueSize;
    words[base + KIND] = kind;
    this.#end = base + ENTRY_WORDS;
  }

  /** The entry of an ASCII name that counts, the last of its name; -1 where it is absent. */
  find(name: string): number {
    const words = this.#words;
    const bytes = this.#bytes;
    const size = name.length;
    const first = name.charCodeAt(0);
    for (let base = this.#end - ENTRY_WORDS; base >= 0; base -= ENTRY_WORDS) {
      if (words[base + KEY_SIZE] !== size) continue;
      const keyAt = words[base + KEY_AT] as number;
      if (bytes[keyAt] !== first) continue;
      let i = 1;
      while (i < size && bytes[keyAt + i] === name.charCodeAt(i)) i++;
      if (i >= size) return this.#emptyIsAbsent && words[base + VALUE_SIZE] === 0 ? -1 : base;
    }
    return -1;
  }

  text(entry: number): string {
    const at = this.#words[entry + VALUE_AT] as number;
    const end = at + (this.#words[entry + VALUE_SIZE] as number);
    if (this.#words[entry + KIND] === FieldKinds.plain) return this.#bytes.toString('utf8', at, end);
    return unescapedText(this.#bytes, at, end);
  }

  /** The same text, for values that come again and again, such as names: usually without making it anew. */
  name(entry: number): string {
    const size = this.#words[entry + VALUE_SIZE] as number;
    if (size > NAME_SIZE_MAX || this.#words[entry + KIND] !== FieldKinds.plain) return this.text(entry);
    return knownName(this.#bytes, this.#words[entry + VALUE_AT] as number, size);
  }

  /** The value as an integer of up to 15 digits, NaN for anything else; without making a text of it. */
  number(entry: number): number {
    const bytes = this.#bytes;
    let at = this.#words[entry + VALUE_AT] as number;
    const end = at + (this.#words[entry + VALUE_SIZE] as number);
    const negative = bytes[at] === 0x2d;
    if (negative) at++;
    if (at >= end || end - at > DIGITS_MAX) return Number.NaN;
    let value = 0;
    for (; at < end; at++) {
      const digit = (bytes[at] as number) - 0x30;
      if (digit < 0 || digit > 9) return Number.NaN;
      value = value * 10 + digit;
    }
    return negative ? 0 - value : value;
  }

  /** A bound on what `write` writes. */
  writtenSizeMax(entry: number): number {
    return this.#words[entry + VALUE_SIZE] as number;
  }

  /** Writes the value's UTF-8 without making a text of it; returns its end. There must be room for `writtenSizeMax`. */
  write(entry: number, out: Uint8Array, outAt: number): number {
    const at = this.#words[entry + VALUE_AT] as number;
    const size = this.#words[entry + VALUE_SIZE] as number;
    if (this.#words[entry + KIND] === FieldKinds.escaped) return writeUnescaped(this.#bytes, at, at + size, out, outAt);
    this.#bytes.copy(out, outAt, at, at + size);
    return outAt + size;
  }

  /** All entries that count, in order. */
  entries(): Map<string, string> {
    const found = new Map<string, string>();
    for (let entry = 0; entry < this.#end; entry += ENTRY_WORDS) {
      const keyAt = this.#words[entry + KEY_AT] as number;
      const keySize = this.#words[entry + KEY_SIZE] as number;
      if (keySize === 0 && this.#emptyIsAbsent) continue;
      const key = this.#bytes.toString('utf8', keyAt, keyAt + keySize);
      if (this.#emptyIsAbsent && this.#words[entry + VALUE_SIZE] === 0) found.delete(key);
      else found.set(key, this.text(entry));
    }
    return found;
  }
}

const NAME_SIZE_MAX = 64;
const NAME_SLOTS = 256;
const names: string[] = new Array<string>(NAME_SLOTS).fill('');
const nameBytes: Buffer[] = new Array<Buffer>(NAME_SLOTS).fill(Buffer.alloc(0));

/** Each slot keeps the last name that fell into it. */
function knownName(bytes: Buffer, at: number, size: number): string {
  let hash = size;
  for (let i = at; i < at + size; i++) hash = (Math.imul(hash, 31) + (bytes[i] as number)) | 0;
  const slot = (hash ^ (hash >>> 8) ^ (hash >>> 16)) & (NAME_SLOTS - 1);
  const known = nameBytes[slot] as Buffer;
  let same = known.length === size;
  for (let i = 0; same && i < size; i++) same = known[i] === bytes[at + i];
  if (!same) {
    names[slot] = bytes.toString('utf8', at, at + size);
    nameBytes[slot] = Buffer.from(bytes.subarray(at, at + size));
  }
  return names[slot] as string;
}

const SCRATCH_SIZE = 64 * 1024;
const scratch = Buffer.allocUnsafeSlow(SCRATCH_SIZE);

function unescapedText(bytes: Buffer, at: number, end: number): string {
  const room = end - at <= SCRATCH_SIZE ? scratch : Buffer.allocUnsafeSlow(end - at);
  return room.toString('utf8', 0, writeUnescaped(bytes, at, end, room, 0));
}

const LETTER_U = 0x75;
/** By the letter after the backslash; letters that stand for themselves are not here. */
const controls: Readonly<Record<number, number>> = { 98: 8, 102: 12, 110: 10, 114: 13, 116: 9 };

/** Writes the inside of a valid JSON string as UTF-8, which is never longer; returns its end. */
function writeUnescaped(bytes: Buffer, at: number, end: number, out: Uint8Array, outAt: number): number {
  const start = at;
  const outStart = outAt;
  while (at < end) {
    const c = bytes[at++] as number;
    if (c !== 0x5c) {
      out[outAt++] = c;
      continue;
    }
    const letter = bytes[at++] as number;
    if (letter !== LETTER_U) {
      out[outAt++] = controls[letter] ?? letter;
      continue;
    }
    const unit = hexUnit(bytes, at);
    if (unit > 0x7f) {
      // Beyond ASCII, also in pairs: rare enough for the engine's own reader.
      const text = JSON.parse(`"${bytes.toString('utf8', start, end)}"`) as string;
      return outStart + asBuffer(out).write(text, outStart, 'utf8');
    }
    out[outAt++] = unit;
    at += 4;
  }
  return outAt;
}

function hexUnit(bytes: Buffer, at: number): number {
  let unit = 0;
  for (let i = at; i < at + 4; i++) {
    const c = bytes[i] as number;
    unit = unit * 16 + (c <= 0x39 ? c - 0x30 : (c & 0x1f) + 9);
  }
  return unit;
}
