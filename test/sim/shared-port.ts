// Lets several actors share one listening port in memory, as descriptors do between threads: each connection goes to one of them.
import { assert, present } from '../../src/base/assert.ts';
import type { Random } from '../../src/base/random.ts';
import type { MemoryTransport } from '../../src/runtime/memory-transport.ts';
import type { Connection, ConnectionHandler, Listener, ListenOptions, Transport } from '../../src/runtime/transport.ts';

const FIRST_FD = 100;

class Port implements ConnectionHandler {
  readonly sharers: ConnectionHandler[] = [];
  readonly #random: Random;
  readonly #owners = new Map<number, ConnectionHandler>();

  constructor(random: Random) {
    this.#random = random;
  }

  onOpen(connection: Connection): void {
    const owner = this.sharers[this.#random.below(this.sharers.length)];
    if (owner === undefined) {
      connection.destroy();
      return;
    }
    this.#owners.set(connection.id, owner);
    owner.onOpen(connection);
  }

  onData(connection: Connection, chunk: Uint8Array): void {
    this.#owners.get(connection.id)?.onData(connection, chunk);
  }

  onWritten(connection: Connection, bytes: Uint8Array): void {
    this.#owners.get(connection.id)?.onWritten(connection, bytes);
  }

  onClose(connection: Connection, error?: Error): void {
    this.#owners.get(connection.id)?.onClose(connection, error);
    this.#owners.delete(connection.id);
  }
}

export class SharedPortTransport implements Transport {
  readonly #inner: MemoryTransport;
  readonly #random: Random;
  readonly #ports = new Map<number, { port: Port; listener: Listener }>();

  constructor(inner: MemoryTransport, random: Random) {
    this.#inner = inner;
    this.#random = random;
  }

  async listen(options: ListenOptions, handler: ConnectionHandler): Promise<Listener> {
    if (options.fd !== undefined) {
      const shared = present(this.#ports.get(options.fd), 'shared port');
      return this.#share(shared.port, options.fd, shared.listener, handler);
    }
    const port = new Port(this.#random);
    const listener = await this.#inner.listen(options, port);
    const fd = FIRST_FD + listener.port;
    assert(!this.#ports.has(fd), 'one listener a port');
    this.#ports.set(fd, { port, listener });
    return this.#share(port, fd, listener, handler);
  }

  connect(host: string, port: number, handler: ConnectionHandler): Connection {
    return this.#inner.connect(host, port, handler);
  }

  #share(port: Port, fd: number, listener: Listener, handler: ConnectionHandler): Listener {
    port.sharers.push(handler);
    return {
      host: listener.host,
      port: listener.port,
      fd,
      close: async () => {
        port.sharers.splice(port.sharers.indexOf(handler), 1);
        if (port.sharers.length > 0) return;
        this.#ports.delete(fd);
        await listener.close();
      },
    };
  }
}
