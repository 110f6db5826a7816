// The sending end of one ring: claim, fill, commit; `flush` makes a batch visible and wakes the receiver's thread if it sleeps.
import type { RingWriter } from '../runtime/ring.ts';

const encoder = new TextEncoder();

/** Frames and JSON travel in parts of at most this many bytes, so that no ring must hold a whole large one. */
const PART_SIZE_MAX = 64 * 1024;

/** Wakes the receiver's thread. */
export interface Bell {
  ring(): void;
}

interface Waiting {
  readonly type: number;
  readonly words: readonly number[];
  readonly bytes: Uint8Array;
}

export class Outbox {
  readonly ring: RingWriter;
  readonly #bell: Bell;
  /** Rare messages that found the ring full, oldest first; the owner stops taking new mail while there are any. */
  readonly #waiting: Waiting[] = [];
  /** Something that should not wait was committed since the receiver was last woken. */
  #urgent = false;
  #quiet = false;

  constructor(ring: RingWriter, bell: Bell) {
    this.ring = ring;
    this.#bell = bell;
  }

  get hasWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** For rare messages: words, then bytes; kept here and sent by a later flush where the ring is full. */
  send(type: number, words: readonly number[], bytes: Uint8Array = new Uint8Array(0)): void {
    this.#urgent = true;
    if (this.#waiting.length > 0 || !this.#trySend(type, words, bytes)) this.#waiting.push({ type, words, bytes });
  }

  /**
   * For mail that may lie for a while: it goes with the next flush, but does not wake the receiver (see `isQuiet`). Not for an outbox into
   * whose ring others claim by themselves: what is not sent through here counts as urgent only while nothing is quiet.
   */
  sendQuietly(type: number, words: readonly number[], bytes: Uint8Array): void {
    const urgent = this.#urgent;
    this.send(type, words, bytes);
    this.#urgent = urgent;
    this.#quiet = true;
  }

  /** Quiet mail was sent since the receiver was last woken: its owner calls `wake` before it has lain too long. */
  get isQuiet(): boolean {
    return this.#quiet;
  }

  wake(): void {
    this.#urgent = this.#quiet = false;
    this.#bell.ring();
  }

  sendJson(type: number, value: unknown): void {
    const bytes = encoder.encode(JSON.stringify(value));
    this.#sendParts(type, null, bytes);
  }

  /** A whole frame for or from a connection, in parts that follow each other. */
  sendFrame(type: number, connectionId: number, frame: Uint8Array): void {
    this.#sendParts(type, connectionId, frame);
  }

  #sendParts(type: number, connectionId: number | null, bytes: Uint8Array): void {
    let at = 0;
    do {
      const end = Math.min(bytes.length, at + PART_SIZE_MAX);
      const last = end === bytes.length ? 1 : 0;
      this.send(type, connectionId === null ? [last, end - at] : [connectionId, last, end - at], bytes.subarray(at, end));
      at = end;
    } while (at < bytes.length);
  }

  #trySend(type: number, words: readonly number[], bytes: Uint8Array): boolean {
    const { ring } = this;
    const at = ring.claim(words.length * 4 + bytes.length);
    if (at < 0) return false;
    for (let i = 0; i < words.length; i++) ring.words[(at >> 2) + i] = words[i] as number;
    ring.bytes.set(bytes, at + words.length * 4);
    ring.commit(type);
    return true;
  }

  /** Publishes what was committed, and wakes the receiver but where all of it is quiet. True when there was something. */
  flush(): boolean {
    while (this.#waiting.length > 0) {
      const next = this.#waiting[0] as Waiting;
      if (!this.#trySend(next.type, next.words, next.bytes)) break;
      this.#waiting.shift();
    }
    if (!this.ring.publish()) return false;
    if (this.#urgent || !this.#quiet) this.wake();
    return true;
  }
}
