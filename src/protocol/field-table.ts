// Where the fields of one header lie in its frame: they are located once, and read only when asked for, as text, number or bytes.
import { assert } from '../base/assert.ts';
import { ALL_FIELDS, type FieldName, type FieldPlan, PLANNED_COUNT_MAX } from './field-plan.ts';
import { unescapedText, writeUnescaped } from './json-escapes.ts';

/** How a value's bytes are to be read. */
export const FieldKinds = {
  /** UTF-8 as it stands. */
  plain: 0,
  /** The inside of a JSON string with escapes. */
  escaped: 1,
} as const;
export type FieldKind = (typeof FieldKinds)[keyof typeof FieldKinds];

/** Where a value's bytes lie: with the keys; of a template (see `HeaderTemplate`) in one of two places for what varies, or kept apart. */
export const FieldSources = { own: 0, frame: 1, scratch: 2, kept: 3 } as const;
export type FieldSource = (typeof FieldSources)[keyof typeof FieldSources];

//   per entry:  keyAt | keySize | valueAt | valueSize | kind | source | constant | -
const KEY_AT = 0;
const KEY_SIZE = KEY_AT + 1;
const VALUE_AT = KEY_SIZE + 1;
const VALUE_SIZE = VALUE_AT + 1;
const KIND = VALUE_SIZE + 1;
const SOURCE = KIND + 1;
const CONSTANT = SOURCE + 1;
const ENTRY_SHIFT = 3;
export const ENTRY_WORDS = 1 << ENTRY_SHIFT;
assert(CONSTANT < ENTRY_WORDS, 'field table layout');

const FIRST_COUNT = 32;
const DIGITS_MAX = 15;
const nothing = Buffer.alloc(0);

/** Reused from header to header; its texts are valid as long as the frame's bytes are. */
export class FieldTable {
  readonly #sources: Buffer[] = [nothing, nothing, nothing, nothing];
  #words = new Int32Array(FIRST_COUNT * ENTRY_WORDS);
  #end = 0;
  /** In the binary form an empty value means that the field is absent. */
  #emptyIsAbsent = false;
  /** Entries of the fields of this plan. */
  #plan: FieldPlan | null = null;
  readonly #planned = new Int32Array(PLANNED_COUNT_MAX);
  #varying = 0;
  /** Values of constant entries. */
  #numbers: readonly number[] = [];
  #names: readonly string[] = [];

  clear(bytes: Buffer, emptyIsAbsent: boolean): void {
    this.#sources[FieldSources.own] = bytes;
    this.#end = 0;
    this.#emptyIsAbsent = emptyIsAbsent;
    this.#plan = null;
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
    words[base + SOURCE] = FieldSources.own;
    words[base + CONSTANT] = 0;
    this.#end = base + ENTRY_WORDS;
  }

  /** Entries are 0, ENTRY_WORDS, … up to here. */
  get end(): number {
    return this.#end;
  }

  valueAt(entry: number): number {
    return this.#words[entry + VALUE_AT] as number;
  }

  valueSize(entry: number): number {
    return this.#words[entry + VALUE_SIZE] as number;
  }

  /** From now on all values stay as they are, but for those that `point` moves: they are read once and for all. */
  keep(varying: ReadonlySet<number>): void {
    const numbers: number[] = [];
    const names: string[] = [];
    const unescaped: Buffer[] = [];
    let unescapedSize = 0;
    for (let entry = 0; entry < this.#end; entry += ENTRY_WORDS) {
      const isConstant = !varying.has(entry);
      numbers.push(isConstant ? this.number(entry) : Number.NaN);
      names.push(isConstant ? this.name(entry) : '');
      this.#words[entry + CONSTANT] = isConstant ? 1 : 0;
      if (!isConstant || this.isPlain(entry)) continue;
      const bytes = Buffer.from(this.text(entry));
      this.point(entry, FieldSources.kept, unescapedSize, bytes.length);
      unescaped.push(bytes);
      unescapedSize += bytes.length;
    }
    this.#sources[FieldSources.kept] = Buffer.concat(unescaped);
    this.#numbers = numbers;
    this.#names = names;
  }

  setSource(source: FieldSource, bytes: Buffer): void {
    this.#sources[source] = bytes;
  }

  /** A value's bytes lie here, as they stand. */
  point(entry: number, source: FieldSource, at: number, size: number): void {
    const words = this.#words;
    words[entry + VALUE_AT] = at;
    words[entry + VALUE_SIZE] = size;
    words[entry + KIND] = FieldKinds.plain;
    words[entry + SOURCE] = source;
  }

  /** By place in the plan, a bit for each field that may differ in the next header of this table. */
  varying(plan: FieldPlan): number {
    if (this.#numbers.length === 0) return ALL_FIELDS;
    if (this.#plan !== plan) this.#locate(plan);
    return this.#varying;
  }

  /** The entry of a field that counts, the last of its name; -1 where it is absent. */
  find(field: FieldName): number {
    if (typeof field === 'string') return this.#search(field);
    if (this.#plan !== field.plan) this.#locate(field.plan);
    return this.#planned[field.index] as number;
  }

  #locate(plan: FieldPlan): void {
    const { names } = plan;
    assert(names.length <= PLANNED_COUNT_MAX, 'few fields');
    this.#varying = 0;
    for (let i = 0; i < names.length; i++) {
      const entry = this.#search(names[i] as string);
      this.#planned[i] = entry;
      if (entry >= 0 && this.#words[entry + CONSTANT] === 0) this.#varying |= 1 << i;
    }
    this.#plan = plan;
  }

  #search(name: string): number {
    const words = this.#words;
    const bytes = this.#sources[FieldSources.own] as Buffer;
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

  /** The array in which the value's bytes lie, at `valueAt`. */
  source(entry: number): Buffer {
    return this.#sources[this.#words[entry + SOURCE] as number] as Buffer;
  }

  isPlain(entry: number): boolean {
    return this.#words[entry + KIND] === FieldKinds.plain;
  }

  text(entry: number): string {
    const at = this.#words[entry + VALUE_AT] as number;
    const end = at + (this.#words[entry + VALUE_SIZE] as number);
    return this.isPlain(entry) ? this.source(entry).toString('utf8', at, end) : unescapedText(this.source(entry), at, end);
  }

  /** The same text, for values that come again and again, such as names: usually without making it anew. */
  name(entry: number): string {
    if (this.#words[entry + CONSTANT] === 1) return this.#names[entry >> ENTRY_SHIFT] as string;
    const size = this.#words[entry + VALUE_SIZE] as number;
    if (size > NAME_SIZE_MAX || !this.isPlain(entry)) return this.text(entry);
    return knownName(this.source(entry), this.#words[entry + VALUE_AT] as number, size);
  }

  /** The value as an integer of up to 15 digits, NaN for anything else; without making a text of it. */
  number(entry: number): number {
    if (this.#words[entry + CONSTANT] === 1) return this.#numbers[entry >> ENTRY_SHIFT] as number;
    const bytes = this.source(entry);
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
    if (!this.isPlain(entry)) return writeUnescaped(this.source(entry), at, at + size, out, outAt);
    this.source(entry).copy(out, outAt, at, at + size);
    return outAt + size;
  }

  /** All entries that count, in order. */
  entries(): Map<string, string> {
    const found = new Map<string, string>();
    const bytes = this.#sources[FieldSources.own] as Buffer;
    for (let entry = 0; entry < this.#end; entry += ENTRY_WORDS) {
      const keyAt = this.#words[entry + KEY_AT] as number;
      const keySize = this.#words[entry + KEY_SIZE] as number;
      if (keySize === 0 && this.#emptyIsAbsent) continue;
      const key = bytes.toString('utf8', keyAt, keyAt + keySize);
      if (this.#emptyIsAbsent && this.#words[entry + VALUE_SIZE] === 0) found.delete(key);
      else found.set(key, this.text(entry));
    }
    return found;
  }
}

const NAME_SIZE_MAX = 64;
const NAME_SLOTS = 4096;
const names: string[] = new Array<string>(NAME_SLOTS).fill('');
const nameBytes: Buffer[] = new Array<Buffer>(NAME_SLOTS).fill(Buffer.alloc(0));

/** Each slot keeps the last name that fell into it; a name has two, so that one other does not drive it out each time. */
function knownName(bytes: Buffer, at: number, size: number): string {
  let hash = size;
  for (let i = at; i < at + size; i++) hash = (Math.imul(hash, 31) + (bytes[i] as number)) | 0;
  const slot = (hash ^ (hash >>> 8) ^ (hash >>> 16)) & (NAME_SLOTS - 1);
  if (isKnown(slot, bytes, at, size)) return names[slot] as string;
  const other = slot ^ 1;
  if (isKnown(other, bytes, at, size)) return names[other] as string;
  names[other] = names[slot] as string;
  nameBytes[other] = nameBytes[slot] as Buffer;
  names[slot] = bytes.toString('utf8', at, at + size);
  nameBytes[slot] = Buffer.from(bytes.subarray(at, at + size));
  return names[slot] as string;
}

function isKnown(slot: number, bytes: Buffer, at: number, size: number): boolean {
  const known = nameBytes[slot] as Buffer;
  if (known.length !== size) return false;
  for (let i = 0; i < size; i++) if (known[i] !== bytes[at + i]) return false;
  return true;
}
