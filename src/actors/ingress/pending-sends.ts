// Sends that wait for the commit log, oldest first: acks come in the order of the appends, so no table has to be searched.
import { assert } from '../../base/assert.ts';
import type { HeaderCodec } from '../../protocol/frame.ts';
import type { ClientConnection } from './client-connection.ts';

export class PendingSend {
  token = 0;
  client: ClientConnection | null = null;
  opaque = 0;
  codec: HeaderCodec = 0;
  oneway = false;
  queueId = 0;
  uniqueKey = '';
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
}

export class PendingSends {
  readonly #slots: PendingSend[];
  readonly #mask: number;
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
  }

  get count(): number {
    return this.#tail - this.#head;
  }

  get unackedCount(): number {
    return this.#tail - this.#unacked;
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
      slot = new PendingSend();
      this.#slots[at] = slot;
    }
    slot.token = this.#nextToken;
    this.#nextToken = (this.#nextToken + 1) | 0;
    slot.acked = false;
    slot.answered = false;
    return slot;
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
