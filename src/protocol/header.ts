// A frame's header as the rest of the broker sees it, whichever of the two forms it came in; one object serves all frames.
import { writeI32 } from '../base/bytes.ts';
import { binaryHeaderBytes, readBinaryHeader } from './binary-header.ts';
import { ALL_FIELDS, type FieldName, type FieldPlan, nameOf } from './field-plan.ts';
import { FieldTable } from './field-table.ts';
import { HEADER_AT, type HeaderCodec, HeaderCodecs } from './frame.ts';
import { HeaderTemplates } from './header-templates.ts';
import { type ExtObject, exactExt, jsonHeaderText, readJsonHeader, valueText } from './json-header.ts';
import { scanJsonHeader } from './json-scan.ts';
import { BROKER_VERSION } from './versions.ts';

export const RESPONSE_FLAG = 1;
export const ONEWAY_FLAG = 2;

/** Fields of a command on their way out; all values travel as text. */
export type ExtFields = Record<string, string | number | boolean>;

/** Bytes of a frame, valid as long as the frame's are. */
export interface FieldSpan {
  bytes: Buffer;
  at: number;
  size: number;
}

export class Header {
  code = 0;
  /** As sent: a name in JSON, a number in the binary form; '' where there was none. */
  language: string | number = '';
  version = 0;
  opaque = 0;
  flag = 0;
  remark: string | undefined = undefined;
  codec: HeaderCodec = HeaderCodecs.json;
  /** Where an ext was not read with JSON.parse: its fields; the header's own table or that of a template. */
  table = new FieldTable();
  readonly #ownTable = this.table;
  readonly #templates: HeaderTemplates;
  opaqueAt = -1;
  /** Fields of an unusual JSON header; null where `table` has them. */
  #jsonExt: ExtObject | null = null;
  #jsonText = '';

  /** @param home where most headers lie, see HeaderTemplates. */
  constructor(home: Buffer | null = null) {
    this.#templates = new HeaderTemplates(home);
  }

  get isResponse(): boolean {
    return (this.flag & RESPONSE_FLAG) !== 0;
  }

  get isOneway(): boolean {
    return (this.flag & ONEWAY_FLAG) !== 0;
  }

  /** The text of a field with an ASCII name; valid as long as the frame's bytes are. */
  field(field: FieldName): string | undefined {
    const ext = this.#jsonExt;
    if (ext === null) {
      const entry = this.table.find(field);
      return entry < 0 ? undefined : this.table.text(entry);
    }
    const name = nameOf(field);
    const value = ext[name];
    if (typeof value === 'string') return value;
    if (value === undefined || value === null || !Object.hasOwn(ext, name)) return undefined;
    if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) return this.#exact(name);
    return valueText(value);
  }

  /** `field` for values that come again and again, such as topics and groups; '' where it is absent. */
  name(field: FieldName): string {
    if (this.#jsonExt !== null) return this.field(field) ?? '';
    const entry = this.table.find(field);
    return entry < 0 ? '' : this.table.name(entry);
  }

  /** A field as a safe integer; NaN where it is absent, has more than 15 digits or is anything else. */
  number(field: FieldName): number {
    const ext = this.#jsonExt;
    if (ext === null) {
      const entry = this.table.find(field);
      return entry < 0 ? Number.NaN : this.table.number(entry);
    }
    const value = ext[nameOf(field)];
    if (typeof value === 'string') return integerOf(value);
    return typeof value === 'number' && Number.isSafeInteger(value) ? value : Number.NaN;
  }

  /** A bound on the bytes that `writeField` writes; 0 where the field is absent. */
  fieldSizeMax(field: FieldName): number {
    if (this.#jsonExt !== null) return Buffer.byteLength(this.field(field) ?? '');
    const entry = this.table.find(field);
    return entry < 0 ? 0 : this.table.writtenSizeMax(entry);
  }

  /** Writes a field as UTF-8, on the usual ways without making a text of it; returns its end, `at` where it is absent. */
  writeField(field: FieldName, out: Buffer, at: number): number {
    if (this.#jsonExt !== null) return at + out.write(this.field(field) ?? '', at, 'utf8');
    const entry = this.table.find(field);
    return entry < 0 ? at : this.table.write(entry, out, at);
  }

  /** The fields of a plan that may differ from those of a header that had the table `before`; all where it is not known. */
  changedFields(plan: FieldPlan, before: FieldTable | null): number {
    return this.table === before && this.#jsonExt === null ? before.varying(plan) : ALL_FIELDS;
  }

  /** Where a field's UTF-8 lies; false where it lies nowhere as it stands, and `writeField` has to make it. */
  findField(field: FieldName, into: FieldSpan): boolean {
    if (this.#jsonExt !== null) return false;
    const entry = this.table.find(field);
    if (entry < 0) {
      into.size = 0;
      return true;
    }
    if (!this.table.isPlain(entry)) return false;
    into.bytes = this.table.source(entry);
    into.at = this.table.valueAt(entry);
    into.size = this.table.valueSize(entry);
    return true;
  }

  /** All fields, in the order in which they were sent. */
  fields(): Record<string, string> {
    if (this.#jsonExt === null) return Object.fromEntries(this.table.entries());
    const found = new Map<string, string>();
    for (const name of Object.keys(this.#jsonExt)) {
      const value = this.field(name);
      if (value !== undefined) found.set(name, value);
    }
    return Object.fromEntries(found);
  }

  /** The fields of a header that was read with JSON.parse; null makes `table` count. */
  setJsonExt(ext: ExtObject | null, text: string): void {
    this.#jsonExt = ext;
    this.#jsonText = text;
  }

  /** Reads a header that is like one seen before; false where it has to be read the general way, into `table`. */
  readByTemplate(bytes: Buffer, at: number, size: number): boolean {
    const template = this.#templates.find(bytes, at, size, this.codec);
    if (template === null) {
      this.table = this.#ownTable;
      return false;
    }
    this.code = template.code;
    this.language = template.language;
    this.version = template.version;
    this.opaque = template.opaque;
    this.flag = template.flag;
    this.remark = template.remark;
    this.table = template.table;
    return true;
  }

  /** The header was read the general way: those that follow may be like it. */
  learn(bytes: Buffer, at: number, size: number): void {
    this.#templates.learn(bytes, at, size, this.codec);
  }

  #exact(name: string): string {
    this.#jsonExt = exactExt(this.#jsonText);
    return valueText(this.#jsonExt[name]);
  }
}

/** Digits with an optional minus, up to 15 of them, without the detours of `Number()`; NaN for anything else. */
export function integerOf(text: string): number {
  const size = text.length;
  const negative = text.charCodeAt(0) === 0x2d;
  let i = negative ? 1 : 0;
  if (size === i || size - i > 15) return Number.NaN;
  let value = 0;
  for (; i < size; i++) {
    const digit = text.charCodeAt(i) - 0x30;
    if (digit < 0 || digit > 9) return Number.NaN;
    value = value * 10 + digit;
  }
  return negative ? 0 - value : value;
}

/** Reads a header into a reused object. A text means that these bytes are no header: close the connection. */
export function readHeader(bytes: Buffer, at: number, size: number, codec: HeaderCodec, into: Header): string | null {
  into.codec = codec;
  into.setJsonExt(null, '');
  if (into.readByTemplate(bytes, at, size)) return null;
  if (codec === HeaderCodecs.binary) {
    const fault = readBinaryHeader(bytes, at, size, into);
    if (fault !== null) return fault;
  } else if (!scanJsonHeader(bytes, at, size, into)) return readJsonHeader(bytes, at, size, into);
  into.learn(bytes, at, size);
  return null;
}

export interface HeaderParts {
  code: number;
  opaque: number;
  flag: number;
  version?: number | undefined;
  language?: string | number | undefined;
  remark?: string | undefined;
  ext?: ExtFields | undefined;
}

export interface FrameParts extends HeaderParts {
  codec: HeaderCodec;
  body?: Uint8Array | undefined;
}

const emptyBody = new Uint8Array(0);

/** One whole frame, for paths that are not hot. What the binary form cannot say is said in JSON. */
export function encodeFrame(parts: FrameParts): Buffer {
  const binary = parts.codec === HeaderCodecs.binary ? binaryHeaderBytes(parts) : undefined;
  const header = binary ?? Buffer.from(jsonHeaderText(parts));
  const body = parts.body ?? emptyBody;
  const out = Buffer.allocUnsafe(HEADER_AT + header.length + body.length);
  const codec = binary === undefined ? HeaderCodecs.json : HeaderCodecs.binary;
  writeFrameStart(out, 0, codec, header.length, body.length);
  out.set(header, HEADER_AT);
  out.set(body, HEADER_AT + header.length);
  return out;
}

/** The two words before a header. */
export function writeFrameStart(out: Uint8Array, at: number, codec: HeaderCodec, headerSize: number, bodySize: number): void {
  writeI32(out, at, 4 + headerSize + bodySize);
  writeI32(out, at + 4, (codec << 24) | headerSize);
}

/** Letters of a text for a person: it may repeat what a client said, of any size. */
const REMARK_SIZE_MAX = 16 * 1024;

/** The answer to a request in the request's own form. It always has fields: stock clients take their absence badly. */
export function encodeResponse(request: Header, code: number, remark?: string, ext?: ExtFields, body?: Uint8Array): Buffer {
  const { codec, opaque } = request;
  const shown = remark !== undefined && remark.length > REMARK_SIZE_MAX ? `${remark.slice(0, REMARK_SIZE_MAX)}...` : remark;
  const common = { code, opaque, flag: RESPONSE_FLAG, codec, version: BROKER_VERSION, language: 'JAVA' };
  return encodeFrame({ ...common, remark: shown, ext: ext ?? {}, body });
}
