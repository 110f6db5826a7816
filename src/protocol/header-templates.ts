// The headers that a header's reader has seen come again and again, by the words that tell commands and kinds of clients apart.
import { viewBelow } from '../base/views.ts';
import { type HeaderCodec, HeaderCodecs } from './frame.ts';
import { HeaderTemplate, joinedTemplate, Scratch } from './header-template.ts';

/** Kinds of headers that are told apart: a handful of hot commands, each from two or three kinds of clients. */
const KIND_COUNT_MAX = 16;
/** A template is made at most once in so many headers: it costs as much as some ten of them. */
const REST_COUNT = 16;
const REST_COUNT_FIRST = 2;
/** Headers longer than this are read the general way. */
const SIZE_MAX = 8 * 1024;
const SIZE_MIN = 21;
/** So are those that lie in a larger array, such as one that was grown for a long frame: a template holds on to the last one it saw. */
const BYTES_SIZE_MAX = 1024 * 1024;

interface Kind {
  readonly codec: HeaderCodec;
  template: HeaderTemplate | null;
  /** Headers that must come before a template may be made. */
  rest: number;
  /** Headers since the last attempt that the template fitted. */
  hits: number;
}

export class HeaderTemplates {
  readonly #keys = new Int32Array(KIND_COUNT_MAX);
  readonly #kinds: Kind[] = [];
  /** Gives way to the next new kind once there is no room. */
  #victim = 0;
  #scratch: Scratch | null = null;

  /** The template that the header is one of, filled with what varies; null where there is none. */
  find(bytes: Buffer, at: number, size: number, codec: HeaderCodec): HeaderTemplate | null {
    if (this.#scratch === null || !isUsual(bytes, size)) return null;
    const kind = this.#kindOf(keyOf(bytes, at, codec), codec);
    if (kind === undefined || kind.template === null) return null;
    if (kind.rest > 0) kind.rest--;
    if (!kind.template.match(bytes, at, at + size, this.#scratch)) return null;
    kind.hits++;
    return kind.template;
  }

  /** Takes note of a sound header that none fitted. */
  learn(bytes: Buffer, at: number, size: number, codec: HeaderCodec): void {
    if (!isUsual(bytes, size)) return;
    const key = keyOf(bytes, at, codec);
    const kind = this.#kindOf(key, codec);
    // What comes once need not be kept.
    if (kind === undefined) this.#add(key, codec);
    else if (kind.rest === 0) this.#refit(kind, bytes, at, size, codec);
    else if (kind.template === null) kind.rest--;
  }

  #kindOf(key: number, codec: HeaderCodec): Kind | undefined {
    const count = this.#kinds.length;
    for (let i = 0; i < count; i++) {
      if (this.#keys[i] !== key) continue;
      const kind = this.#kinds[i] as Kind;
      if (kind.codec === codec) return kind;
    }
    return undefined;
  }

  #add(key: number, codec: HeaderCodec): void {
    const index = this.#kinds.length < KIND_COUNT_MAX ? this.#kinds.length : this.#victim++ % KIND_COUNT_MAX;
    this.#keys[index] = key;
    this.#kinds[index] = { codec, template: null, rest: REST_COUNT_FIRST, hits: 0 };
  }

  #refit(kind: Kind, bytes: Buffer, at: number, size: number, codec: HeaderCodec): void {
    this.#scratch ??= new Scratch(SIZE_MAX);
    const own = Buffer.allocUnsafeSlow(size);
    bytes.copy(own, 0, at, at + size);
    const joined = kind.template === null ? null : joinedTemplate(own, codec, kind.template, this.#scratch);
    if (joined !== null) kind.template = joined;
    else if (kind.hits < REST_COUNT / 2) {
      const fresh = new HeaderTemplate(own, new Set());
      if (fresh.prepare(codec)) kind.template = fresh;
    }
    kind.rest = REST_COUNT;
    kind.hits = 0;
  }
}

function isUsual(bytes: Buffer, size: number): boolean {
  return size <= SIZE_MAX && size >= SIZE_MIN && bytes.length <= BYTES_SIZE_MAX;
}

//   binary:  code, language and half the version          JSON:  {"code":310,"extFie…  the code and whatever follows it
const JSON_WORDS_AT = 8;

function keyOf(bytes: Buffer, at: number, codec: HeaderCodec): number {
  const view = viewBelow(bytes);
  const i = bytes.byteOffset + at;
  if (codec === HeaderCodecs.binary) return view.getInt32(i);
  return view.getInt32(i + JSON_WORDS_AT) ^ Math.imul(view.getInt32(i + JSON_WORDS_AT + 4), 31);
}
