// Sends that wait for the commit log, oldest first: acks come in the order of the appends, so no table has to be searched.
import { assert } from '../../base/assert.ts';
import { viewBelow } from '../../base/views.ts';
import { isPlain } from '../../protocol/ascii.ts';
import type { HeaderCodec } from '../../protocol/frame.ts';
import { isPlainWord } from '../../protocol/json-escapes.ts';
import type { ClientConnection } from './client-connection.ts';

export class PendingSend {
  token = 0;
  client: ClientConnection | null = null;
  opaque = 0;
  codec: HeaderCodec = 0;
  oneway = false;
  queueId = 0;
  /** The unique key, for the answer: bytes in the table's keys, or a text where it is long or odd; neither where there is none. */
  readonly keyAt: number;
  keySize = 0;
  keyText: string | undefined = undefined;
  /** Sizes of the records of a batch; null for a single message. */
  sizes: readonly number[] | null = null;
  totalSize = 0;
  waitsForDisk = false;
  /** Once acknowledged: */
  acked = false;
  answered = false;
  status = 0;
  queueOffset = 0;
  position = 0;
  ackedAtMs = 0;
  /** Answers in the sender's stead; null: with what every send is answered with. Its own connection may have closed meanwhile. */
  onDone: ((code: number, status: number) => void) | null = null;

  constructor(keyAt: number) {
    this.keyAt = keyAt;
  }
}

/** Room for a unique key: stock clients' have 32 letters, 56 with IPv6. */
const KEY_SIZE_MAX = 64;

export class PendingSends {
  readonly #slots: PendingSend[];
  readonly #mask: number;
  /** The keys of all slots, so that no text is made of them. */
  readonly keys: DataView;
  /** First that is not answered; first that is not acknowledged; next free. */
  #head = 0;
  #unacked = 0;
  #tail = 0;
  #nextToken: number;

  /** @param firstToken differs from incarnation to incarnation, so that acks meant for a former one are not taken. */
  constructor(countMax: number, firstToken: number) {
    assert((countMax & (countMax - 1)) === 0, 'a power of two');
    this.#slots = new Array<PendingSend>(countMax);
    this.#mask = countMax - 1;
    this.#nextToken = firstToken | 0;
    this.keys = new DataView(new ArrayBuffer(countMax * KEY_SIZE_MAX));
  }

  get count(): number {
    return this.#tail - this.#head;
  }

  get unackedCount(): number {
    return this.#tail - this.#unacked;
  }

  /** Of all ever pushed. */
  get ackedCount(): number {
    return this.#unacked;
  }

  get pushedCount(): number {
    return this.#tail;
  }

  /** The token that the next send will have. */
  get nextToken(): number {
    return this.#nextToken;
  }

  get full(): boolean {
    return this.#tail - this.#head > this.#mask;
  }

  /** A slot for the next append; its token goes into the message. */
  push(): PendingSend {
    assert(!this.full, 'checked before');
    const at = this.#tail++ & this.#mask;
    let slot = this.#slots[at];
    if (slot === undefined) {
      slot = new PendingSend(at * KEY_SIZE_MAX);
      this.#slots[at] = slot;
    }
    slot.token = this.#nextToken;
    this.#nextToken = (this.#nextToken + 1) | 0;
    slot.acked = false;
    slot.answered = false;
    slot.onDone = null;
    return slot;
  }

  /** Keeps the unique key in [at, end) with its send; none where `at` is negative. */
  keepKey(send: PendingSend, bytes: Buffer, at: number, end: number): void {
    send.keySize = 0;
    send.keyText = undefined;
    const size = at < 0 ? 0 : end - at;
    if (size === 0) return;
    if (size <= KEY_SIZE_MAX && this.#copyPlain(bytes, at, end, send.keyAt)) send.keySize = size;
    else send.keyText = bytes.toString('utf8', at, end);
  }

  /** False where a letter is not plain. */
  #copyPlain(bytes: Buffer, at: number, end: number, keyAt: number): boolean {
    const { keys } = this;
    const view = viewBelow(bytes);
    const base = bytes.byteOffset;
    const to = keyAt - at;
    for (; at + 4 <= end; at += 4) {
      const word = view.getInt32(base + at);
      if (!isPlainWord(word)) return false;
      keys.setInt32(to + at, word);
    }
    for (; at < end; at++) {
      const c = view.getUint8(base + at);
      if (!isPlain(c)) return false;
      keys.setUint8(to + at, c);
    }
    return true;
  }

  /** The send that the next ack belongs to; null when the ack is not ours. */
  takeAcked(token: number): PendingSend | null {
    if (this.#unacked === this.#tail) return null;
    const slot = this.#slots[this.#unacked & this.#mask] as PendingSend;
    if (slot.token !== token) return null;
    this.#unacked++;
    slot.acked = true;
    return slot;
  }

  /** The oldest that is acknowledged and not yet answered; null when there is none. */
  oldestAcked(): PendingSend | null {
    while (this.#head < this.#unacked) {
      const slot = this.#slots[this.#head & this.#mask] as PendingSend;
      if (!slot.answered) return slot;
      slot.client = null;
      slot.sizes = null;
      this.#head++;
    }
    return null;
  }
}
