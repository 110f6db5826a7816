// The acknowledgements of one batch: kept until its bytes are written, then sent to the ingress actors in the order of their appends.
import { assert } from '../../base/assert.ts';
import { high32, low32 } from '../../base/bytes.ts';
import type { SharedNumbers } from '../../runtime/shared-numbers.ts';
import { AppendStatuses, Messages } from '../messages.ts';
import type { Outbox } from '../outbox.ts';

const ACK_SIZE = 24;

export class AckBatch {
  readonly #lines: Int32Array;
  readonly #tokens: Int32Array;
  readonly #keys: Int32Array;
  readonly #statuses: Int32Array;
  readonly #offsets: Float64Array;
  readonly #positions: Float64Array;
  readonly #countMax: number;
  count = 0;

  constructor(countMax: number) {
    this.#countMax = countMax;
    this.#lines = new Int32Array(countMax);
    this.#tokens = new Int32Array(countMax);
    this.#keys = new Int32Array(countMax);
    this.#statuses = new Int32Array(countMax);
    this.#offsets = new Float64Array(countMax);
    this.#positions = new Float64Array(countMax);
  }

  get full(): boolean {
    return this.count === this.#countMax;
  }

  add(line: number, token: number, key: number, status: number, queueOffset: number, position: number): void {
    const i = this.count++;
    this.#lines[i] = line;
    this.#tokens[i] = token;
    this.#keys[i] = key;
    this.#statuses[i] = status;
    this.#offsets[i] = queueOffset;
    this.#positions[i] = position;
  }

  /** Shows the new ends of the queues that this batch grew. */
  publishEnds(queueEnds: SharedNumbers, nextOffsets: Float64Array): void {
    for (let i = 0; i < this.count; i++) {
      const key = this.#keys[i] as number;
      if (this.#statuses[i] === AppendStatuses.stored) queueEnds.set(key, nextOffsets[key] as number);
    }
  }

  /** Nothing of the batch is stored: its queues end where they did, its acks become refusals. */
  takeBack(queueEnds: SharedNumbers, nextOffsets: Float64Array): void {
    for (let i = 0; i < this.count; i++) {
      if (this.#statuses[i] !== AppendStatuses.stored) continue;
      const key = this.#keys[i] as number;
      nextOffsets[key] = queueEnds.get(key);
      this.#statuses[i] = AppendStatuses.noSpace;
    }
  }

  /** Commits the acks of one line; `stored` false turns all of them into refusals. */
  send(line: number, outbox: Outbox, stored: boolean): void {
    const { ring } = outbox;
    for (let i = 0; i < this.count; i++) {
      if (this.#lines[i] !== line) continue;
      const at = ring.claim(ACK_SIZE);
      assert(at >= 0, 'the ack ring holds an ack for every append under way');
      const word = at >> 2;
      ring.words[word] = this.#tokens[i] as number;
      ring.words[word + 1] = stored ? (this.#statuses[i] as number) : AppendStatuses.unavailable;
      ring.words[word + 2] = high32(this.#offsets[i] as number);
      ring.words[word + 3] = low32(this.#offsets[i] as number);
      ring.words[word + 4] = high32(this.#positions[i] as number);
      ring.words[word + 5] = low32(this.#positions[i] as number);
      ring.commit(Messages.appended);
    }
  }

  clear(): void {
    this.count = 0;
  }
}
