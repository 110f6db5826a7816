// Texts as they stand inside JSON strings, made what they mean.
import { asBuffer } from '../base/bytes.ts';

const SCRATCH_SIZE = 64 * 1024;
const scratch = Buffer.allocUnsafeSlow(SCRATCH_SIZE);

export function unescapedText(bytes: Buffer, at: number, end: number): string {
  const room = end - at <= SCRATCH_SIZE ? scratch : Buffer.allocUnsafeSlow(end - at);
  return room.toString('utf8', 0, writeUnescaped(bytes, at, end, room, 0));
}

const LETTER_U = 0x75;
/** By the letter after the backslash; letters that stand for themselves are not here. */
const controls: Readonly<Record<number, number>> = { 98: 8, 102: 12, 110: 10, 114: 13, 116: 9 };

/** Writes the inside of a valid JSON string as UTF-8, which is never longer; returns its end. */
export function writeUnescaped(bytes: Buffer, at: number, end: number, out: Uint8Array, outAt: number): number {
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

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** What a letter behind a backslash stands for; 0 where it must not stand there. */
const meanings = new Uint8Array(256);
for (const letter of Buffer.from('"\\/bfnrt')) meanings[letter] = controls[letter] ?? letter;
/** -1 where a letter is no hex digit. */
const hexValues = new Int8Array(256).fill(-1);
for (let digit = 0; digit < 16; digit++) {
  hexValues[digit.toString(16).charCodeAt(0)] = digit;
  hexValues[digit.toString(16).toUpperCase().charCodeAt(0)] = digit;
}

/** Whether one of four letters is a quote, a backslash or a control character. */
function hasSpecial(word: number): boolean {
  const quotes = word ^ 0x22222222;
  const backslashes = word ^ 0x5c5c5c5c;
  const zeros = ((quotes - 0x01010101) & ~quotes) | ((backslashes - 0x01010101) & ~backslashes);
  return ((zeros | ((word - 0x20202020) & ~word)) & 0x80808080) !== 0;
}

/** Whether four letters are plain ASCII that JSON need not escape. */
export function isPlainWord(word: number): boolean {
  return ((word | (word + 0x01010101)) & 0x80808080) === 0 && !hasSpecial(word);
}

/** Where the letters from `at` on end that stand for themselves in a JSON string; `limit` where all do. */
export function plainEnd(view: DataView, at: number, limit: number): number {
  while (at + 4 <= limit && !hasSpecial(view.getInt32(at, true))) at += 4;
  while (at < limit) {
    const c = view.getUint8(at);
    if (c === QUOTE || c === BACKSLASH || c < 0x20) break;
    at++;
  }
  return at;
}

/** The closing quote at which `unescapeView` stopped. */
export let stoppedAt = 0;

/**
 * Writes what the inside of a JSON string means, from `at` to its closing quote, and returns its end. -1 where there is no such quote
 * before `limit`, and for what is not valid or beyond ASCII in escapes.
 */
export function unescapeView(view: DataView, at: number, limit: number, out: DataView, outAt: number): number {
  while (at < limit) {
    if (at + 4 <= limit) {
      const word = view.getInt32(at, true);
      if (!hasSpecial(word)) {
        out.setInt32(outAt, word, true);
        at += 4;
        outAt += 4;
        continue;
      }
    }
    const c = view.getUint8(at++);
    if (c === QUOTE) {
      stoppedAt = at - 1;
      return outAt;
    }
    if (c < 0x20) return -1;
    if (c !== BACKSLASH) {
      out.setUint8(outAt++, c);
      continue;
    }
    if (at === limit) return -1;
    const letter = view.getUint8(at++);
    let meaning = meanings[letter] as number;
    if (letter === LETTER_U) {
      if (limit - at < 4) return -1;
      meaning = hexWord(view.getInt32(at));
      if (meaning < 0 || meaning > 0x7f) return -1;
      at += 4;
    } else if (meaning === 0) return -1;
    out.setUint8(outAt++, meaning);
  }
  return -1;
}

/** Four hex digits; negative where they are none. */
function hexWord(word: number): number {
  const high = ((hexValues[word >>> 24] as number) << 12) | ((hexValues[(word >>> 16) & 0xff] as number) << 8);
  return high | ((hexValues[(word >>> 8) & 0xff] as number) << 4) | (hexValues[word & 0xff] as number);
}
