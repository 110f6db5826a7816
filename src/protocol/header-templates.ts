// The headers that a header's reader has seen come again and again, by the words that tell commands and kinds of clients apart.
import { viewBelow } from '../base/views.ts';
import { type HeaderCodec, HeaderCodecs } from './frame.ts';
import { HeaderTemplate, joinedTemplate, Scratch } from './header-template.ts';

/** A handful of hot commands, each from a few kinds of clients. */
const TEMPLATE_COUNT_MAX = 16;
/** Of one key: each is tried in turn. */
const SAME_KEY_COUNT_MAX = 3;
/** Headers without a template between two attempts to make one, which costs as much as some ten of them; more where it does not help. */
const REST_COUNT_MIN = 16;
const REST_COUNT_MAX = 1024;
const REST_COUNT_FIRST = 3;
/** Headers longer than this are read the general way. */
const SIZE_MAX = 8 * 1024;
const SIZE_MIN = 21;
/** So are those that lie in a larger array, such as one that was grown for a long frame: a template holds on to the last one it saw. */
const BYTES_SIZE_MAX = 1024 * 1024;

interface Known {
  readonly codec: HeaderCodec;
  template: HeaderTemplate;
  /** Headers that it fitted; halved whenever it might have had to give way. */
  hits: number;
}

export class HeaderTemplates {
  readonly #keys = new Int32Array(TEMPLATE_COUNT_MAX);
  readonly #known: Known[] = [];
  #rest = REST_COUNT_FIRST;
  #restNext = REST_COUNT_MIN;
  #scratch: Scratch | null = null;
  readonly #home: Buffer | null;

  /** @param home an array that most headers lie in, and that lives on anyway, however large it is. */
  constructor(home: Buffer | null) {
    this.#home = home;
  }

  /** The template that the header is one of, filled with what varies; null where there is none. */
  find(bytes: Buffer, at: number, size: number, codec: HeaderCodec): HeaderTemplate | null {
    if (this.#scratch === null || !this.#isUsual(bytes, size)) return null;
    const key = keyOf(bytes, at, codec);
    const count = this.#known.length;
    for (let i = 0; i < count; i++) {
      if (this.#keys[i] !== key) continue;
      const known = this.#known[i] as Known;
      if (known.codec !== codec || !known.template.match(bytes, at, at + size, this.#scratch)) continue;
      known.hits++;
      return known.template;
    }
    return null;
  }

  /** Takes note of a sound header that none fitted. */
  learn(bytes: Buffer, at: number, size: number, codec: HeaderCodec): void {
    if (!this.#isUsual(bytes, size) || --this.#rest > 0) return;
    const own = Buffer.allocUnsafeSlow(size);
    bytes.copy(own, 0, at, at + size);
    const helps = this.#fit(keyOf(bytes, at, codec), own, codec);
    this.#restNext = helps ? REST_COUNT_MIN : Math.min(2 * this.#restNext, REST_COUNT_MAX);
    this.#rest = this.#restNext;
  }

  /** False where nothing is won: another template that may be as good had to give way, or there is none. */
  #fit(key: number, own: Buffer, codec: HeaderCodec): boolean {
    this.#scratch ??= new Scratch(SIZE_MAX);
    const alike = this.#known.filter((known, i) => this.#keys[i] === key && known.codec === codec);
    for (const known of alike) {
      const joined = joinedTemplate(own, codec, known.template, this.#scratch);
      if (joined === null) continue;
      known.template = joined;
      return true;
    }
    const template = new HeaderTemplate(own, new Set());
    if (!template.prepare(codec)) return false;
    const index = this.#known.length;
    const hasRoom = index < TEMPLATE_COUNT_MAX && alike.length < SAME_KEY_COUNT_MAX;
    if (hasRoom) this.#put(index, key, codec, template);
    else this.#replace(alike.length < SAME_KEY_COUNT_MAX ? this.#known : alike, key, codec, template);
    return hasRoom;
  }

  #put(index: number, key: number, codec: HeaderCodec, template: HeaderTemplate): void {
    this.#keys[index] = key;
    this.#known[index] = { codec, template, hits: 0 };
  }

  #isUsual(bytes: Buffer, size: number): boolean {
    return size <= SIZE_MAX && size >= SIZE_MIN && (bytes === this.#home || bytes.length <= BYTES_SIZE_MAX);
  }

  /** In place of the one that fitted least of late. */
  #replace(candidates: readonly Known[], key: number, codec: HeaderCodec, template: HeaderTemplate): void {
    for (const known of candidates) known.hits = Math.floor(known.hits / 2);
    const least = candidates.reduce((a, b) => (b.hits < a.hits ? b : a));
    this.#put(this.#known.indexOf(least), key, codec, template);
  }
}

//   binary:  code, language and half the version          JSON:  {"code":310,"extFie…  the code and whatever follows it
const JSON_WORDS_AT = 8;

function keyOf(bytes: Buffer, at: number, codec: HeaderCodec): number {
  const view = viewBelow(bytes);
  const i = bytes.byteOffset + at;
  if (codec === HeaderCodecs.binary) return view.getInt32(i);
  return view.getInt32(i + JSON_WORDS_AT) ^ Math.imul(view.getInt32(i + JSON_WORDS_AT + 4), 31);
}
