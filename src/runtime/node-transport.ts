// The transport over node:net: listens, connects, and knows what is open so that a shutdown leaves no handle behind.
import { once } from 'node:events';
import net from 'node:net';
import { ErrorCodes, RingmqError } from '../base/errors.ts';
import { addressError } from './address-error.ts';
import { copyDescriptor } from './descriptor-copy.ts';
import { type ConnectionOwner, NodeConnection, type Peer, plainAddress, type SocketOf } from './node-connection.ts';
import { canShareReadBuffer, descriptorOf, outgoingSocket, readInto } from './node-handle.ts';
import type { Connection, ConnectionHandler, Listener, ListenOptions, Transport } from './transport.ts';

export interface NodeTransportOptions {
  /** Told of what a handler threw (its connection is closed by then) and of failed accepts. Must not throw. */
  readonly onFault?: (error: unknown) => void;
  /** Reads all connections into one buffer instead of a new one per read. Default true; without effect where it is not possible. */
  readonly sharedReads?: boolean;
  /** That buffer; a new one where it is absent. */
  readonly readBuffer?: Uint8Array;
}

/** Clients that arrive together (a restart) wait here instead of repeating their SYN a second later. */
const backlogCount = 1024;
const readBufferSizeBytes = 256 * 1024;

export class NodeTransport implements Transport {
  readonly #owner: ConnectionOwner;
  readonly #readBuffer: Uint8Array | undefined;
  readonly #connections = new Set<NodeConnection>();
  readonly #servers = new Set<net.Server>();
  #lastId = 0;
  #closed = false;
  readonly #whenEmpty: (() => void)[] = [];

  constructor(options: NodeTransportOptions = {}) {
    this.#owner = { onFault: options.onFault ?? (() => {}), onGone: (connection) => this.#onGone(connection) };
    const shared = canShareReadBuffer && (options.sharedReads ?? true);
    this.#readBuffer = shared ? (options.readBuffer ?? Buffer.allocUnsafeSlow(readBufferSizeBytes)) : undefined;
  }

  /** Connections that are open, opening or closing. */
  get connectionCount(): number {
    return this.#connections.size;
  }

  async listen(options: ListenOptions, handler: ConnectionHandler): Promise<Listener> {
    if (this.#closed) throw closedError();
    const server = net.createServer({ noDelay: true, allowHalfOpen: false, pauseOnConnect: this.#readBuffer !== undefined });
    server.on('connection', (socket) => this.#accept(socket, handler));
    this.#servers.add(server);
    server.once('close', () => this.#servers.delete(server));
    try {
      await startListening(server, options);
    } catch (error) {
      this.#servers.delete(server);
      throw addressError(options, (error as NodeJS.ErrnoException).code ?? 'unknown', error);
    }
    if (this.#closed) {
      server.close();
      throw closedError();
    }
    // Such as an accept for which no descriptor is left: the listener lives on.
    server.on('error', (error) => this.#owner.onFault(error));
    const address = server.address() as net.AddressInfo;
    return {
      host: plainAddress(address.address),
      port: address.port,
      fd: descriptorOf(server),
      // Not waiting for 'close', which node holds back until the accepted connections are gone too.
      close: async () => void server.close(),
    };
  }

  connect(host: string, port: number, handler: ConnectionHandler): Connection {
    const buffer = this.#readBuffer;
    const connection = this.#add({ host, port }, handler, (callback) => outgoingSocket(buffer && { buffer, callback }));
    if (this.#closed) connection.destroy(closedError());
    else connection.dial();
    return connection;
  }

  /** Closes the listeners and destroys every connection; settles when each has had its onClose. The transport is of no use then. */
  async closeAll(): Promise<void> {
    this.#closed = true;
    const gone: Promise<unknown>[] = [];
    for (const server of this.#servers) {
      gone.push(once(server, 'close'));
      server.close();
    }
    for (const connection of this.#connections) connection.destroy();
    if (this.#connections.size > 0) gone.push(new Promise<void>((resolve) => this.#whenEmpty.push(resolve)));
    await Promise.all(gone);
  }

  #accept(accepted: net.Socket, handler: ConnectionHandler): void {
    const buffer = this.#readBuffer;
    const remote = { host: plainAddress(accepted.remoteAddress ?? ''), port: accepted.remotePort ?? 0 };
    const connection = this.#add(remote, handler, (callback) => {
      const socket = buffer === undefined ? undefined : readInto(accepted, { buffer, callback });
      return socket ?? accepted.resume();
    });
    connection.open();
  }

  #add(remote: Peer, handler: ConnectionHandler, socketOf: SocketOf): NodeConnection {
    this.#lastId++;
    const connection = new NodeConnection(this.#lastId, remote, handler, this.#owner, socketOf);
    this.#connections.add(connection);
    return connection;
  }

  #onGone(connection: NodeConnection): void {
    this.#connections.delete(connection);
    if (this.#connections.size > 0) return;
    for (const resolve of this.#whenEmpty.splice(0)) resolve();
  }
}

async function startListening(server: net.Server, { host, port, fd }: ListenOptions): Promise<void> {
  const shared = fd === undefined ? undefined : await copyDescriptor(fd);
  // Also settles when the server was closed before it came to listening.
  await new Promise<void>((resolve, reject) => {
    server.once('listening', resolve).once('close', resolve).once('error', reject);
    if (shared === undefined) server.listen({ host, port, backlog: backlogCount, exclusive: true });
    else server.listen(shared, backlogCount);
  });
  server.removeAllListeners('error');
}

function closedError(): RingmqError {
  return new RingmqError(ErrorCodes.closed, 'the transport is closed; make a new one');
}
