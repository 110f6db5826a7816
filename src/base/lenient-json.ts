// Reads JSON as Java brokers and clients write it: bare integers and whole objects as keys, single quotes, 64-bit integers.
import { ErrorCodes, RingmqError } from './errors.ts';
import { compactJson } from './json-writer.ts';

/** Deeper nesting than any real body has; a limit keeps hostile text from exhausting the stack. */
const DEPTH_MAX = 256;

/** Objects have no prototype, so that `__proto__` is a name like any other. */
export interface JsonObject {
  [name: string]: unknown;
}

const Chars = {
  quote: 0x22,
  apostrophe: 0x27,
  comma: 0x2c,
  colon: 0x3a,
  openArray: 0x5b,
  backslash: 0x5c,
  closeArray: 0x5d,
  openObject: 0x7b,
  closeObject: 0x7d,
} as const;

const escapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v', 0: '\0' };
const wordText = /[\w$.+-]+/y;
const numberText = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const integerText = /^[+-]?\d+$/;
const hexText = /^[0-9a-fA-F]+$/;

/**
 * The value of the text: null-prototype objects, arrays, strings, numbers, booleans, null. Integers that a number cannot hold
 * exactly stay text. A key that is an object becomes that object's compact JSON text. Throws RingmqError `malformed` with the place.
 */
export function parseLenient(text: string): unknown {
  return new LenientParser(text).parse();
}

class LenientParser {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  parse(): unknown {
    const value = this.#value();
    if (this.#peek() >= 0) this.#fail('the end of the text');
    return value;
  }

  /** The next character that is not a blank, without taking it; -1 at the end. */
  #peek(): number {
    const text = this.#text;
    for (; this.#at < text.length; this.#at++) {
      const c = text.charCodeAt(this.#at);
      // A byte-order mark may lead the text; Java's reader skips all control characters between tokens.
      if (c > 0x20 && c !== 0xfeff && c !== 0xa0) return c;
    }
    return -1;
  }

  #fail(allowed: string): never {
    const seen = this.#at < this.#text.length ? JSON.stringify(this.#text.slice(this.#at, this.#at + 16)) : 'end';
    throw new RingmqError(ErrorCodes.malformed, `JSON text is malformed; allowed here: ${allowed}`, { at: this.#at, seen });
  }

  #value(): unknown {
    const c = this.#peek();
    switch (c) {
      case Chars.openObject:
        return this.#nested(() => this.#object());
      case Chars.openArray:
        return this.#nested(() => this.#array());
      case Chars.quote:
      case Chars.apostrophe:
        return this.#string(c);
      default:
        return this.#bareValue();
    }
  }

  #nested<T>(read: () => T): T {
    if (++this.#depth > DEPTH_MAX) {
      throw new RingmqError(ErrorCodes.malformed, 'JSON text is nested too deeply', { at: this.#at, depthMax: DEPTH_MAX });
    }
    const value = read();
    this.#depth--;
    return value;
  }

  #object(): JsonObject {
    const object = Object.create(null) as JsonObject;
    this.#at++;
    for (;;) {
      const c = this.#peek();
      if (c === Chars.closeObject) break;
      if (c === Chars.comma) {
        this.#at++;
        continue;
      }
      const key = this.#key(c);
      if (this.#peek() !== Chars.colon) this.#fail('a colon');
      this.#at++;
      object[key] = this.#value();
      const next = this.#peek();
      if (next !== Chars.comma && next !== Chars.closeObject) this.#fail('a comma or }');
    }
    this.#at++;
    return object;
  }

  #key(c: number): string {
    if (c === Chars.quote || c === Chars.apostrophe) return this.#string(c);
    if (c === Chars.openObject) return compactJson(this.#nested(() => this.#object()));
    const word = this.#word();
    if (word === '') this.#fail('a key');
    return word;
  }

  #array(): unknown[] {
    const items: unknown[] = [];
    this.#at++;
    for (;;) {
      const c = this.#peek();
      if (c === Chars.closeArray) break;
      if (c === Chars.comma) {
        this.#at++;
        continue;
      }
      items.push(this.#value());
      const next = this.#peek();
      if (next !== Chars.comma && next !== Chars.closeArray) this.#fail('a comma or ]');
    }
    this.#at++;
    return items;
  }

  #word(): string {
    wordText.lastIndex = this.#at;
    const word = wordText.exec(this.#text)?.[0] ?? '';
    this.#at += word.length;
    return word;
  }

  #bareValue(): unknown {
    const at = this.#at;
    const word = this.#word();
    switch (word) {
      case 'true':
        return true;
      case 'false':
        return false;
      case 'null':
        return null;
      default:
        if (numberText.test(word)) return numberOf(word);
        this.#at = at;
        return this.#fail('a value');
    }
  }

  #string(quote: number): string {
    const text = this.#text;
    let at = ++this.#at;
    let value = '';
    for (let i = at; i < text.length; i++) {
      const c = text.charCodeAt(i);
      if (c === quote) {
        this.#at = i + 1;
        return value === '' ? text.slice(at, i) : value + text.slice(at, i);
      }
      if (c !== Chars.backslash) continue;
      value += text.slice(at, i);
      this.#at = i + 1;
      value += this.#escape();
      at = this.#at;
      i = at - 1;
    }
    this.#at = text.length;
    return this.#fail('a closing quote');
  }

  /** What stands behind a backslash; moves beyond it. */
  #escape(): string {
    const c = this.#text[this.#at] ?? '';
    if (c === 'u') return this.#hex(4);
    if (c === 'x') return this.#hex(2);
    if (c === '') this.#fail('an escape');
    this.#at++;
    return escapes[c] ?? c;
  }

  #hex(size: number): string {
    const hex = this.#text.slice(this.#at + 1, this.#at + 1 + size);
    if (hex.length < size || !hexText.test(hex)) this.#fail(`${size} hex digits`);
    this.#at += 1 + size;
    return String.fromCharCode(Number.parseInt(hex, 16));
  }
}

function numberOf(word: string): number | string {
  const value = Number(word);
  return Number.isSafeInteger(value) || !integerText.test(word) ? value : word;
}
