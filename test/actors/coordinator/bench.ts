// The coordinator alone on one thread, with real rings: the test plays ingress, dispatch, commit log and name servers.

import { type ActorContext, type Boot, Positions } from '../../../src/actors/context.ts';
import { Coordinator } from '../../../src/actors/coordinator/coordinator.ts';
import { readFrame } from '../../../src/actors/coordinator/request.ts';
import {
  type DirectoryGroup,
  type DirectoryTopic,
  type GroupChange,
  type MemberChange,
  Messages,
  type OpenPeer,
  type QueueEntry,
  type QueuesAdded,
  type QueuesRemoved,
  type TopicChange,
  type TopicEnsured,
} from '../../../src/actors/messages.ts';
import type { Outbox } from '../../../src/actors/outbox.ts';
import { PartAssembler } from '../../../src/actors/part-assembler.ts';
import { allocateRegion } from '../../../src/base/arena.ts';
import { FakeClock } from '../../../src/base/clock.ts';
import type { Log } from '../../../src/base/log.ts';
import { systemRandom } from '../../../src/base/random.ts';
import { loadSettings } from '../../../src/config/load.ts';
import type { Header } from '../../../src/protocol/header.ts';
import { Counters, countersMemorySize } from '../../../src/runtime/counters.ts';
import type { RingReader } from '../../../src/runtime/ring.ts';
import { SharedNumbers, sharedNumbersMemorySize } from '../../../src/runtime/shared-numbers.ts';
import type { Files } from '../../../src/store/files/files.ts';
import { MemoryFiles } from '../../../src/store/files/memory-files.ts';
import { Client } from './client.ts';
import { type Pipe, pipe } from './pipe.ts';
import { PlayedIngress } from './played-ingress.ts';

export interface BenchOptions {
  readonly sets?: readonly string[];
  readonly files?: Files;
  readonly clock?: FakeClock;
  readonly queues?: readonly QueueEntry[];
  readonly nextKey?: number;
  readonly ingressCount?: number;
  readonly dispatchCount?: number;
  /** Ends of queues by key, as the commit log would have them after a start. */
  readonly ends?: ReadonlyMap<number, number>;
  /** The last process did not stop cleanly. */
  readonly abnormal?: boolean;
  readonly answerRingBytes?: number;
  readonly dispatchRingBytes?: number;
}

const KEY_COUNT = 8192;

export class Bench {
  readonly clock: FakeClock;
  readonly files: Files;
  readonly coordinator: Coordinator;
  readonly positions = new SharedNumbers(new SharedArrayBuffer(sharedNumbersMemorySize(32)));
  readonly ends = new SharedNumbers(new SharedArrayBuffer(sharedNumbersMemorySize(KEY_COUNT)));
  readonly begins = new SharedNumbers(new SharedArrayBuffer(sharedNumbersMemorySize(KEY_COUNT)));
  readonly reads = new SharedNumbers(new SharedArrayBuffer(sharedNumbersMemorySize(KEY_COUNT)));
  readonly counters = new Counters(new SharedArrayBuffer(countersMemorySize(1)));
  readonly logged: { level: string; message: string; fields: Record<string, unknown> }[] = [];
  /** As the first ingress knows them. */
  readonly topics = new Map<string, DirectoryTopic>();
  readonly groups = new Map<string, DirectoryGroup>();
  groupChangeCount = 0;
  /** What ingresses were told of single members, in order. */
  readonly members: (MemberChange & { readonly ingress: number })[] = [];
  readonly added: QueueEntry[] = [];
  readonly removed: number[] = [];
  readonly ensured: TopicEnsured[] = [];
  readonly opened: OpenPeer[] = [];
  readonly peerFrames: { connectionId: number; header: Header; body: Buffer }[] = [];
  readonly closed: number[] = [];
  readonly ingress = new PlayedIngress();
  /** What happened in which order, for the tests of order. */
  readonly events: string[] = [];
  readonly #toCoordinator: Pipe[] = [];
  readonly #fromCoordinator = new Map<string, { pipe: Pipe; parts: PartAssembler }>();
  readonly #clients = new Map<string, Client>();
  #nextConnection = 1;
  answersOpen = true;
  /** Actors that do not read their mail for now. */
  readonly stuck = new Set<string>();

  constructor(options: BenchOptions = {}) {
    this.clock = options.clock ?? new FakeClock();
    this.files = options.files ?? new MemoryFiles(this.clock);
    for (const [key, end] of options.ends ?? []) this.ends.set(key, end);
    const ingresses = names('ingress', options.ingressCount ?? 1);
    const dispatchers = names('dispatch', options.dispatchCount ?? 1);
    for (const _ of ingresses) this.#toCoordinator.push(pipe(4 * 1024 * 1024));
    for (const name of [...ingresses, ...dispatchers]) {
      const size = name.startsWith('ingress') ? (options.answerRingBytes ?? 4 * 1024 * 1024) : (options.dispatchRingBytes ?? 1024 * 1024);
      const made = pipe(size, () => this.events.push(`told ${name}`));
      this.#fromCoordinator.set(name, { pipe: made, parts: new PartAssembler(made.reader) });
    }
    this.positions.set(Positions.listenPort, 10911);
    const boot: Boot = {
      queues: options.queues ?? [],
      nextKey: options.nextKey ?? 0,
      dispatchFrom: 0,
      storeTimeMsMax: 0,
      abnormal: options.abnormal ?? false,
      written: false,
      indexedTimeMs: 0,
      runId: 'run',
      delayLists: [],
      startedAtMs: this.clock.wallMs(),
    };
    const settings = loadSettings({
      sets: ['storePathRootDir=/store', 'maxQueueCount=4096', 'embeddedNamesrv=false', ...(options.sets ?? [])],
    }).settings;
    const unused = (): never => {
      throw new Error('not for the coordinator');
    };
    const context: ActorContext = {
      name: 'coordinator',
      kind: 'coordinator',
      index: 0,
      incarnation: 0,
      settings,
      boot,
      clock: this.clock,
      random: systemRandom,
      log: this.#log(),
      files: this.files,
      transport: { listen: unused, connect: unused },
      positions: this.positions,
      queueEnds: this.ends,
      queueBegins: this.begins,
      queueReads: this.reads,
      counters: this.counters,
      inboxes: ingresses.map((from, i) => ({ from, ring: (this.#toCoordinator[i] as Pipe).reader })),
      outbox: (to) => (this.#fromCoordinator.get(to) as { pipe: Pipe }).pipe.outbox,
      namesOf: (kind) => (kind === 'ingress' ? ingresses : kind === 'dispatch' ? dispatchers : []),
      ringBells: () => {},
      wake: () => {},
      figures: () => ({ actors: [], threads: [], rings: [] }),
      feedWriter: unused,
      feedReader: unused,
      windowWriter: unused,
      windowReader: unused,
      output: allocateRegion(0),
      blocks: allocateRegion(0),
    };
    this.coordinator = new Coordinator(context);
    this.coordinator.start();
    this.drain();
  }

  #log(): Log {
    const at =
      (level: string) =>
      (message: string, fields: Record<string, unknown> = {}): void => {
        this.logged.push({ level, message, fields });
      };
    const log: Log = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), scoped: () => log };
    return log;
  }

  outboxOf(ingress: number): Outbox {
    return (this.#toCoordinator[ingress] as Pipe).outbox;
  }

  /** Lets the coordinator work until it has nothing left, without moving time. */
  run(): void {
    for (let pass = 0; pass < 10_000; pass++) {
      for (const { outbox } of this.#toCoordinator) outbox.flush();
      const work = this.coordinator.doWork();
      if (this.drain() + work === 0) return;
    }
    throw new Error('the coordinator does not come to rest');
  }

  /** Moves time in the steps that the coordinator asks for. */
  advance(ms: number): void {
    const end = this.clock.steadyMs() + ms;
    this.run();
    for (;;) {
      const next = Math.min(end, this.coordinator.deadlineMs());
      this.clock.advance(Math.max(0, next - this.clock.steadyMs()));
      this.run();
      if (next >= end) return;
    }
  }

  connect(options: { ingress?: number; host?: string; connectionId?: number } = {}): Client {
    const id = options.connectionId ?? this.#nextConnection++;
    const client = new Client(this, options.ingress ?? 0, id, options.host ?? '127.0.0.1');
    this.#clients.set(`${client.ingress}:${client.connectionId}`, client);
    const opened = { connectionId: client.connectionId, host: client.host, port: 40_000 + client.connectionId };
    this.outboxOf(client.ingress).sendJson(Messages.connectionOpened, opened);
    return client;
  }

  forget(client: Client): void {
    this.#clients.delete(`${client.ingress}:${client.connectionId}`);
  }

  drain(): number {
    if (!this.answersOpen) return 0;
    let count = 0;
    for (const [name, { pipe: from, parts }] of this.#fromCoordinator) {
      if (this.stuck.has(name)) continue;
      const ingress = name.startsWith('ingress') ? Number(name.slice('ingress-'.length)) : -1;
      count += from.reader.drain({ onRecord: (type, at) => this.#take(name, ingress, type, at, from.reader, parts) }, 1_000_000);
    }
    return count;
  }

  #take(name: string, ingress: number, type: number, at: number, ring: RingReader, parts: PartAssembler): boolean {
    const first = ingress <= 0;
    switch (type) {
      case Messages.answer: {
        const frame = parts.takeFrame(at);
        if (frame !== null) this.#answer(ingress, parts.connectionId, frame);
        break;
      }
      case Messages.topicChanged: {
        const change = parts.takeJson<TopicChange>(at);
        if (change === null || !first) break;
        if (change.config === null) this.topics.delete(change.topic);
        else this.topics.set(change.topic, change.config);
        break;
      }
      case Messages.groupChanged: {
        const change = parts.takeJson<GroupChange>(at);
        if (change === null || !first) break;
        this.groupChangeCount++;
        if (change.state === null) this.groups.delete(change.group);
        else this.groups.set(change.group, change.state);
        break;
      }
      case Messages.memberChanged: {
        const change = parts.takeJson<MemberChange>(at);
        if (change !== null) this.members.push({ ingress, ...change });
        break;
      }
      case Messages.topicEnsured: {
        const ensured = parts.takeJson<TopicEnsured>(at);
        if (ensured !== null) this.ensured.push(ensured);
        break;
      }
      case Messages.directoryBegins:
      case Messages.directoryEnds:
        break;
      case Messages.openPeer: {
        const peer = parts.takeJson<OpenPeer>(at);
        if (peer !== null) this.opened.push(peer);
        break;
      }
      case Messages.closeConnection:
        this.closed.push(ring.words[at >> 2] as number);
        break;
      case Messages.queuesAdded: {
        const added = parts.takeJson<QueuesAdded>(at);
        if (added !== null && name === 'dispatch-0') this.added.push(...added.queues);
        break;
      }
      case Messages.queuesRemoved: {
        const removed = parts.takeJson<QueuesRemoved>(at);
        if (removed !== null && name === 'dispatch-0') this.removed.push(...removed.keys);
        break;
      }
      default:
        if (!this.ingress.take(type, at, parts, this.outboxOf(ingress))) throw new Error(`message of type ${type}`);
    }
    return true;
  }

  #answer(ingress: number, connectionId: number, frame: Buffer): void {
    const read = readFrame(frame);
    if (typeof read === 'string') throw new Error(read);
    const client = this.#clients.get(`${ingress}:${connectionId}`);
    if (client === undefined) this.peerFrames.push({ connectionId, ...read });
    else client.take(read.header, read.body);
  }

  /** Key of a queue as the directory tells it. */
  key(topic: string, queueId: number): number {
    return this.topics.get(topic)?.keys[queueId] ?? -1;
  }
}

function names(kind: string, count: number): string[] {
  return Array.from({ length: count }, (_, i) => `${kind}-${i}`);
}
