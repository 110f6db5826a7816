// One end of a connection in memory: says what could happen to it next, and lets it happen when the network picks it.
import { assert, present } from '../base/assert.ts';
import type { Random } from '../base/random.ts';
import { systemError } from './address-error.ts';
import { Fifo } from './fifo.ts';
import { MemoryPipe } from './memory-pipe.ts';
import type { Connection, ConnectionHandler } from './transport.ts';

/** What can happen to an end; a set of them is the sum. */
export const Happenings = {
  /** The other end comes into being, or nobody listens. */
  connect: 1,
  open: 2,
  /** A part of the oldest write moves into the other end's pipe. */
  take: 4,
  data: 8,
  /** Everything is sent after `end`: the other end may learn of it. */
  finish: 16,
  /** The other end has finished, and all it sent was read. */
  peerFinished: 32,
  close: 64,
} as const;
export type Happening = (typeof Happenings)[keyof typeof Happenings];

export interface Sizes {
  /** false: each write arrives as one chunk. */
  readonly splitting: boolean;
  readonly chunkSizeBytesMax: number;
  readonly pipeSizeBytes: number;
}

/** What an end needs of the network and of the transport that made it. */
export interface MemoryHost {
  readonly random: Random;
  readonly sizes: Sizes;
  /** Memory for the chunk of one step: the same for all connections, as with sockets that share a read buffer. */
  chunkOf(sizeBytes: number): Buffer;
  /** What can happen to `end` may have changed. */
  touch(end: MemoryConnection): void;
  /** The end on the listener's side, or undefined when nobody listens. */
  accept(client: MemoryConnection): MemoryConnection | undefined;
  onFault(error: unknown): void;
  onGone(end: MemoryConnection): void;
}

/** Fills what a handler must not have kept. */
const staleByte = 0xdb;

export class MemoryConnection implements Connection {
  readonly id: number;
  readonly remoteHost = '127.0.0.1';
  readonly remotePort: number;
  /** Where the network keeps this end among those with something pending; -1 for nowhere. */
  pendingIndex = -1;
  pending = 0;
  readonly #host: MemoryHost;
  readonly #handler: ConnectionHandler;
  readonly #inbox: MemoryPipe;
  #peer: MemoryConnection | undefined;
  readonly #writes = new Fifo<Uint8Array>();
  /** Bytes of the oldest write that were taken. */
  #takenSizeBytes = 0;
  #bufferedBytes = 0;
  #opened = false;
  #paused = false;
  #ending = false;
  #finished = false;
  #peerFinishing = false;
  #peerFinished = false;
  #dead = false;
  #closed = false;
  #error: Error | undefined;

  constructor(id: number, remotePort: number, handler: ConnectionHandler, host: MemoryHost, peer?: MemoryConnection) {
    this.id = id;
    this.remotePort = remotePort;
    this.#handler = handler;
    this.#host = host;
    this.#peer = peer;
    this.#inbox = new MemoryPipe(host.sizes.pipeSizeBytes);
  }

  get bufferedBytes(): number {
    return this.#bufferedBytes;
  }

  write(bytes: Uint8Array): void {
    if (this.#ending || this.#dead) return;
    this.#writes.push(bytes);
    this.#bufferedBytes += bytes.length;
    this.#touch();
  }

  pause(): void {
    this.#paused = !this.#ending;
    this.#touch();
  }

  resume(): void {
    this.#paused = false;
    this.#touch();
  }

  end(): void {
    if (this.#ending || this.#dead) return;
    this.#ending = true;
    this.#paused = false;
    this.#inbox.clear();
    this.#touch();
  }

  /** @param error what onClose tells. */
  destroy(error?: Error): void {
    if (error !== undefined) this.#error ??= error;
    if (this.#dead) return;
    this.#dead = true;
    this.#writes.clear();
    this.#bufferedBytes = 0;
    this.#inbox.clear();
    if (this.#peer !== undefined) this.#peer.#peerFinishing = true;
    this.#touch();
  }

  /** Both ends lose what is under way and learn of it as an error. */
  cut(): void {
    const peer = this.#peer;
    this.destroy(systemError('ECONNRESET', 'the connection was cut'));
    peer?.destroy(systemError('ECONNRESET', 'the connection was cut'));
  }

  /** The sum of what can happen now. */
  possible(): number {
    if (this.#closed) return 0;
    if (this.#dead) return Happenings.close;
    if (this.#peer === undefined) return Happenings.connect;
    if (!this.#opened) return Happenings.open;
    const unread = this.#inbox.sizeBytes > 0;
    let sum = 0;
    if (this.#writes.count > 0 && this.#takeSizeBytesMax() >= 0) sum += Happenings.take;
    if (unread && !this.#paused) sum += Happenings.data;
    if (this.#ending && !this.#finished && this.#writes.count === 0) sum += Happenings.finish;
    if (this.#peerFinishing && !this.#peerFinished && !unread && !this.#paused) sum += Happenings.peerFinished;
    return sum;
  }

  happen(what: Happening): void {
    switch (what) {
      case Happenings.connect:
        this.#peer = this.#host.accept(this);
        if (this.#peer === undefined) this.destroy(systemError('ECONNREFUSED', `nobody listens on port ${this.remotePort}`));
        break;
      case Happenings.open:
        this.#opened = true;
        this.#guard(() => this.#handler.onOpen(this));
        break;
      case Happenings.take:
        this.#take();
        break;
      case Happenings.data:
        this.#data();
        break;
      case Happenings.finish:
        this.#finished = true;
        present(this.#peer, 'peer').#peerFinishing = true;
        break;
      case Happenings.peerFinished:
        this.#peerFinished = true;
        this.end();
        break;
      case Happenings.close:
        this.#close();
        break;
    }
    if (this.#finished && this.#peerFinished) this.destroy();
    this.#touch();
  }

  /** How much of the oldest write can move now; 0 for an empty write or a peer that is gone, -1 for nothing. */
  #takeSizeBytesMax(): number {
    const peer = present(this.#peer, 'peer');
    const left = present(this.#writes.peek(), 'oldest write').length - this.#takenSizeBytes;
    if (peer.#dead || left === 0) return 0;
    const spaceBytes = peer.#ending ? left : peer.#inbox.spaceBytes;
    if (!this.#host.sizes.splitting) return left <= spaceBytes ? left : -1;
    return spaceBytes === 0 ? -1 : Math.min(left, spaceBytes, this.#host.sizes.chunkSizeBytesMax);
  }

  #take(): void {
    const peer = present(this.#peer, 'peer');
    if (peer.#dead) {
      this.destroy(systemError('ECONNRESET', 'the peer has closed'));
      return;
    }
    const bytes = present(this.#writes.peek(), 'oldest write');
    const sizeBytes = this.#someOf(this.#takeSizeBytesMax());
    assert(sizeBytes >= 0, 'take without space');
    const end = this.#takenSizeBytes + sizeBytes;
    if (sizeBytes > 0 && !peer.#ending) peer.#inbox.put(bytes.subarray(this.#takenSizeBytes, end));
    this.#bufferedBytes -= sizeBytes;
    this.#takenSizeBytes = end;
    if (end < bytes.length) return;
    this.#takenSizeBytes = 0;
    this.#writes.shift();
    this.#guard(() => this.#handler.onWritten(this, bytes));
  }

  #data(): void {
    const { splitting, chunkSizeBytesMax } = this.#host.sizes;
    const inbox = this.#inbox;
    const sizeBytes = splitting ? this.#someOf(Math.min(inbox.sizeBytes, chunkSizeBytesMax)) : inbox.headSizeBytes;
    const chunk = this.#host.chunkOf(sizeBytes);
    inbox.take(chunk);
    this.#guard(() => this.#handler.onData(this, chunk));
    chunk.fill(staleByte);
  }

  #close(): void {
    this.#closed = true;
    this.#host.onGone(this);
    this.#guard(() => this.#handler.onClose(this, this.#error));
  }

  /** All of it half of the time, so that whole frames and broken ones both arrive. */
  #someOf(sizeBytes: number): number {
    const { random, sizes } = this.#host;
    return sizes.splitting && sizeBytes > 1 && random.below(2) === 0 ? 1 + random.below(sizeBytes) : sizeBytes;
  }

  #touch(): void {
    this.#host.touch(this);
    if (this.#peer !== undefined) this.#host.touch(this.#peer);
  }

  #guard(handle: () => void): void {
    try {
      handle();
    } catch (error) {
      this.destroy(error instanceof Error ? error : new Error(String(error)));
      this.#host.onFault(error);
    }
  }
}
