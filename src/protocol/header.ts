// A frame's header as the rest of the broker sees it, whichever of the two forms it came in; one object serves all frames.
import { writeI32 } from '../base/bytes.ts';
import { BinaryExt, binaryHeaderBytes, readBinaryHeader } from './binary-header.ts';
import { HEADER_AT, type HeaderCodec, HeaderCodecs } from './frame.ts';
import { type ExtObject, exactExt, jsonHeaderText, readJsonHeader, valueText } from './json-header.ts';
import { BROKER_VERSION } from './versions.ts';

export const RESPONSE_FLAG = 1;
export const ONEWAY_FLAG = 2;

/** Fields of a command on their way out; all values travel as text. */
export type ExtFields = Record<string, string | number | boolean>;

export class Header {
  code = 0;
  /** As sent: a name in JSON, a number in the binary form; '' where there was none. */
  language: string | number = '';
  version = 0;
  opaque = 0;
  flag = 0;
  remark: string | undefined = undefined;
  codec: HeaderCodec = HeaderCodecs.json;
  readonly binaryExt = new BinaryExt();
  #jsonExt: ExtObject | null = null;
  #jsonText = '';

  get isResponse(): boolean {
    return (this.flag & RESPONSE_FLAG) !== 0;
  }

  get isOneway(): boolean {
    return (this.flag & ONEWAY_FLAG) !== 0;
  }

  /** The text of a field with an ASCII name; valid as long as the frame's bytes are. */
  field(name: string): string | undefined {
    if (this.codec === HeaderCodecs.binary) {
      const entry = this.binaryExt.find(name);
      return entry < 0 ? undefined : this.binaryExt.text(entry);
    }
    const ext = this.#jsonExt;
    if (ext === null) return undefined;
    const value = ext[name];
    if (typeof value === 'string') return value;
    if (value === undefined || value === null || !Object.hasOwn(ext, name)) return undefined;
    if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) return this.#exact(name);
    return valueText(value);
  }

  /** A field as a safe integer; NaN where it is absent, has more than 15 digits or is anything else. */
  number(name: string): number {
    if (this.codec === HeaderCodecs.binary) {
      const entry = this.binaryExt.find(name);
      return entry < 0 ? Number.NaN : this.binaryExt.number(entry);
    }
    const value = this.#jsonExt === null ? undefined : this.#jsonExt[name];
    if (typeof value === 'string') return integerOf(value);
    return typeof value === 'number' && Number.isSafeInteger(value) ? value : Number.NaN;
  }

  /** All fields, in the order in which they were sent. */
  fields(): Record<string, string> {
    if (this.codec === HeaderCodecs.binary) return Object.fromEntries(this.binaryExt.entries());
    const found = new Map<string, string>();
    for (const name of Object.keys(this.#jsonExt ?? {})) {
      const value = this.field(name);
      if (value !== undefined) found.set(name, value);
    }
    return Object.fromEntries(found);
  }

  setJsonExt(ext: ExtObject | null, text: string): void {
    this.#jsonExt = ext;
    this.#jsonText = text;
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
  return codec === HeaderCodecs.binary ? readBinaryHeader(bytes, at, size, into) : readJsonHeader(bytes, at, size, into);
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

/** The answer to a request in the request's own form. It always has fields: stock clients take their absence badly. */
export function encodeResponse(request: Header, code: number, remark?: string, ext?: ExtFields, body?: Uint8Array): Buffer {
  const { codec, opaque } = request;
  return encodeFrame({ code, opaque, flag: RESPONSE_FLAG, codec, version: BROKER_VERSION, language: 'JAVA', remark, ext: ext ?? {}, body });
}
