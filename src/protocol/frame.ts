// Cuts a byte stream into frames: whole ones in place, without a copy; only a frame cut by a chunk's end is carried over.
import { assert } from '../base/assert.ts';
import { asBuffer, readI32 } from '../base/bytes.ts';
import { foreignProtocol } from './foreign.ts';

//   0        4        5              8            8+headerSize              4+length
//   +--------+--------+--------------+------------+-------------------------+
//   | length | codec  |  headerSize  |   header   |          body           |
//   | int32  |  int8  |    uint24    |            |                         |
//   +--------+--------+--------------+------------+-------------------------+
//   length counts what follows it: 4 + headerSize + bodySize
export const LENGTH_AT = 0;
export const CODEC_AT = LENGTH_AT + 4;
export const HEADER_AT = CODEC_AT + 4;
assert(HEADER_AT === 8);

/** A whole frame with its length word; the same limit as that of stock brokers and clients. */
export const FRAME_SIZE_MAX = 16 * 1024 * 1024;

export const HeaderCodecs = { json: 0, binary: 1 } as const;
export type HeaderCodec = (typeof HeaderCodecs)[keyof typeof HeaderCodecs];

export interface FrameSink {
  /**
   * A whole frame; the bytes are valid only during the call. False means "not now": the decoder keeps this frame and all
   * after it, and offers it again on `resume()`. Bytes pushed meanwhile, also during the call, wait behind it.
   */
  onFrame(bytes: Buffer, headerAt: number, headerSize: number, codec: HeaderCodec, bodyAt: number, bodySize: number): boolean;
}

const CARRY_SIZE_MIN = 512;
/** A carry buffer larger than this is given back once its bytes are gone. */
const CARRY_SIZE_KEPT = 16 * 1024;
const nothing = Buffer.alloc(0);

export class FrameDecoder {
  readonly #sink: FrameSink;
  /** Bytes [carryAt, carryEnd) wait: a cut frame, or after a refusal any number of frames. */
  #carry = nothing;
  #carryAt = 0;
  #carryEnd = 0;
  /** Chunks pushed while the sink was being called. */
  readonly #late: Buffer[] = [];
  #lateSize = 0;
  #held = false;
  #busy = false;
  #fault: string | null = null;
  /** Set by #offer: where the first frame not taken begins. */
  #stoppedAt = 0;

  constructor(sink: FrameSink) {
    this.#sink = sink;
  }

  /** Bytes that were pushed and are not yet taken by the sink. */
  get keptBytes(): number {
    return this.#carryEnd - this.#carryAt + this.#lateSize;
  }

  /** True between a refusal and the `resume()` after it. */
  get held(): boolean {
    return this.#held;
  }

  /** Takes the next bytes of the stream. A text means: not this protocol, or beyond its limits; close the connection. */
  push(chunk: Uint8Array, at = 0, end = chunk.length): string | null {
    if (this.#busy) {
      this.#late.push(Buffer.from(chunk.subarray(at, end)));
      this.#lateSize += end - at;
      return null;
    }
    if (this.#fault !== null) return this.#fault;
    const bytes = asBuffer(chunk);
    if (this.#held) {
      this.#keep(bytes, at, end);
      return null;
    }
    this.#busy = true;
    this.#take(bytes, at, end);
    return this.#finish();
  }

  /** Offers again what was refused, and all behind it. Nothing to do while the sink is being called. */
  resume(): string | null {
    if (this.#busy) return null;
    if (!this.#held) return this.#fault;
    this.#held = false;
    this.#busy = true;
    this.#offerKept();
    return this.#finish();
  }

  #finish(): string | null {
    while (this.#late.length > 0) {
      const chunk = this.#late.shift() as Buffer;
      this.#lateSize -= chunk.length;
      if (this.#held) this.#keep(chunk, 0, chunk.length);
      else if (this.#fault === null) this.#take(chunk, 0, chunk.length);
    }
    this.#busy = false;
    this.#release();
    return this.#fault;
  }

  #take(bytes: Buffer, at: number, end: number): void {
    let next = at;
    if (this.#carryEnd > this.#carryAt) {
      next = this.#complete(bytes, at, end);
      if (next < 0) return;
    }
    this.#offer(bytes, next, end);
    if (this.#fault === null) this.#keep(bytes, this.#stoppedAt, end);
  }

  /** Adds to the cut frame no more than it lacks, and offers it. Returns where the chunk goes on, -1 when all of it is kept. */
  #complete(bytes: Buffer, at: number, end: number): number {
    while (true) {
      const kept = this.#carryEnd - this.#carryAt;
      const wanted = kept < HEADER_AT ? HEADER_AT : 4 + readI32(this.#carry, this.#carryAt);
      const part = Math.min(wanted - kept, end - at);
      this.#keep(bytes, at, at + part);
      at += part;
      this.#offerKept();
      if (this.#fault !== null) return -1;
      if (this.#held) {
        this.#keep(bytes, at, end);
        return -1;
      }
      if (this.#carryEnd === this.#carryAt) return at;
      if (at === end) return -1;
    }
  }

  #offerKept(): void {
    this.#offer(this.#carry, this.#carryAt, this.#carryEnd);
    this.#carryAt = this.#stoppedAt;
  }

  /** Offers the frames in [at, end) until one is cut, refused or wrong. */
  #offer(bytes: Buffer, at: number, end: number): void {
    const first = at;
    while (end - at >= 4) {
      const length = readI32(bytes, at + LENGTH_AT);
      if (length < 4 || length > FRAME_SIZE_MAX - 4) {
        this.#fault = lengthFault(bytes, at, end, length, at === first);
        break;
      }
      if (end - at < HEADER_AT) break;
      const codec = bytes[at + CODEC_AT] as number;
      const headerSize = readI32(bytes, at + CODEC_AT) & 0xff_ffff;
      if (codec > HeaderCodecs.binary || headerSize > length - 4) {
        this.#fault = headerFault(codec, headerSize, length);
        break;
      }
      if (end - at < 4 + length) break;
      const bodyAt = at + HEADER_AT + headerSize;
      const taken = this.#sink.onFrame(bytes, at + HEADER_AT, headerSize, codec as HeaderCodec, bodyAt, length - 4 - headerSize);
      if (!taken) {
        this.#held = true;
        break;
      }
      at += 4 + length;
    }
    this.#stoppedAt = at;
  }

  #keep(bytes: Buffer, at: number, end: number): void {
    const size = end - at;
    if (size === 0) return;
    const kept = this.#carryEnd - this.#carryAt;
    if (this.#carryEnd + size > this.#carry.length) {
      // Moving down is worth it only when it frees half of the buffer; else a slow sink would pay for it again and again.
      const roomy = kept + size <= this.#carry.length >> 1;
      const target = roomy ? this.#carry : Buffer.allocUnsafeSlow(Math.max(CARRY_SIZE_MIN, 2 * kept, kept + size));
      this.#carry.copy(target, 0, this.#carryAt, this.#carryEnd);
      this.#carry = target;
      this.#carryAt = 0;
      this.#carryEnd = kept;
    }
    bytes.copy(this.#carry, this.#carryEnd, at, end);
    this.#carryEnd += size;
  }

  #release(): void {
    if (this.#fault !== null) {
      this.#carry = nothing;
      this.#carryAt = this.#carryEnd = 0;
    } else if (this.#carryAt === this.#carryEnd) {
      this.#carryAt = this.#carryEnd = 0;
      if (this.#carry.length > CARRY_SIZE_KEPT) this.#carry = nothing;
    }
  }
}

function lengthFault(bytes: Buffer, at: number, end: number, length: number, isFirst: boolean): string {
  const foreign = isFirst ? foreignProtocol(bytes, at, end) : undefined;
  if (foreign !== undefined) return `not a frame but ${foreign}`;
  return `frame length is out of range length=${length} min=4 max=${FRAME_SIZE_MAX - 4}`;
}

function headerFault(codec: number, headerSize: number, length: number): string {
  if (codec > HeaderCodecs.binary) return `header codec is unknown codec=${codec} allowed=0 (JSON), 1 (binary)`;
  return `header is longer than its frame headerSize=${headerSize} max=${length - 4}`;
}
