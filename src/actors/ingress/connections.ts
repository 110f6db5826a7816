// The connections of an ingress: opening, bytes in, malformed frames, pausing and going on, idle ones, closing.
import { RateLimit } from '../../base/rate-limit.ts';
import { CounterIds } from '../../runtime/counters.ts';
import type { Connection, ConnectionHandler } from '../../runtime/transport.ts';
import { ClientConnection, PEER_NONE } from './client-connection.ts';
import type { Desk } from './desk.ts';
import type { FrameRouter } from './frame-router.ts';

const SWEEP_MS = 5_000;
const FAULT_LINE_MS = 1_000;

export class Connections {
  /** Steady time of the next look at idle connections; Infinity while there is none. */
  nextSweepMs = Number.POSITIVE_INFINITY;
  readonly #desk: Desk;
  readonly #router: FrameRouter;
  readonly #onGone: (client: ClientConnection) => void;
  readonly #faultLines = new RateLimit(FAULT_LINE_MS);
  #stopping = false;

  constructor(desk: Desk, router: FrameRouter, onGone: (client: ClientConnection) => void) {
    this.#desk = desk;
    this.#router = router;
    this.#onGone = onGone;
  }

  /** The handler of a listener's connections, or of one that we open to a peer. */
  handlerFor(peerId: number, vip: boolean): ConnectionHandler {
    return {
      onOpen: (connection) => this.#onOpen(connection, peerId, vip),
      onData: (connection, chunk) => this.#onData(connection, chunk),
      onWritten: (connection) => this.#onWritten(connection),
      onClose: (connection, error) => this.#onClose(connection, peerId, vip, error),
    };
  }

  #onOpen(connection: Connection, peerId: number, vip: boolean): void {
    const { context, clients, pool } = this.#desk;
    const nowMs = context.clock.steadyMs();
    if (this.#stopping || (peerId === PEER_NONE && clients.size >= context.settings.connectionCountMax)) {
      this.#logRefused();
      connection.destroy();
      return;
    }
    const client = new ClientConnection(
      connection,
      (of) => this.#router.sinkFor(of, (fault) => this.#onFault(of, fault)),
      pool,
      peerId,
      vip,
      nowMs,
    );
    clients.set(connection.id, client);
    context.counters.set(CounterIds.connections, clients.size);
    context.counters.add(CounterIds.connectionsOpened, 1);
    this.nextSweepMs = Math.min(this.nextSweepMs, nowMs + SWEEP_MS);
    this.#router.relay.onOpened(client);
    context.wake();
  }

  #onData(connection: Connection, chunk: Uint8Array): void {
    const client = this.#desk.clients.get(connection.id);
    if (client === undefined || this.#stopping) return;
    client.lastActivityMs = this.#desk.context.clock.steadyMs();
    this.#desk.context.counters.add(CounterIds.bytesIn, chunk.length);
    const fault = this.#push(client, chunk);
    if (fault !== null) this.#onFault(client, fault);
    this.#guardMemory(client);
    this.#desk.context.wake();
  }

  /** What was read into the arena goes on under its address there, so that it is copied on inside of it. */
  #push(client: ClientConnection, chunk: Uint8Array): string | null {
    const { arena } = this.#desk;
    if (chunk.buffer !== arena.buffer) return client.decoder.push(chunk);
    return client.decoder.push(arena.bytes, chunk.byteOffset, chunk.byteOffset + chunk.length);
  }

  /** A reader slower than its answers is not read from until it has caught up. */
  #guardMemory(client: ClientConnection): void {
    const { connectionMemoryMaxBytes, totalMemoryMaxBytes } = this.#desk.context.settings;
    const buffered = client.connection.bufferedBytes;
    if (client.stalled || buffered === 0) return;
    if (buffered > connectionMemoryMaxBytes || (buffered > connectionMemoryMaxBytes / 16 && this.#totalBuffered() > totalMemoryMaxBytes)) {
      client.stalled = true;
      client.connection.pause();
      this.#desk.stalled.push(client);
    }
  }

  #totalBuffered(): number {
    let total = 0;
    for (const client of this.#desk.clients.values()) total += client.connection.bufferedBytes;
    return total;
  }

  #onWritten(connection: Connection): void {
    const client = this.#desk.clients.get(connection.id);
    if (client === undefined) return;
    client.onWritten();
    client.lastActivityMs = this.#desk.context.clock.steadyMs();
    if (client.stalled) this.#desk.context.wake();
  }

  /** Offers refused frames again, and reads on where there is room; returns how many connections went on. */
  offerAgain(): number {
    const { stalled } = this.#desk;
    if (stalled.length === 0) return 0;
    this.#desk.stalled = [];
    let count = 0;
    for (const client of stalled) {
      if (client.closed) continue;
      if (client.waitsForTopic !== '' || client.connection.bufferedBytes > this.#desk.context.settings.connectionMemoryMaxBytes / 2) {
        this.#desk.stalled.push(client);
        continue;
      }
      client.stalled = false;
      const fault = client.decoder.resume();
      if (fault !== null) this.#onFault(client, fault);
      if (client.stalled || client.closed) continue;
      client.connection.resume();
      count++;
    }
    this.#desk.context.counters.set(CounterIds.pausedConnections, this.#desk.stalled.length);
    return count;
  }

  /** Closes connections that neither said nor took anything for too long. */
  sweep(nowMs: number): void {
    if (nowMs < this.nextSweepMs) return;
    const { context, clients } = this.#desk;
    const idleMs = context.settings.serverChannelMaxIdleTimeSeconds * 1_000;
    for (const client of clients.values()) if (nowMs - client.lastActivityMs >= idleMs) client.connection.destroy();
    this.nextSweepMs = clients.size > 0 ? nowMs + SWEEP_MS : Number.POSITIVE_INFINITY;
  }

  #onFault(client: ClientConnection, fault: string): void {
    if (client.closed) return;
    const { counters, clock, log } = this.#desk.context;
    counters.add(CounterIds.malformedFrames, 1);
    const suppressed = this.#faultLines.admit(clock.steadyMs());
    const { remoteHost, remotePort } = client.connection;
    if (suppressed >= 0) log.warn('a malformed frame closed its connection', { fault, from: `${remoteHost}:${remotePort}`, suppressed });
    client.connection.destroy();
  }

  #onClose(connection: Connection, peerId: number, vip: boolean, error: Error | undefined): void {
    const { clients, context, pool } = this.#desk;
    let client = clients.get(connection.id);
    if (client === undefined) {
      if (peerId === PEER_NONE) return;
      client = new ClientConnection(connection, (of) => this.#router.sinkFor(of, () => {}), pool, peerId, vip, 0);
    }
    client.onClosed();
    clients.delete(connection.id);
    context.counters.set(CounterIds.connections, clients.size);
    this.#onGone(client);
    this.#router.relay.onClosed(client, error, this.#stopping);
    context.wake();
  }

  stopReading(): void {
    this.#stopping = true;
    for (const client of this.#desk.clients.values()) client.connection.pause();
  }

  destroyAll(): void {
    this.#stopping = true;
    for (const client of [...this.#desk.clients.values()]) client.connection.destroy();
  }

  closeAll(): void {
    for (const client of [...this.#desk.clients.values()]) client.connection.end();
  }

  #logRefused(): void {
    const { log, clock, settings } = this.#desk.context;
    if (this.#stopping) return;
    const suppressed = this.#faultLines.admit(clock.steadyMs());
    if (suppressed >= 0)
      log.warn('a connection was refused: too many are open', { connectionCountMax: settings.connectionCountMax, suppressed });
  }
}
