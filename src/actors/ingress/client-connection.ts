// One connection's state at the ingress: frames being cut from its bytes, answers being collected, and what it is waiting for.
import { isIPv4 } from 'node:net';
import { assert } from '../../base/assert.ts';
import { FrameDecoder, type FrameSink } from '../../protocol/frame.ts';
import type { Connection } from '../../runtime/transport.ts';
import type { DirectoryLiveGroup } from '../messages.ts';
import { CHUNK_SIZE, type Chunk, type ChunkPool } from './chunk-pool.ts';

export const PEER_NONE = -1;

export class ClientConnection {
  readonly connection: Connection;
  readonly decoder: FrameDecoder;
  /** The peer's address as a record keeps it: 4 or 16 bytes. */
  readonly hostBytes: Uint8Array;
  /** Came in through the second port, which serves no pulls. */
  readonly vip: boolean;
  /** The coordinator's number for a connection that we opened. */
  readonly peerId: number;
  closed = false;
  /** A frame was refused and waits in the decoder; the connection is paused. */
  stalled = false;
  lastActivityMs: number;
  /** A topic this connection's next frame waits for; answered by the coordinator. */
  waitsForTopic = '';
  /** What the coordinator said of it, for the frame that is offered again. */
  verdict: { readonly topic: string; readonly code: number; readonly remark: string } | null = null;
  /** By group: what this connection itself said in its heartbeats; a pull counts as its own where it is in here. */
  readonly memberships = new Map<string, DirectoryLiveGroup>();
  /** Requests under way in other actors. */
  pendingCount = 0;
  /** The pass of the ingress in which it last asked for what may be large, and how much of that. */
  #sharePass = -1;
  #share = 0;

  readonly #pool: ChunkPool;
  #chunk: Chunk | null = null;
  /** Where in the chunk's bytes the next answer goes. */
  #end = 0;
  /** Pooled chunks under way, oldest first; null for bytes that are not pooled. */
  readonly #leaving: (Chunk | null)[] = [];

  constructor(
    connection: Connection,
    sinkOf: (client: ClientConnection) => FrameSink,
    pool: ChunkPool,
    peerId: number,
    vip: boolean,
    nowMs: number,
  ) {
    this.connection = connection;
    this.hostBytes = hostBytesOf(connection.remoteHost);
    this.peerId = peerId;
    this.vip = vip;
    this.#pool = pool;
    this.lastActivityMs = nowMs;
    this.decoder = new FrameDecoder(sinkOf(this));
  }

  get id(): number {
    return this.connection.id;
  }

  /** What it has asked for in this pass, this request included. @param weight of the answer, as large as it may be. */
  shareOf(pass: number, weight: number): number {
    this.#share = pass === this.#sharePass ? this.#share + weight : weight;
    this.#sharePass = pass;
    return this.#share;
  }

  get hasOutput(): boolean {
    return this.#chunk !== null && this.#end > this.#chunk.at;
  }

  /** Room for up to `size` bytes of an answer: a chunk, and where in it; `wrote` says how many were used. */
  reserve(size: number): Buffer {
    assert(size <= CHUNK_SIZE, 'small answers only');
    if (this.#chunk !== null && this.#end + size > this.#chunk.at + CHUNK_SIZE) this.flush();
    if (this.#chunk === null) {
      this.#chunk = this.#pool.take();
      this.#end = this.#chunk.at;
    }
    return this.#chunk.bytes;
  }

  get outputAt(): number {
    return this.#end;
  }

  wrote(end: number): void {
    this.#end = end;
  }

  /** Sends an answer of any size, after all that was reserved before. The bytes must not be changed any more. */
  send(bytes: Buffer): void {
    if (bytes.length <= CHUNK_SIZE / 4) {
      const chunk = this.reserve(bytes.length);
      bytes.copy(chunk, this.#end);
      this.#end += bytes.length;
      return;
    }
    this.flush();
    if (this.closed) return;
    this.#leaving.push(null);
    this.connection.write(bytes);
  }

  /** One write for all that was collected in this turn. */
  flush(): void {
    const chunk = this.#chunk;
    if (chunk === null || this.#end === chunk.at) return;
    this.#chunk = null;
    if (this.closed) {
      this.#pool.give(chunk);
      return;
    }
    const bytes = chunk.bytes.subarray(chunk.at, this.#end);
    this.#leaving.push(chunk);
    this.connection.write(bytes);
  }

  /** The connection has closed: bytes that were under way are free. */
  onClosed(): void {
    this.closed = true;
    for (const chunk of this.#leaving) if (chunk !== null) this.#pool.give(chunk);
    this.#leaving.length = 0;
  }

  onWritten(): void {
    const chunk = this.#leaving.shift();
    if (chunk !== null && chunk !== undefined) this.#pool.give(chunk);
  }
}

function hostBytesOf(host: string): Uint8Array {
  if (isIPv4(host)) return Uint8Array.from(host.split('.').map(Number));
  const [head = '', tail] = (host.split('%')[0] ?? '').split('::');
  const before = groupsOf(head);
  const after = tail === undefined ? [] : groupsOf(tail);
  const groups = [...before, ...new Array<number>(Math.max(0, 8 - before.length - after.length)).fill(0), ...after].slice(0, 8);
  return Uint8Array.from(groups.flatMap((group) => [group >> 8, group & 0xff]));
}

function groupsOf(text: string): number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16) || 0);
}
