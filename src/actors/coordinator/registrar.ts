// Registers the broker at every name server: at once, on a period, after each change of topics, and again after each lost connection.
import { NameServerState } from '../../core/name-server-state.ts';
import { queueCountOf } from '../../core/topic-config.ts';
import { decodeKvTable } from '../../protocol/bodies/kv-table.ts';
import { ResponseCodes } from '../../protocol/codes.ts';
import type { Header } from '../../protocol/header.ts';
import { type ActorContext, Positions } from '../context.ts';
import { Messages, type OpenPeer, type PeerState } from '../messages.ts';
import type { Outbox } from '../outbox.ts';
import { isLoopback, isWildcard, nameServerAddresses, type PeerAddress, reachable } from './addresses.ts';
import { RegistrationFrames } from './registration-frames.ts';
import type { TopicKeeper } from './topic-keeper.ts';

/** A start does not wait longer than this for name servers. */
export const FIRST_REGISTRATION_MS = 3000;
/** Nor does the answer to a tool that changed a topic wait longer for them. */
export const HELD_ANSWER_MS = 1000;
/**
 * What changed goes out alone: a whole table under a new version would give back the write permission that a tool has wiped. Smaller tables
 * are sent whole where a topic was removed, and to name servers that take what is not listed for removed.
 */
const FULL_TABLE_MAX = 100;
/** How often to look whether the listener is bound. */
const PORT_POLL_MS = 20;

interface Server {
  readonly peerId: number;
  readonly address: PeerAddress;
  readonly state: NameServerState;
  connectionId: number;
  /** Topics changed since the last registration; null: all are to be sent. */
  changed: Set<string> | null;
  /** The last registration was not answered: whether its topics have arrived is not known. */
  unanswered: boolean;
  /** A question whether the name server is up to date is under way, and not a registration. */
  asking: boolean;
  warned: boolean;
}

interface HeldAnswer {
  readonly deadlineMs: number;
  readonly send: () => void;
}

export class Registrar {
  readonly #context: ActorContext;
  readonly #topics: TopicKeeper;
  readonly #outbox: Outbox;
  readonly #frames: RegistrationFrames;
  readonly #servers: Server[] = [];
  readonly #held: HeldAnswer[] = [];
  readonly #startedMs: number;
  #embeddedPending: boolean;
  #nextOpaque = 1;
  #phase: 'waiting' | 'running' | 'ended' = 'waiting';
  #registered = false;

  constructor(context: ActorContext, topics: TopicKeeper) {
    const { settings, clock } = context;
    this.#context = context;
    this.#topics = topics;
    this.#outbox = context.outbox('ingress-0');
    this.#frames = new RegistrationFrames(settings);
    this.#startedMs = clock.steadyMs();
    this.#embeddedPending = settings.embeddedNamesrv;
    for (const address of nameServerAddresses(settings.namesrvAddr)) this.#add(address);
  }

  nextMs(): number {
    if (this.#phase === 'ended') return Number.POSITIVE_INFINITY;
    let next = this.#registered ? Number.POSITIVE_INFINITY : this.#startedMs + FIRST_REGISTRATION_MS;
    for (const held of this.#held) next = Math.min(next, held.deadlineMs);
    if (this.#phase === 'waiting') return Math.min(next, this.#context.clock.steadyMs() + PORT_POLL_MS);
    for (const server of this.#servers) next = Math.min(next, server.state.nextMs());
    if (this.#embeddedPending) next = Math.min(next, this.#context.clock.steadyMs() + PORT_POLL_MS);
    return next;
  }

  tick(steadyMs: number): number {
    if (this.#phase === 'ended') return 0;
    if (this.#context.positions.get(Positions.stopping) === 1) return this.#unregister();
    this.#begin();
    let work = 0;
    if (this.#phase === 'running') for (const server of this.#servers) work += this.#step(server, steadyMs);
    this.#noteRegistered(steadyMs);
    return work + this.#releaseHeld(steadyMs);
  }

  onPeerState(state: PeerState): void {
    const server = this.#servers.find((candidate) => candidate.peerId === state.peerId);
    if (server === undefined) return;
    const { clock, log } = this.#context;
    server.connectionId = state.connectionId;
    server.changed = null;
    if (state.connectionId >= 0) {
      server.state.onOpen(clock.steadyMs());
      return;
    }
    server.state.onClosed(clock.steadyMs());
    if (!server.warned && this.#phase === 'running') {
      server.warned = true;
      log.warn('no connection to a name server; it is tried again', { address: textOf(server.address), error: state.error });
    }
  }

  /** The connections to name servers went with the ingress that had them. */
  onIngressRestarted(): void {
    for (const { peerId } of this.#servers) this.onPeerState({ peerId, connectionId: -1, error: 'its ingress was restarted' });
  }

  /** An answer that came over a name server's connection. */
  onResponse(connectionId: number, header: Header, body: Buffer): void {
    const server = this.#servers.find((candidate) => candidate.connectionId === connectionId);
    if (server === undefined) return;
    const { clock, log } = this.#context;
    const accepted = header.code === ResponseCodes.SUCCESS;
    if (!server.state.onAnswer(header.opaque, accepted, clock.steadyMs())) return;
    if (!accepted) {
      server.changed = null;
      log.warn('name server refused the registration', { address: textOf(server.address), code: header.code, remark: header.remark });
      return;
    }
    if (server.warned) log.info('registered at the name server again', { address: textOf(server.address) });
    server.warned = false;
    server.unanswered = false;
    if (!server.asking) this.#takeOrder(body);
    else if (header.field('changed') === 'true') {
      server.changed = null;
      server.state.onChange(clock.steadyMs());
    }
  }

  /** Topics were made, changed or removed. */
  topicsChanged(topics: readonly string[]): void {
    if (topics.length === 0) return;
    const now = this.#context.clock.steadyMs();
    for (const server of this.#servers) {
      for (const topic of topics) server.changed?.add(topic);
      server.state.onChange(now);
    }
  }

  /** What all topics are registered with has changed. */
  allChanged(): void {
    const now = this.#context.clock.steadyMs();
    for (const server of this.#servers) {
      server.changed = null;
      server.state.onChange(now);
    }
  }

  /** Sends when every name server that can be reached knows the last change, or after a short time. */
  hold(send: () => void): void {
    if (this.#phase !== 'running' || this.#allCurrent()) send();
    else this.#held.push({ deadlineMs: this.#context.clock.steadyMs() + HELD_ANSWER_MS, send });
  }

  /** host:port that clients and name servers are told; '' before the listener is bound. */
  get address(): string {
    const port = this.#context.positions.get(Positions.listenPort);
    return port === 0 ? '' : `${this.#context.settings.brokerIP1}:${port}`;
  }

  #add(address: PeerAddress): void {
    const { settings, clock } = this.#context;
    this.#servers.push({
      peerId: this.#servers.length + 1,
      address,
      state: new NameServerState(settings.registerNameServerPeriod, clock.steadyMs()),
      connectionId: -1,
      changed: null,
      unanswered: false,
      asking: false,
      warned: false,
    });
  }

  #begin(): void {
    const { positions, settings, log } = this.#context;
    if (this.#embeddedPending) {
      const port = positions.get(Positions.namesrvPort);
      if (port > 0) {
        this.#embeddedPending = false;
        this.#add({ host: reachable(settings.bindAddress), port });
      }
    }
    if (this.#phase !== 'waiting' || positions.get(Positions.listenPort) === 0) return;
    this.#phase = 'running';
    if (isLoopback(settings.brokerIP1) && isWildcard(settings.bindAddress)) {
      log.warn('clients on other hosts are told a loopback address; set brokerIP1', {
        address: this.address,
        bindAddress: settings.bindAddress,
      });
    }
  }

  #step(server: Server, steadyMs: number): number {
    switch (server.state.step(steadyMs)) {
      case 'connect': {
        const peer: OpenPeer = { peerId: server.peerId, host: server.address.host, port: server.address.port };
        this.#outbox.sendJson(Messages.openPeer, peer);
        return 1;
      }
      case 'register':
        this.#register(server, steadyMs);
        return 1;
      case 'none':
        return 0;
    }
  }

  #register(server: Server, steadyMs: number): void {
    const { table } = this.#topics;
    const opaque = this.#nextOpaque++;
    const changed = server.unanswered ? null : server.changed;
    const isNews = changed === null || changed.size > 0;
    server.asking = !this.#context.settings.forceRegister && !isNews && server.state.registeredOnce;
    server.changed = new Set();
    if (server.asking) this.#send(server, this.#frames.question(opaque, this.address, table.version));
    else {
      const found = [...(changed ?? [])].map((name) => table.get(name)).filter((config) => config !== undefined);
      const lists = found.length < (changed?.size ?? 0) || this.#listsAll();
      const whole = changed === null || changed.size === 0 || (lists && table.size <= FULL_TABLE_MAX);
      this.#send(server, this.#frames.registration(opaque, this.address, whole ? [...table.all()] : found, table.version, whole));
      server.unanswered = true;
    }
    server.state.onSent(opaque, steadyMs);
  }

  /** With either setting name servers are told to forget topics that a registration does not list. */
  #listsAll(): boolean {
    const { deleteTopicWithBrokerRegistration, given } = this.#context.settings;
    return deleteTopicWithBrokerRegistration || given['enableSingleTopicRegister'] === 'true';
  }

  #send(server: Server, frame: Buffer): void {
    this.#outbox.sendFrame(Messages.answer, server.connectionId, frame);
  }

  /** The answer lists topics whose order spans brokers. */
  #takeOrder(body: Buffer): void {
    if (body.length === 0) return;
    const table = decodeKvTable(body);
    if (table.ok) this.#topics.markOrdered(table.value.keys());
  }

  #noteRegistered(steadyMs: number): void {
    if (this.#registered) return;
    const all = this.#phase === 'running' && !this.#embeddedPending && this.#servers.every((server) => server.state.registeredOnce);
    if (!all && steadyMs < this.#startedMs + FIRST_REGISTRATION_MS) return;
    this.#registered = true;
    const { positions, log } = this.#context;
    positions.set(Positions.registered, 1);
    const queueCount = [...this.#topics.table.all()].reduce((sum, config) => sum + queueCountOf(config), 0);
    log.info('broker is registered', {
      address: this.address,
      nameServers: this.#servers.length,
      all,
      topics: this.#topics.table.size,
      queueCount,
    });
  }

  #allCurrent(): boolean {
    return this.#servers.every((server) => !server.state.isOpen || server.state.isCurrent);
  }

  #releaseHeld(steadyMs: number): number {
    if (this.#held.length === 0) return 0;
    const all = this.#allCurrent();
    let released = 0;
    while (this.#held.length > 0) {
      const first = this.#held[0] as HeldAnswer;
      if (!all && first.deadlineMs > steadyMs) break;
      this.#held.shift();
      first.send();
      released++;
    }
    return released;
  }

  #unregister(): number {
    this.#phase = 'ended';
    for (const server of this.#servers) {
      if (server.state.isOpen) this.#send(server, this.#frames.farewell(this.#nextOpaque++, this.address));
    }
    for (const held of this.#held.splice(0)) held.send();
    return 1;
  }
}

function textOf(address: PeerAddress): string {
  return `${address.host}:${address.port}`;
}
