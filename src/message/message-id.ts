// The offset message id: where a record lies, as the hex text that clients get back and query by.
//
//   +------------------+----------+----------------+
//   | store host, 4/16 | port i32 | position   i64 |     each byte as two upper-case hex digits: 32 or 56 letters
//   +------------------+----------+----------------+
import { assert } from '../base/assert.ts';
import { high32, low32, readI32, readI64 } from '../base/bytes.ts';

const NUMBERS_SIZE = 4 + 8;
const ID_V4_SIZE = (4 + NUMBERS_SIZE) * 2;
const ID_V6_SIZE = (16 + NUMBERS_SIZE) * 2;
assert(ID_V4_SIZE === 32 && ID_V6_SIZE === 56, 'message id layout');

const digits = Uint8Array.from('0123456789ABCDEF', (digit) => digit.charCodeAt(0));
const idText = /^(?:[0-9A-Fa-f]{32}|[0-9A-Fa-f]{56})$/;

export interface OffsetMessageId {
  /** 4 or 16 bytes. */
  readonly host: Uint8Array;
  readonly port: number;
  readonly position: number;
}

export function offsetMessageIdSize(hostSize: number): number {
  return (hostSize + NUMBERS_SIZE) * 2;
}

function writeHexByte(out: Uint8Array, at: number, value: number): void {
  out[at] = digits[(value >>> 4) & 0xf] as number;
  out[at + 1] = digits[value & 0xf] as number;
}

function writeHexI32(out: Uint8Array, at: number, value: number): number {
  writeHexByte(out, at, value >>> 24);
  writeHexByte(out, at + 2, value >>> 16);
  writeHexByte(out, at + 4, value >>> 8);
  writeHexByte(out, at + 6, value);
  return at + 8;
}

/** Writes the id as ASCII; returns where it ends. */
export function writeOffsetMessageId(out: Uint8Array, at: number, host: Uint8Array, port: number, position: number): number {
  for (let i = 0; i < host.length; i++) {
    writeHexByte(out, at, host[i] as number);
    at += 2;
  }
  at = writeHexI32(out, at, port);
  at = writeHexI32(out, at, high32(position));
  return writeHexI32(out, at, low32(position));
}

export function encodeOffsetMessageId(host: Uint8Array, port: number, position: number): string {
  const out = Buffer.allocUnsafe(offsetMessageIdSize(host.length));
  writeOffsetMessageId(out, 0, host, port, position);
  return out.toString('latin1');
}

/**
 * null where the text is no id. A client's own unique key may have the same form: then the host or the position makes no sense,
 * so compare both with what the log has.
 */
export function decodeOffsetMessageId(text: string): OffsetMessageId | null {
  if (!idText.test(text)) return null;
  const bytes = Buffer.from(text, 'hex');
  const hostSize = bytes.length - NUMBERS_SIZE;
  const position = readI64(bytes, hostSize + 4);
  if (position < 0 || !Number.isSafeInteger(position)) return null;
  return { host: new Uint8Array(bytes.subarray(0, hostSize)), port: readI32(bytes, hostSize), position };
}
