// Writes digits and short texts of hot answers straight into a buffer, without making strings first.
import { asBuffer } from '../base/bytes.ts';

/** A constant part of an answer, as bytes. */
export function constant(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'latin1'));
}

/** Below this a loop is cheaper than a call out of the engine. */
const LOOP_SIZE_MAX = 24;

export function writeConstant(out: Uint8Array, at: number, part: Uint8Array): number {
  const size = part.length;
  if (size > LOOP_SIZE_MAX) out.set(part, at);
  else for (let i = 0; i < size; i++) out[at + i] = part[i] as number;
  return at + size;
}

const INT32_DIGITS_MAX = 10;
export const BILLION = 1_000_000_000;

/** A safe integer in decimal. Returns where it ends. */
export function writeDigits(out: Uint8Array, at: number, value: number): number {
  if (value < 0) {
    out[at++] = 0x2d;
    value = -value;
  }
  if (value < BILLION) return writeSmall(out, at, value, digitCount(value));
  const upper = Math.floor(value / BILLION);
  at = writeDigits(out, at, upper);
  return writeSmall(out, at, value - upper * BILLION, INT32_DIGITS_MAX - 1);
}

/** `count` digits of a number below a billion. */
export function writeSmall(out: Uint8Array, at: number, value: number, count: number): number {
  let rest = value | 0;
  for (let i = at + count - 1; i >= at; i--) {
    const next = (rest / 10) | 0;
    out[i] = 0x30 + rest - next * 10;
    rest = next;
  }
  return at + count;
}

/** How many digits a number has that is not negative and below a billion. */
export function digitCount(value: number): number {
  let count = 1;
  for (let bound = 10; bound <= value; bound *= 10) count++;
  return count;
}

/** How many bytes `writeDigits` takes. */
export function digitsSize(value: number): number {
  return value < 0 ? 1 + digitsSize(-value) : value < BILLION ? digitCount(value) : 9 + digitsSize(Math.floor(value / BILLION));
}

/** Copies bytes of a view; returns where they end. */
export function copyView(from: DataView, fromAt: number, size: number, out: Uint8Array, at: number): number {
  for (let i = 0; i < size; i++) out[at + i] = from.getUint8(fromAt + i);
  return at + size;
}

const hexDigits = constant('0123456789ABCDEF');

/** 64 bits of a safe integer, not negative, as 16 upper-case hex digits. */
export function writeHex64(out: Uint8Array, at: number, value: number): number {
  const high = Math.floor(value / 2 ** 32);
  writeHex32(out, at, high);
  return writeHex32(out, at + 8, value - high * 2 ** 32);
}

function writeHex32(out: Uint8Array, at: number, value: number): number {
  for (let shift = 28; shift >= 0; shift -= 4) out[at++] = hexDigits[(value >>> shift) & 15] as number;
  return at;
}

/** A letter of ASCII that JSON need not escape. */
export function isPlain(c: number): boolean {
  return c >= 0x20 && c <= 0x7e && c !== 0x22 && c !== 0x5c;
}

/** Plain ASCII text that JSON need not escape; -1 where the text is something else. */
export function writePlain(out: Uint8Array, at: number, text: string): number {
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (!isPlain(c)) return -1;
    out[at + i] = c;
  }
  return at + text.length;
}

/** The inside of a JSON string: any text. */
export function writeJsonText(out: Uint8Array, at: number, text: string): number {
  const end = writePlain(out, at, text);
  return end >= 0 ? end : at + asBuffer(out).write(JSON.stringify(text).slice(1, -1), at, 'utf8');
}

export function writeUtf8(out: Uint8Array, at: number, text: string): number {
  const end = writePlain(out, at, text);
  return end >= 0 ? end : at + asBuffer(out).write(text, at, 'utf8');
}
