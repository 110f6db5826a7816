// The name server as an actor: listens, answers, drops silent peers and brokers. All decisions are in the tables and handlers.
import { present } from '../base/assert.ts';
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { RateLimit } from '../base/rate-limit.ts';
import type { HeaderCodec } from '../protocol/frame.ts';
import { encodeResponse, Header, readHeader } from '../protocol/header.ts';
import type { Actor } from '../runtime/actor.ts';
import type { Connection, ConnectionHandler, Listener, Transport } from '../runtime/transport.ts';
import { answerOf } from './handlers/dispatch.ts';
import type { NameState } from './handlers/handler.ts';
import { KvConfig } from './kv-config.ts';
import type { LiveBroker } from './live-brokers.ts';
import { type NameServerSettings, OwnSettings } from './own-settings.ts';
import { Peer, type PeerOwner } from './peer.ts';
import { RouteTable } from './route-table.ts';
import type { TextStore } from './text-store.ts';

export interface NameServerOptions {
  readonly name?: string;
  readonly settings: NameServerSettings;
  readonly transport: Transport;
  readonly clock: Clock;
  /** Scoped to this server already. */
  readonly log: Log;
  /** Keeps the key-value settings. */
  readonly kvStore: TextStore;
  /** Keeps changes of the server's own settings; without it they end with the process. */
  readonly settingsStore?: TextStore;
}

/** Figures for a console; only the server writes them. */
export interface NameServerCounts {
  connections: number;
  requests: number;
  malformedFrames: number;
  refusedConnections: number;
  idleCloses: number;
  lostBrokers: number;
}

const LOG_INTERVAL_MS = 5000;

export class NameServer implements Actor, NameState, ConnectionHandler, PeerOwner {
  readonly name: string;
  readonly routes = new RouteTable();
  readonly kv: KvConfig;
  readonly settings: OwnSettings;
  readonly counts: NameServerCounts = {
    connections: 0,
    requests: 0,
    malformedFrames: 0,
    refusedConnections: 0,
    idleCloses: 0,
    lostBrokers: 0,
  };
  readonly #options: NameServerOptions;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #peers = new Map<number, Peer>();
  /** One header serves all requests: they are answered one by one. */
  readonly #header = new Header();
  readonly #malformedLimit = new RateLimit(LOG_INTERVAL_MS);
  #listener: Listener | undefined;
  #nextScanMs = Number.POSITIVE_INFINITY;
  #startedMs = 0;
  #anyBrokerSeen = false;

  constructor(options: NameServerOptions) {
    this.name = options.name ?? 'name-server';
    this.#options = options;
    this.#clock = options.clock;
    this.#log = options.log;
    this.kv = new KvConfig(options.kvStore);
    this.settings = new OwnSettings(options.settings, options.settingsStore);
  }

  /** The port that is listened on; known once `start` has settled. */
  get port(): number {
    return present(this.#listener, 'listener').port;
  }

  get bufferedBytesMax(): number {
    return this.settings.values.connectionMemoryMaxBytes;
  }

  async start(): Promise<void> {
    this.kv.load();
    const refused = this.settings.load();
    if (refused.length > 0) this.#log.warn('kept settings that no longer fit are left out', { names: refused.join(' ') });
    const { bindAddress, namesrvListenPort } = this.settings.values;
    this.#startedMs = this.#clock.steadyMs();
    this.#listener = await this.#options.transport.listen({ host: bindAddress, port: namesrvListenPort }, this);
    this.#nextScanMs = this.#clock.steadyMs() + this.settings.values.scanNotActiveBrokerInterval;
    this.#log.info('name server listens', { host: bindAddress, port: this.port });
  }

  doWork(): number {
    const nowMs = this.#clock.steadyMs();
    if (nowMs < this.#nextScanMs) return 0;
    this.#nextScanMs = nowMs + this.settings.values.scanNotActiveBrokerInterval;
    const lost = this.routes.expire(nowMs);
    for (const broker of lost) {
      this.#noteLost(broker, 'silent for too long');
      this.#peers.get(broker.connectionId)?.connection.destroy();
    }
    return 1 + lost.length + this.#closeIdle(nowMs);
  }

  deadlineMs(): number {
    return this.#nextScanMs;
  }

  async stop(): Promise<void> {
    this.#nextScanMs = Number.POSITIVE_INFINITY;
    const listener = this.#listener;
    for (const peer of [...this.#peers.values()]) peer.connection.end();
    await listener?.close();
    this.#log.info('name server stopped', { requests: this.counts.requests });
  }

  isWarmingUp(): boolean {
    const { needWaitForService, waitSecondsForService } = this.settings.values;
    this.#anyBrokerSeen ||= this.routes.live.count > 0;
    return needWaitForService && !this.#anyBrokerSeen && this.#clock.steadyMs() < this.#startedMs + waitSecondsForService * 1000;
  }

  onOpen(connection: Connection): void {
    if (this.#peers.size >= this.settings.values.connectionCountMax) {
      this.counts.refusedConnections++;
      connection.destroy();
      return;
    }
    this.counts.connections++;
    this.#peers.set(connection.id, new Peer(connection, this, this.#clock.steadyMs()));
  }

  onData(connection: Connection, chunk: Uint8Array): void {
    const peer = this.#peers.get(connection.id);
    if (peer === undefined) return;
    peer.lastActiveMs = this.#clock.steadyMs();
    this.#closeBroken(peer, peer.push(chunk));
  }

  onWritten(connection: Connection, _bytes: Uint8Array): void {
    const peer = this.#peers.get(connection.id);
    if (peer === undefined) return;
    peer.lastActiveMs = this.#clock.steadyMs();
    this.#closeBroken(peer, peer.drained());
  }

  onClose(connection: Connection, _error?: Error): void {
    if (!this.#peers.delete(connection.id)) return;
    this.counts.connections--;
    for (const broker of this.routes.connectionClosed(connection.id)) this.#noteLost(broker, 'its connection closed');
  }

  onRequest(
    peer: Peer,
    bytes: Buffer,
    headerAt: number,
    headerSize: number,
    codec: HeaderCodec,
    bodyAt: number,
    bodySize: number,
  ): string | null {
    const header = this.#header;
    const fault = readHeader(bytes, headerAt, headerSize, codec, header);
    if (fault !== null) return fault;
    // This server asks nobody, so an answer is nobody's.
    if (header.isResponse) return null;
    this.counts.requests++;
    const body = bytes.subarray(bodyAt, bodyAt + bodySize);
    const answer = answerOf({ header, body, connectionId: peer.connection.id, steadyMs: this.#clock.steadyMs() }, this);
    if (!header.isOneway) peer.write(encodeResponse(header, answer.code, answer.remark, answer.ext, answer.body));
    return null;
  }

  #closeIdle(nowMs: number): number {
    const idleMs = this.settings.values.serverChannelMaxIdleTimeSeconds * 1000;
    let closed = 0;
    for (const peer of [...this.#peers.values()]) {
      if (nowMs - peer.lastActiveMs < idleMs) continue;
      peer.connection.destroy();
      closed++;
    }
    this.counts.idleCloses += closed;
    return closed;
  }

  #closeBroken(peer: Peer, fault: string | null): void {
    if (fault === null) return;
    this.counts.malformedFrames++;
    const { remoteHost, remotePort } = peer.connection;
    const suppressed = this.#malformedLimit.admit(this.#clock.steadyMs());
    if (suppressed >= 0) this.#log.warn('connection closed over a malformed frame', { remoteHost, remotePort, fault, suppressed });
    peer.connection.destroy();
  }

  #noteLost(broker: LiveBroker, why: string): void {
    this.counts.lostBrokers++;
    const { cluster, brokerName, brokerId, address } = broker;
    this.#log.info('broker is gone', { why, cluster, brokerName, brokerId, address });
  }
}
