// How one list of cases runs over every transport: the world a case lives in, and a handler that writes down what it is told.
import type { ExecutionContext, TestFn } from 'ava';
import type { Connection, ConnectionHandler, Listener, Transport } from '../../src/runtime/transport.ts';

export interface ClosableTransport extends Transport {
  readonly connectionCount: number;
  closeAll(): Promise<void>;
}

export interface World {
  readonly transport: ClosableTransport;
  readonly faults: unknown[];
  /** Lets events happen until the condition holds. */
  until(condition: () => boolean): Promise<void>;
  /** Lets everything happen that can happen now. */
  settle(): Promise<void>;
}

/** Writes down what it is told; the hooks act. */
export class Recorder implements ConnectionHandler {
  readonly events: string[] = [];
  readonly connections: Connection[] = [];
  readonly written: Uint8Array[] = [];
  readonly closes: (Error | undefined)[] = [];
  received = '';
  receivedSizeBytes = 0;
  keepText = true;
  doOpen: (connection: Connection) => void = () => {};
  doData: (connection: Connection, chunk: Uint8Array) => void = () => {};
  doWritten: (connection: Connection, bytes: Uint8Array) => void = () => {};
  doClose: (connection: Connection) => void = () => {};

  onOpen(connection: Connection): void {
    this.events.push('open');
    this.connections.push(connection);
    this.doOpen(connection);
  }

  onData(connection: Connection, chunk: Uint8Array): void {
    this.events.push('data');
    this.receivedSizeBytes += chunk.length;
    if (this.keepText) this.received += Buffer.from(chunk).toString('latin1');
    this.doData(connection, chunk);
  }

  onWritten(connection: Connection, bytes: Uint8Array): void {
    this.events.push('written');
    this.written.push(bytes);
    this.doWritten(connection, bytes);
  }

  onClose(connection: Connection, error?: Error): void {
    this.events.push('close');
    this.closes.push(error);
    this.doClose(connection);
  }
}

export const text = (value: string): Buffer => Buffer.from(value, 'latin1');

export interface Pair {
  readonly listener: Listener;
  readonly server: Recorder;
  readonly client: Recorder;
  /** The end that connected. */
  readonly near: Connection;
  /** The end that was accepted. */
  readonly far: Connection;
}

export async function pairOf(world: World, server = new Recorder(), client = new Recorder()): Promise<Pair> {
  const listener = await world.transport.listen({ host: '127.0.0.1', port: 0 }, server);
  const near = world.transport.connect('127.0.0.1', listener.port, client);
  await world.until(() => server.connections.length > 0 && client.connections.length > 0);
  return { listener, server, client, near, far: server.connections[0] as Connection };
}

export type Cases = Readonly<Record<string, (t: ExecutionContext, world: World) => Promise<void>>>;

/** Registers the cases; `makeWorld` is called once for each, and what it made is closed afterwards. */
export function checkCases(test: TestFn, area: string, makeWorld: () => World, cases: Cases): void {
  for (const [title, check] of Object.entries(cases)) {
    test(`${area}: ${title}`, async (t) => {
      const world = makeWorld();
      try {
        await check(t, world);
      } finally {
        const closed = world.transport.closeAll();
        await world.until(() => world.transport.connectionCount === 0);
        await closed;
      }
    });
  }
}
