// One connection to the name server: cuts its bytes into requests, and stops reading from a peer that does not take its answers.
import { FrameDecoder, type FrameSink, type HeaderCodec } from '../protocol/frame.ts';
import type { Connection } from '../runtime/transport.ts';

export interface PeerOwner {
  /** Most unsent bytes of one connection. */
  readonly bufferedBytesMax: number;
  /** Answers through `peer.write`; a text means that these bytes are no request. */
  onRequest(
    peer: Peer,
    bytes: Buffer,
    headerAt: number,
    headerSize: number,
    codec: HeaderCodec,
    bodyAt: number,
    bodySize: number,
  ): string | null;
}

export class Peer implements FrameSink {
  readonly connection: Connection;
  lastActiveMs: number;
  readonly #owner: PeerOwner;
  readonly #decoder = new FrameDecoder(this);
  #fault: string | null = null;
  #paused = false;

  constructor(connection: Connection, owner: PeerOwner, steadyMs: number) {
    this.connection = connection;
    this.#owner = owner;
    this.lastActiveMs = steadyMs;
  }

  get isPaused(): boolean {
    return this.#paused;
  }

  /** A text means that the stream is broken and the connection must go. */
  push(chunk: Uint8Array): string | null {
    return this.#decoder.push(chunk) ?? this.#fault;
  }

  write(bytes: Uint8Array): void {
    this.connection.write(bytes);
  }

  /** Some answers have left: goes on where there is room again. */
  drained(): string | null {
    if (!this.#paused || this.connection.bufferedBytes > this.#owner.bufferedBytesMax / 2) return null;
    this.#paused = false;
    const fault = this.#decoder.resume() ?? this.#fault;
    if (!this.#paused) this.connection.resume();
    return fault;
  }

  onFrame(bytes: Buffer, headerAt: number, headerSize: number, codec: HeaderCodec, bodyAt: number, bodySize: number): boolean {
    if (this.#fault !== null) return true;
    if (this.connection.bufferedBytes > this.#owner.bufferedBytesMax) {
      if (!this.#paused) this.connection.pause();
      this.#paused = true;
      return false;
    }
    this.#fault = this.#owner.onRequest(this, bytes, headerAt, headerSize, codec, bodyAt, bodySize);
    return true;
  }
}
