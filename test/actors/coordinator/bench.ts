// The coordinator alone on one thread, with real rings: the test plays ingress, dispatch, commit log and name servers.

import { type ActorContext, type Boot, Positions } from '../../../src/actors/context.ts';
import { Coordinator } from '../../../src/actors/coordinator/coordinator.ts';
import { readFrame } from '../../../src/actors/coordinator/request.ts';
import {
  type DirectoryGroup,
  type DirectoryTopic,
  type GroupChange,
  Messages,
  type OpenPeer,
  type QueueEntry,
  type QueuesAdded,
  type QueuesRemoved,
  type TopicChange,
  type TopicEnsured,
} from '../../../src/actors/messages.ts';
import { Outbox } from '../../../src/actors/outbox.ts';
import { PartAssembler } from '../../../src/actors/part-assembler.ts';
import { FakeClock } from '../../../src/base/clock.ts';
import type { Log } from '../../../src/base/log.ts';
import { systemRandom } from '../../../src/base/random.ts';
import { loadSettings } from '../../../src/config/load.ts';
import { type ConsumerData, encodeHeartbeat } from '../../../src/protocol/bodies/heartbeat.ts';
import { RequestCodes } from '../../../src/protocol/codes.ts';
import { HeaderCodecs } from '../../../src/protocol/frame.ts';
import { type ExtFields, encodeFrame, type Header } from '../../../src/protocol/header.ts';
import { Counters, countersMemorySize } from '../../../src/runtime/counters.ts';
import { Doorbell, doorbellMemorySize } from '../../../src/runtime/doorbell.ts';
import { RingReader, RingWriter, ringMemorySize } from '../../../src/runtime/ring.ts';
import { SharedNumbers, sharedNumbersMemorySize } from '../../../src/runtime/shared-numbers.ts';
import type { Files } from '../../../src/store/files/files.ts';
import { MemoryFiles } from '../../../src/store/files/memory-files.ts';

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
  readonly answerRingBytes?: number;
  readonly dispatchRingBytes?: number;
}

export interface Answer {
  readonly code: number;
  readonly remark: string | undefined;
  readonly ext: Record<string, string>;
  readonly body: Buffer;
  readonly header: Header;
}

interface Pipe {
  readonly outbox: Outbox;
  readonly reader: RingReader;
}

const KEY_COUNT = 8192;

export class Bench {
  readonly clock: FakeClock;
  readonly files: Files;
  readonly coordinator: Coordinator;
  readonly positions = new SharedNumbers(new SharedArrayBuffer(sharedNumbersMemorySize(32)));
  readonly ends = new SharedNumbers(new SharedArrayBuffer(sharedNumbersMemorySize(KEY_COUNT)));
  readonly begins = new SharedNumbers(new SharedArrayBuffer(sharedNumbersMemorySize(KEY_COUNT)));
  readonly counters = new Counters(new SharedArrayBuffer(countersMemorySize(1)));
  readonly logged: { level: string; message: string; fields: Record<string, unknown> }[] = [];
  /** As the first ingress knows them. */
  readonly topics = new Map<string, DirectoryTopic>();
  readonly groups = new Map<string, DirectoryGroup>();
  groupChangeCount = 0;
  readonly added: QueueEntry[] = [];
  readonly removed: number[] = [];
  readonly ensured: TopicEnsured[] = [];
  readonly opened: OpenPeer[] = [];
  readonly peerFrames: { connectionId: number; header: Header; body: Buffer }[] = [];
  readonly closed: number[] = [];
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
      runId: 'run',
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
      counters: this.counters,
      inboxes: ingresses.map((from, i) => ({ from, ring: (this.#toCoordinator[i] as Pipe).reader })),
      outbox: (to) => (this.#fromCoordinator.get(to) as { pipe: Pipe }).pipe.outbox,
      namesOf: (kind) => (kind === 'ingress' ? ingresses : kind === 'dispatch' ? dispatchers : []),
      ringBells: () => {},
      wake: () => {},
      feedWriter: unused,
      feedReader: unused,
      windowWriter: unused,
      windowReader: unused,
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
    for (const { outbox } of this.#toCoordinator) outbox.flush();
    for (let pass = 0; pass < 10_000; pass++) {
      const work = this.coordinator.doWork();
      for (const { outbox } of this.#toCoordinator) outbox.flush();
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
      case Messages.topicEnsured: {
        const ensured = parts.takeJson<TopicEnsured>(at);
        if (ensured !== null) this.ensured.push(ensured);
        break;
      }
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
        throw new Error(`message of type ${type}`);
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

export class Client {
  readonly ingress: number;
  readonly connectionId: number;
  readonly host: string;
  readonly notices: string[] = [];
  readonly answers = new Map<number, Answer>();
  readonly #bench: Bench;
  #opaque = 0;

  constructor(bench: Bench, ingress: number, connectionId: number, host: string) {
    this.#bench = bench;
    this.ingress = ingress;
    this.connectionId = connectionId;
    this.host = host;
  }

  take(header: Header, body: Buffer): void {
    if (!header.isResponse) {
      this.notices.push(`${header.code} ${header.field('consumerGroup')}`);
      return;
    }
    this.answers.set(header.opaque, { code: header.code, remark: header.remark, ext: header.fields(), body, header });
  }

  /** Sends without waiting; the request's number. */
  send(code: number, ext: ExtFields = {}, body?: Uint8Array, flag = 0): number {
    const opaque = ++this.#opaque;
    const parts = { code, opaque, flag, codec: HeaderCodecs.json, version: 477, language: 'JAVA', ext, body };
    this.sendFrame(encodeFrame(parts));
    return opaque;
  }

  sendFrame(frame: Uint8Array): void {
    this.#bench.outboxOf(this.ingress).sendFrame(Messages.frame, this.connectionId, frame);
  }

  ask(code: number, ext: ExtFields = {}, body?: Uint8Array): Answer {
    const opaque = this.send(code, ext, body);
    this.#bench.run();
    const answer = this.answers.get(opaque);
    if (answer === undefined) throw new Error(`no answer to ${code}`);
    return answer;
  }

  json(code: number, ext: ExtFields = {}, body?: Uint8Array): unknown {
    return JSON.parse(this.ask(code, ext, body).body.toString());
  }

  sendBeat(
    clientId: string,
    consumers: readonly Partial<ConsumerData>[],
    producerGroups: readonly string[] = [],
    withoutSub = false,
  ): number {
    const whole = consumers.map((c) => ({ ...consumer, ...c }));
    return this.send(
      RequestCodes.HEART_BEAT,
      {},
      encodeHeartbeat({ clientId, consumers: whole, producerGroups, fingerprint: 0, withoutSub }),
    );
  }

  beat(clientId: string, consumers: readonly Partial<ConsumerData>[], producerGroups: readonly string[] = [], withoutSub = false): Answer {
    const opaque = this.sendBeat(clientId, consumers, producerGroups, withoutSub);
    this.#bench.run();
    return this.answers.get(opaque) as Answer;
  }

  close(): void {
    this.#bench.outboxOf(this.ingress).send(Messages.connectionClosed, [this.connectionId]);
    this.#bench.forget(this);
  }

  createTopic(topic: string, queueCount: number): Answer {
    return this.ask(RequestCodes.UPDATE_AND_CREATE_TOPIC, {
      topic,
      readQueueNums: queueCount,
      writeQueueNums: queueCount,
      perm: 6,
      topicFilterType: 'SINGLE_TAG',
      topicSysFlag: 0,
      order: false,
    });
  }

  /** -1 for "not found". */
  queryOffset(group: string, topic: string, queueId: number): number {
    const answer = this.ask(RequestCodes.QUERY_CONSUMER_OFFSET, { consumerGroup: group, topic, queueId });
    return answer.code === 0 ? Number(answer.ext['offset']) : -1;
  }

  commit(group: string, topic: string, queueId: number, commitOffset: number): Answer {
    return this.ask(RequestCodes.UPDATE_CONSUMER_OFFSET, { consumerGroup: group, topic, queueId, commitOffset });
  }
}

const consumer: ConsumerData = {
  group: 'G',
  consumeType: 'CONSUME_PASSIVELY',
  messageModel: 'CLUSTERING',
  consumeFromWhere: 'CONSUME_FROM_LAST_OFFSET',
  subscriptions: [],
  unitMode: false,
};

export function subscription(topic: string, expression = '*', version = '1'): ConsumerData['subscriptions'][number] {
  const tags = expression === '*' ? [] : expression.split('||').map((tag) => tag.trim());
  return { topic, expression, type: 'TAG', tags, codes: tags.map((_, i) => i + 1), version, classFilter: false };
}

function names(kind: string, count: number): string[] {
  return Array.from({ length: count }, (_, i) => `${kind}-${i}`);
}

/** Tells when mail became visible to its reader. */
class LoudBell extends Doorbell {
  readonly #onRing: () => void;

  constructor(onRing: () => void) {
    super(new SharedArrayBuffer(doorbellMemorySize(1)), 0);
    this.#onRing = onRing;
  }

  override ring(): void {
    this.#onRing();
  }
}

function pipe(capacity: number, onRing: () => void = () => {}): Pipe {
  const memory = new SharedArrayBuffer(ringMemorySize(capacity));
  return { outbox: new Outbox(new RingWriter(memory), new LoudBell(onRing)), reader: new RingReader(memory) };
}
