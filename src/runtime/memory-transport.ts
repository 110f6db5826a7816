// A network in one thread's memory: every event is one step, chosen by a seeded random, so that a run repeats from its seed.
import { assert, present } from '../base/assert.ts';
import { ErrorCodes, RingmqError } from '../base/errors.ts';
import type { Random } from '../base/random.ts';
import { addressError } from './address-error.ts';
import { type Happening, MemoryConnection, type MemoryHost, type Sizes } from './memory-connection.ts';
import type { Connection, ConnectionHandler, Listener, ListenOptions, Transport } from './transport.ts';

export interface MemoryNetworkOptions {
  /** Cuts and glues chunks at random (default); without it each write arrives as one chunk, whatever its size. */
  readonly splitting?: boolean;
  /** The largest chunk when splitting. */
  readonly chunkSizeBytesMax?: number;
  /** Unread bytes that one direction of a connection holds; what exceeds them stays with the writer. */
  readonly pipeSizeBytes?: number;
}

/** Who listens on a port. */
interface Binding {
  readonly transport: MemoryTransport;
  readonly handler: ConnectionHandler;
}

/** The first number given for port 0, to listeners and to connecting ends alike. */
const firstFreePort = 40_000;
const portMax = 65_535;

export class MemoryNetwork {
  readonly random: Random;
  readonly sizes: Sizes;
  readonly #bindings = new Map<number, Binding>();
  readonly #pendingEnds: MemoryConnection[] = [];
  #chunk: Buffer = Buffer.alloc(0);
  #pendingCount = 0;
  #nextPort = firstFreePort;

  constructor(random: Random, options: MemoryNetworkOptions = {}) {
    const { splitting = true, chunkSizeBytesMax = 4096, pipeSizeBytes = 64 * 1024 } = options;
    assert(chunkSizeBytesMax > 0 && pipeSizeBytes >= chunkSizeBytesMax, 'a chunk must fit into the pipe');
    this.random = random;
    this.sizes = { splitting, chunkSizeBytesMax, pipeSizeBytes };
  }

  /** What could happen at the next step. */
  get pendingCount(): number {
    return this.#pendingCount;
  }

  /** @param onFault told of what a handler threw; its connection is closed by then. */
  transport(name: string, onFault: (error: unknown) => void = () => {}): MemoryTransport {
    return new MemoryTransport(this, name, onFault);
  }

  /** Lets one pending event happen: an open, a move of bytes, a chunk, a close. False when nothing is pending. */
  step(): boolean {
    const ends = this.#pendingEnds;
    if (ends.length === 0) return false;
    const end = present(ends[ends.length === 1 ? 0 : this.random.below(ends.length)], 'pending end');
    end.happen(this.#oneOf(end.pending));
    return true;
  }

  /** Breaks a connection abruptly: both ends lose what is under way and close with an error, at later steps. */
  cut(connection: Connection): void {
    assert(connection instanceof MemoryConnection, 'a connection of another transport');
    connection.cut();
  }

  /** For the network's own transports. */
  bind(options: ListenOptions, binding: Binding): number {
    if (options.fd !== undefined) throw addressError(options, 'ENOTSUP');
    const port = options.port === 0 ? this.freePort() : options.port;
    if (this.#bindings.has(port)) throw addressError(options, 'EADDRINUSE');
    this.#bindings.set(port, binding);
    return port;
  }

  unbind(port: number): void {
    this.#bindings.delete(port);
  }

  freePort(): number {
    do {
      this.#nextPort = this.#nextPort === portMax ? firstFreePort : this.#nextPort + 1;
    } while (this.#bindings.has(this.#nextPort));
    return this.#nextPort;
  }

  accept(client: MemoryConnection): MemoryConnection | undefined {
    const binding = this.#bindings.get(client.remotePort);
    return binding?.transport.add(this.freePort(), binding.handler, client);
  }

  chunkOf(sizeBytes: number): Buffer {
    if (sizeBytes > this.#chunk.length) this.#chunk = Buffer.allocUnsafeSlow(sizeBytes);
    return this.#chunk.subarray(0, sizeBytes);
  }

  touch(end: MemoryConnection): void {
    const before = end.pending;
    const now = end.possible();
    if (before === now) return;
    end.pending = now;
    this.#pendingCount += bitCount(now) - bitCount(before);
    const ends = this.#pendingEnds;
    if (before === 0) {
      end.pendingIndex = ends.push(end) - 1;
    } else if (now === 0) {
      const last = present(ends.pop(), 'last pending end');
      if (last !== end) {
        ends[end.pendingIndex] = last;
        last.pendingIndex = end.pendingIndex;
      }
      end.pendingIndex = -1;
    }
  }

  #oneOf(sum: number): Happening {
    const count = bitCount(sum);
    assert(count > 0, 'nothing is pending');
    for (let skip = count === 1 ? 0 : this.random.below(count); skip > 0; skip--) sum &= sum - 1;
    return (sum & -sum) as Happening;
  }
}

export class MemoryTransport implements Transport {
  readonly name: string;
  readonly #network: MemoryNetwork;
  readonly #host: MemoryHost;
  readonly #connections = new Set<MemoryConnection>();
  readonly #ports = new Set<number>();
  readonly #whenEmpty: (() => void)[] = [];
  #lastId = 0;
  #closed = false;

  constructor(network: MemoryNetwork, name: string, onFault: (error: unknown) => void) {
    this.name = name;
    this.#network = network;
    this.#host = {
      random: network.random,
      sizes: network.sizes,
      chunkOf: (sizeBytes) => network.chunkOf(sizeBytes),
      touch: (end) => network.touch(end),
      accept: (client) => network.accept(client),
      onFault,
      onGone: (end) => this.#onGone(end),
    };
  }

  /** Connections that are open, opening or closing. */
  get connectionCount(): number {
    return this.#connections.size;
  }

  async listen(options: ListenOptions, handler: ConnectionHandler): Promise<Listener> {
    if (this.#closed) throw closedError(this.name);
    const port = this.#network.bind(options, { transport: this, handler });
    this.#ports.add(port);
    return { host: options.host, port, fd: -1, close: async () => this.#unbind(port) };
  }

  connect(_host: string, port: number, handler: ConnectionHandler): Connection {
    const connection = this.add(port, handler);
    if (this.#closed) connection.destroy(closedError(this.name));
    return connection;
  }

  /** Closes the listeners and destroys every connection; settles when steps have delivered each onClose. */
  async closeAll(): Promise<void> {
    this.#closed = true;
    for (const port of this.#ports) this.#unbind(port);
    for (const connection of this.#connections) connection.destroy();
    if (this.#connections.size > 0) await new Promise<void>((resolve) => this.#whenEmpty.push(resolve));
  }

  /** For the network: an end of this transport, accepted from `peer` or about to connect. */
  add(remotePort: number, handler: ConnectionHandler, peer?: MemoryConnection): MemoryConnection {
    this.#lastId++;
    const connection = new MemoryConnection(this.#lastId, remotePort, handler, this.#host, peer);
    this.#connections.add(connection);
    this.#network.touch(connection);
    return connection;
  }

  #unbind(port: number): void {
    if (this.#ports.delete(port)) this.#network.unbind(port);
  }

  #onGone(connection: MemoryConnection): void {
    this.#connections.delete(connection);
    if (this.#connections.size > 0) return;
    for (const resolve of this.#whenEmpty.splice(0)) resolve();
  }
}

function bitCount(sum: number): number {
  let count = 0;
  for (; sum !== 0; sum &= sum - 1) count++;
  return count;
}

function closedError(name: string): RingmqError {
  return new RingmqError(ErrorCodes.closed, 'the transport is closed; make a new one', { transport: name });
}
