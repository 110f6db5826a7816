// One TCP connection over node:net: keeps the order of writes and stands between the socket's events and the handler's mistakes.
import type net from 'node:net';
import { present } from '../base/assert.ts';
import { Fifo } from './fifo.ts';
import type { ReadInto } from './node-handle.ts';
import type { Connection, ConnectionHandler } from './transport.ts';

export interface ConnectionOwner {
  /** A handler threw; the connection closes by itself. */
  onFault(error: unknown): void;
  onGone(connection: NodeConnection): void;
}

export interface Peer {
  readonly host: string;
  readonly port: number;
}

/** Makes the connection's socket: one that reads into a buffer and then calls `callback`, or one with 'data' events. */
export type SocketOf = (callback: ReadInto['callback']) => net.Socket;

const mappedPrefix = '::ffff:';

/** `::ffff:10.0.0.1` as `10.0.0.1`; anything else unchanged. */
export function plainAddress(address: string): string {
  const mapped = address.startsWith(mappedPrefix) && address.includes('.');
  return mapped ? address.slice(mappedPrefix.length) : address;
}

export class NodeConnection implements Connection {
  readonly id: number;
  readonly #handler: ConnectionHandler;
  readonly #owner: ConnectionOwner;
  readonly #socket: net.Socket;
  #remote: Peer;
  #paused = false;
  #ending = false;
  #destroyed = false;
  #closed = false;
  #error: Error | undefined;
  /** Writes not told of yet: node calls back in the order of writes, so no closure per write is needed. */
  readonly #leaving = new Fifo<Uint8Array>();
  readonly #onLeft: (error?: Error | null) => void;

  constructor(id: number, remote: Peer, handler: ConnectionHandler, owner: ConnectionOwner, socketOf: SocketOf) {
    this.id = id;
    this.#remote = remote;
    this.#handler = handler;
    this.#owner = owner;
    this.#onLeft = (error) => this.#left(error);
    this.#socket = socketOf((sizeBytes, buffer) => {
      this.#data(buffer.subarray(0, sizeBytes));
      return true;
    });
    // Also for sockets with `onread`, which never emit it: should a later node ignore the option, the bytes still arrive.
    this.#socket.on('data', (chunk) => this.#data(chunk));
    // A resume of node's takes effect a turn later and starts reading even when a pause came in between.
    this.#socket.on('resume', () => {
      if (this.#paused) this.#socket.pause();
    });
    this.#socket.on('error', (error) => {
      this.#error ??= error;
    });
    this.#socket.on('close', () => this.#gone());
  }

  get remoteHost(): string {
    return this.#remote.host;
  }

  get remotePort(): number {
    return this.#remote.port;
  }

  get bufferedBytes(): number {
    return this.#closed ? 0 : this.#socket.writableLength;
  }

  /** Connects to `remote`; open() follows by itself. */
  dial(): void {
    const { host, port } = this.#remote;
    try {
      // 'ready' comes after all of 'connect', in which node may start reading in spite of a pause.
      this.#socket.once('ready', () => this.open()).connect({ host, port, noDelay: true });
    } catch (error) {
      // Such as a port out of range.
      this.destroy(error as Error);
    }
  }

  /** Tells the handler that bytes can flow; the transport calls it once. */
  open(): void {
    if (this.#destroyed) return;
    const socket = this.#socket;
    if (this.#paused) socket.pause();
    // Absent when the peer is gone already; its close follows.
    if (socket.remoteAddress !== undefined) this.#remote = { host: plainAddress(socket.remoteAddress), port: socket.remotePort ?? 0 };
    try {
      this.#handler.onOpen(this);
    } catch (error) {
      this.#fault(error);
    }
  }

  write(bytes: Uint8Array): void {
    if (this.#ending || this.#destroyed || this.#socket.writableEnded || this.#socket.destroyed) return;
    this.#leaving.push(bytes);
    this.#socket.write(bytes, this.#onLeft);
  }

  pause(): void {
    if (this.#ending || this.#destroyed) return;
    this.#paused = true;
    this.#socket.pause();
  }

  resume(): void {
    this.#paused = false;
    if (!this.#destroyed) this.#socket.resume();
  }

  end(): void {
    if (this.#ending || this.#destroyed) return;
    this.#ending = true;
    this.#paused = false;
    this.#socket.end();
    // Reading on (to nobody) is how the peer's own close is seen; closing over unread bytes would reset what we sent last.
    this.#socket.resume();
  }

  destroy(error?: Error): void {
    if (error !== undefined) this.#error ??= error;
    if (this.#destroyed) return;
    this.#destroyed = true;
    this.#socket.destroy();
  }

  #data(chunk: Uint8Array): void {
    if (this.#ending || this.#destroyed) return;
    try {
      this.#handler.onData(this, chunk);
    } catch (error) {
      this.#fault(error);
    }
  }

  #left(error?: Error | null): void {
    // A failed socket calls back for what it never sent; onClose tells of that.
    if (error || this.#destroyed) return;
    const bytes = present(this.#leaving.shift(), 'write that left');
    try {
      this.#handler.onWritten(this, bytes);
    } catch (error) {
      this.#fault(error);
    }
  }

  #gone(): void {
    this.#destroyed = true;
    this.#closed = true;
    this.#leaving.clear();
    this.#owner.onGone(this);
    try {
      this.#handler.onClose(this, this.#error);
    } catch (error) {
      this.#owner.onFault(error);
    }
  }

  #fault(thrown: unknown): void {
    this.destroy(thrown instanceof Error ? thrown : new Error(String(thrown)));
    this.#owner.onFault(thrown);
  }
}
