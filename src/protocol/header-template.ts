// A header that came before, kept as bytes with the places of what varies: most headers of a client are the same but for a few values.
import { equalWords, packWords, viewBelow } from '../base/views.ts';
import { OPAQUE_AT, REMARK_AT, REMARK_SIZE_AT, readBinaryHeader } from './binary-header.ts';
import { ENTRY_WORDS, FieldSources, FieldTable } from './field-table.ts';
import { type HeaderCodec, HeaderCodecs } from './frame.ts';
import { plainEnd, stoppedAt, unescapeView } from './json-escapes.ts';
import { scanJsonHeader } from './json-scan.ts';

//   header:  | as before | varies | as before | varies | ... | as before |
//   A stretch that is as before is compared, four bytes at a time; what varies is read as the general readers would:
const Kinds = {
  /** A JSON integer: the opaque. */
  opaqueDigits: 0,
  opaqueWord: 1,
  /** Binary: size of all fields, which must reach to the end. */
  extSize: 2,
  /** Binary: size and value. */
  sized: 3,
  /** JSON: the inside of a string, up to its closing quote. */
  quoted: 4,
  /** JSON: an integer that is a field's value. */
  bare: 5,
  end: 6,
} as const;

interface Varying {
  readonly at: number;
  readonly size: number;
  readonly kind: number;
  readonly entry: number;
}

//   per step:  first word of a stretch | its size in bytes | kind of what follows | its entry
const STEP_WORDS = 4;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;

/** Where values go that had escapes; as long as the longest header. */
export class Scratch {
  readonly bytes: Buffer;
  readonly view: DataView;

  constructor(size: number) {
    this.bytes = Buffer.allocUnsafeSlow(size);
    this.view = new DataView(this.bytes.buffer);
  }
}

export class HeaderTemplate {
  code = 0;
  language: string | number = '';
  version = 0;
  opaque = 0;
  flag = 0;
  remark: string | undefined = undefined;
  readonly table = new FieldTable();
  /** Where the opaque stood in the JSON header read last. */
  opaqueAt = -1;
  /** Entries whose values vary. */
  readonly varying: ReadonlySet<number>;
  readonly bytes: Buffer;
  #steps = new Int32Array(0);
  #words = new Int32Array(0);

  constructor(bytes: Buffer, varying: ReadonlySet<number>) {
    this.bytes = bytes;
    this.varying = varying;
  }

  /** False where this header is too unusual to be a template. */
  prepare(codec: HeaderCodec): boolean {
    const { bytes, table } = this;
    const isBinary = codec === HeaderCodecs.binary;
    const isRead = isBinary ? readBinaryHeader(bytes, 0, bytes.length, this) === null : scanJsonHeader(bytes, 0, bytes.length, this);
    if (!isRead) return false;
    const parts = isBinary ? binaryParts(bytes) : opaqueDigits(bytes, this.opaqueAt);
    if (parts === null) return false;
    for (const entry of this.varying) {
      const at = table.valueAt(entry);
      const size = table.valueSize(entry);
      if (isBinary) parts.push({ at: at - 4, size: size + 4, kind: Kinds.sized, entry });
      else parts.push({ at, size, kind: bytes[at - 1] === QUOTE ? Kinds.quoted : Kinds.bare, entry });
    }
    parts.push({ at: bytes.length, size: 0, kind: Kinds.end, entry: -1 });
    parts.sort((a, b) => a.at - b.at);
    const view = viewBelow(bytes);
    const steps: number[] = [];
    const words: number[] = [];
    let at = 0;
    for (const part of parts) {
      steps.push(words.length, part.at - at, part.kind, part.entry);
      words.push(...packWords(view, bytes.byteOffset + at, part.at - at));
      at = part.at + part.size;
    }
    this.#steps = Int32Array.from(steps);
    this.#words = Int32Array.from(words);
    table.keep(this.varying);
    return true;
  }

  /** Whether the header in [at, end) is one of these; `opaque` and `table` are then its own. */
  match(bytes: Buffer, at: number, end: number, scratch: Scratch): boolean {
    const { table } = this;
    const view = viewBelow(bytes);
    const base = bytes.byteOffset;
    const limit = base + end;
    const steps = this.#steps;
    const words = this.#words;
    table.setSource(FieldSources.frame, bytes);
    table.setSource(FieldSources.scratch, scratch.bytes);
    scratchUsed = 0;
    let i = base + at;
    for (let step = 0; step < steps.length; step += STEP_WORDS) {
      const size = steps[step + 1] as number;
      if (size > limit - i || !equalWords(view, i, size, words, steps[step] as number)) return false;
      i = this.#read(steps[step + 2] as number, steps[step + 3] as number, view, i + size, limit, base, scratch);
      if (i < 0) return false;
    }
    return true;
  }

  /** Reads what varies at `i`; returns its end, -1 where it is not as it should be. */
  #read(kind: number, entry: number, view: DataView, i: number, limit: number, base: number, scratch: Scratch): number {
    switch (kind) {
      case Kinds.quoted:
        return this.#readQuoted(entry, view, i, limit, base, scratch);
      case Kinds.opaqueDigits: {
        const next = integerEnd(view, i, limit);
        // Digits beyond these cannot be an int32, and fewer are exact.
        if (next - i > INT32_SIZE_MAX || (integer | 0) !== integer) return -1;
        this.opaque = integer;
        return next;
      }
      case Kinds.bare: {
        const next = integerEnd(view, i, limit);
        if (next >= 0) this.table.point(entry, FieldSources.frame, i - base, next - i);
        return next;
      }
    }
    if (kind === Kinds.end) return i === limit ? i : -1;
    if (limit - i < 4) return -1;
    const word = view.getInt32(i);
    const next = i + 4;
    if (kind === Kinds.opaqueWord) {
      this.opaque = word;
      return next;
    }
    if (kind === Kinds.extSize) return word === limit - next ? next : -1;
    // An empty value would be an absent one.
    if (word <= 0 || word > limit - next) return -1;
    this.table.point(entry, FieldSources.frame, next - base, word);
    return next + word;
  }

  #readQuoted(entry: number, view: DataView, i: number, limit: number, base: number, scratch: Scratch): number {
    const next = plainEnd(view, i, limit);
    if (next === limit) return -1;
    const c = view.getUint8(next);
    if (c === QUOTE) {
      this.table.point(entry, FieldSources.frame, i - base, next - i);
      return next;
    }
    if (c !== BACKSLASH) return -1;
    const at = scratchUsed;
    scratchUsed = unescapeView(view, i, limit, scratch.view, at);
    if (scratchUsed < 0) return -1;
    this.table.point(entry, FieldSources.scratch, at, scratchUsed - at);
    return stoppedAt;
  }
}

/** Of the header being matched; headers are matched one at a time. */
let scratchUsed = 0;

const INT32_SIZE_MAX = 11;
/** The integer that `integerEnd` read; not exact where it is a long one. */
let integer = 0;

/** The end of a JSON integer; -1 where there is none. */
function integerEnd(view: DataView, at: number, limit: number): number {
  const negative = at < limit && view.getUint8(at) === MINUS;
  const start = negative ? at + 1 : at;
  let value = 0;
  let i = start;
  for (; i < limit; i++) {
    const digit = view.getUint8(i) - 0x30;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
  }
  // A zero with company is no number, and -0 is written 0.
  if (i === start || (view.getUint8(start) === 0x30 && (i - start > 1 || negative))) return -1;
  integer = negative ? 0 - value : value;
  return i;
}

/** Opaque and size of the fields; null where the fields do not reach to the end. */
function binaryParts(bytes: Buffer): Varying[] | null {
  const extSizeAt = REMARK_AT + bytes.readInt32BE(REMARK_SIZE_AT);
  if (bytes.readInt32BE(extSizeAt) !== bytes.length - extSizeAt - 4) return null;
  return [
    { at: OPAQUE_AT, size: 4, kind: Kinds.opaqueWord, entry: -1 },
    { at: extSizeAt, size: 4, kind: Kinds.extSize, entry: -1 },
  ];
}

function opaqueDigits(bytes: Buffer, at: number): Varying[] | null {
  if (at < 0) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return [{ at, size: integerEnd(view, at, bytes.length) - at, kind: Kinds.opaqueDigits, entry: -1 }];
}

/** A template of this header that also fits those of `old`: what differs between the two varies. Null where their forms differ. */
export function joinedTemplate(bytes: Buffer, codec: HeaderCodec, old: HeaderTemplate, scratch: Scratch): HeaderTemplate | null {
  const fresh = new HeaderTemplate(bytes, new Set());
  if (!fresh.prepare(codec) || fresh.table.end !== old.table.end) return null;
  const again = new HeaderTemplate(old.bytes, new Set());
  if (!again.prepare(codec)) return null;
  const varying = new Set(old.varying);
  for (let entry = 0; entry < fresh.table.end; entry += ENTRY_WORDS) {
    if (fresh.table.text(entry) !== again.table.text(entry)) varying.add(entry);
  }
  const joined = new HeaderTemplate(bytes, varying);
  return joined.prepare(codec) && joined.match(old.bytes, 0, old.bytes.length, scratch) ? joined : null;
}
