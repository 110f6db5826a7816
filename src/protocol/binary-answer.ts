// The binary header of hot answers, written field by field straight into the outgoing buffer.
import { writeI32, writeU16 } from '../base/bytes.ts';
import { constant, digitsSize, writeConstant, writeDigits, writeUtf8 } from './ascii.ts';
import { CODE_AT, FLAG_AT, LANGUAGE_AT, OPAQUE_AT, REMARK_AT, REMARK_SIZE_AT, VERSION_AT } from './binary-header.ts';
import { RESPONSE_FLAG } from './header.ts';
import { BROKER_VERSION } from './versions.ts';

/** Key with its size before it, as in the binary form. */
export function binaryKey(name: string): Uint8Array {
  return constant(`${String.fromCharCode(0, name.length)}${name}`);
}

/** The fixed part before the fields of an answer; returns where the fields begin. The word before them is their size. */
export function writeBinaryStart(out: Buffer, at: number, opaque: number, code: number, remark: string | undefined): number {
  writeU16(out, at + CODE_AT, code);
  out[at + LANGUAGE_AT] = 0;
  writeU16(out, at + VERSION_AT, BROKER_VERSION);
  writeI32(out, at + OPAQUE_AT, opaque);
  writeI32(out, at + FLAG_AT, RESPONSE_FLAG);
  const remarkAt = at + REMARK_AT;
  const remarkEnd = remark === undefined ? remarkAt : writeUtf8(out, remarkAt, remark);
  writeI32(out, at + REMARK_SIZE_AT, remarkEnd - remarkAt);
  return remarkEnd + 4;
}

export function writeTextEntry(out: Buffer, at: number, keyPart: Uint8Array, value: string): number {
  const valueAt = writeConstant(out, at, keyPart) + 4;
  const end = writeUtf8(out, valueAt, value);
  writeI32(out, valueAt - 4, end - valueAt);
  return end;
}

/** Key and size of a value that the caller writes; returns where it goes. */
export function writeSized(out: Buffer, at: number, keyPart: Uint8Array, valueSize: number): number {
  const valueAt = writeConstant(out, at, keyPart) + 4;
  writeI32(out, valueAt - 4, valueSize);
  return valueAt;
}

export function writeDigitsEntry(out: Buffer, at: number, keyPart: Uint8Array, value: number): number {
  return writeDigits(out, writeSized(out, at, keyPart, digitsSize(value)), value);
}
