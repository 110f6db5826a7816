// Sockets in memory for the name server's tests: every call takes effect at once; a client can stop taking what it is sent.
import { RingmqError } from '../../src/base/errors.ts';
import type { Connection, ConnectionHandler, Listener, ListenOptions, Transport } from '../../src/runtime/transport.ts';

class ServerSide implements Connection {
  readonly remoteHost = '127.0.0.1';
  readonly remotePort: number;
  readonly id: number;
  bufferedBytes = 0;
  paused = false;
  closed = false;
  taking = true;
  received = Buffer.alloc(0);
  readonly #handler: ConnectionHandler;
  readonly #waiting: Uint8Array[] = [];
  readonly #unread: Buffer[] = [];

  constructor(id: number, handler: ConnectionHandler) {
    this.id = id;
    this.remotePort = 50_000 + id;
    this.#handler = handler;
  }

  write(bytes: Uint8Array): void {
    if (this.closed) return;
    this.bufferedBytes += bytes.length;
    this.#waiting.push(bytes);
    this.take();
  }

  take(): void {
    while (this.taking && !this.closed) {
      const bytes = this.#waiting.shift();
      if (bytes === undefined) return;
      this.received = Buffer.concat([this.received, bytes]);
      this.bufferedBytes -= bytes.length;
      this.#handler.onWritten(this, bytes);
    }
  }

  deliver(bytes: Buffer): void {
    if (this.closed) return;
    this.#unread.push(bytes);
    this.#read();
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
    this.#read();
  }

  end(): void {
    this.take();
    this.destroy();
  }

  destroy(): void {
    if (this.closed) return;
    this.closed = true;
    this.#handler.onClose(this);
  }

  #read(): void {
    while (!this.paused && !this.closed) {
      const bytes = this.#unread.shift();
      if (bytes === undefined) return;
      this.#handler.onData(this, bytes);
    }
  }
}

export class TestClient {
  readonly #side: ServerSide;

  constructor(side: ServerSide) {
    this.#side = side;
  }

  get isClosed(): boolean {
    return this.#side.closed;
  }

  get isPaused(): boolean {
    return this.#side.paused;
  }

  get unsentBytes(): number {
    return this.#side.bufferedBytes;
  }

  send(bytes: Uint8Array): void {
    this.#side.deliver(Buffer.from(bytes));
  }

  /** Whole frames received so far; they are taken out. */
  frames(): Buffer[] {
    const found: Buffer[] = [];
    let rest = this.#side.received;
    while (rest.length >= 4 && rest.length >= 4 + rest.readInt32BE(0)) {
      const size = 4 + rest.readInt32BE(0);
      found.push(rest.subarray(0, size));
      rest = rest.subarray(size);
    }
    this.#side.received = rest;
    return found;
  }

  stopTaking(): void {
    this.#side.taking = false;
  }

  takeAll(): void {
    this.#side.taking = true;
    this.#side.take();
  }

  close(): void {
    this.#side.destroy();
  }
}

export class TestSockets implements Transport {
  #handler: ConnectionHandler | undefined;
  #lastId = 0;
  listening: ListenOptions | undefined;

  async listen(options: ListenOptions, handler: ConnectionHandler): Promise<Listener> {
    this.#handler = handler;
    this.listening = options;
    const close = async (): Promise<void> => {
      this.#handler = undefined;
    };
    return { host: options.host, port: options.port === 0 ? 40_000 : options.port, fd: -1, close };
  }

  connect(): Connection {
    throw new RingmqError('address', 'the name server connects to nobody');
  }

  client(): TestClient {
    const handler = this.#handler;
    if (handler === undefined) throw new RingmqError('address', 'nobody listens');
    this.#lastId++;
    const side = new ServerSide(this.#lastId, handler);
    handler.onOpen(side);
    return new TestClient(side);
  }
}
