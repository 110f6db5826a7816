// A started name server over sockets in memory and a fake clock, and requests to it as brokers and clients send them.
import type { ExecutionContext } from 'ava';
import { present } from '../../src/base/assert.ts';
import { FakeClock } from '../../src/base/clock.ts';
import { type Log, silentLog } from '../../src/base/log.ts';
import { NameServer } from '../../src/nameserver/name-server.ts';
import { defaultNameServerSettings, type NameServerSettings } from '../../src/nameserver/own-settings.ts';
import { MemoryTextStore, type TextStore } from '../../src/nameserver/text-store.ts';
import { encodeRegistration, registrationCrc } from '../../src/protocol/bodies/register-broker.ts';
import { decodeTopicRoute, type TopicRoute } from '../../src/protocol/bodies/topic-route.ts';
import { FrameDecoder, HeaderCodecs } from '../../src/protocol/frame.ts';
import { type ExtFields, encodeFrame, Header, readHeader } from '../../src/protocol/header.ts';
import { type TestClient, TestSockets } from './test-sockets.ts';

export interface Reply {
  readonly code: number;
  readonly opaque: number;
  readonly remark: string | undefined;
  readonly ext: Record<string, string>;
  readonly body: Buffer;
  readonly isResponse: boolean;
  readonly codec: number;
}

export function decodeReply(frame: Buffer): Reply {
  const header = new Header();
  let body = Buffer.alloc(0);
  const decoder = new FrameDecoder({
    onFrame(bytes, headerAt, headerSize, codec, bodyAt, bodySize) {
      readHeader(bytes, headerAt, headerSize, codec, header);
      body = Buffer.from(bytes.subarray(bodyAt, bodyAt + bodySize));
      return true;
    },
  });
  decoder.push(frame);
  const { code, opaque, remark, isResponse, codec } = header;
  return { code, opaque, remark, ext: header.fields(), body, isResponse, codec };
}

export interface RequestOptions {
  readonly body?: Buffer | string;
  readonly version?: number;
  readonly flag?: number;
  readonly opaque?: number;
  readonly binary?: boolean;
}

export function requestFrame(code: number, ext: ExtFields = {}, options: RequestOptions = {}): Buffer {
  const { body, version = 401, flag = 0, opaque = 7, binary = false } = options;
  const codec = binary ? HeaderCodecs.binary : HeaderCodecs.json;
  return encodeFrame({
    code,
    opaque,
    flag,
    version,
    language: 'JAVA',
    ext,
    codec,
    body: body === undefined ? undefined : Buffer.from(body),
  });
}

export interface FakeBrokerOptions {
  readonly name?: string;
  readonly cluster?: string;
  readonly id?: number;
  readonly address?: string;
  readonly topics?: readonly string[];
  readonly ext?: ExtFields;
}

/** Registers over a connection of its own. */
export class FakeBroker {
  readonly client: TestClient;
  readonly #server: TestServer;
  name: string;
  readonly cluster: string;
  readonly id: number;
  address: string;
  topics: readonly string[];
  queues = 4;
  perm = 6;
  crcError = 0;
  ext: ExtFields;

  constructor(server: TestServer, options: FakeBrokerOptions = {}) {
    this.#server = server;
    this.client = server.sockets.client();
    this.name = options.name ?? 'broker-a';
    this.cluster = options.cluster ?? 'DefaultCluster';
    this.id = options.id ?? 0;
    this.address = options.address ?? '127.0.0.1:10911';
    this.topics = options.topics ?? ['T1', 'T2'];
    this.ext = options.ext ?? {};
  }

  identity(): ExtFields {
    return { brokerName: this.name, brokerAddr: this.address, clusterName: this.cluster, brokerId: this.id };
  }

  register(counter = 1, stateVersion = 0): Reply {
    const topics = this.topics.map((topicName) => ({
      topicName,
      readQueueNums: this.queues,
      writeQueueNums: this.queues,
      perm: this.perm,
      topicFilterType: 'SINGLE_TAG',
      topicSysFlag: 0,
      order: false,
      attributes: {},
    }));
    const dataVersion = { stateVersion, timestamp: 1_700_000_000_000, counter };
    const body = encodeRegistration({ dataVersion, topics, filterServers: [], queueMappings: new Map() });
    const ext = {
      ...this.identity(),
      haServerAddr: '127.0.0.1:10912',
      compressed: false,
      bodyCrc32: registrationCrc(body) + this.crcError,
      ...this.ext,
    };
    return this.call(103, ext, { body });
  }

  call(code: number, ext: ExtFields = this.identity(), options: RequestOptions = {}): Reply {
    return this.#server.call(code, ext, options, this.client);
  }
}

export class TestServer {
  readonly sockets = new TestSockets();
  readonly clock = new FakeClock();
  readonly server: NameServer;
  #client: TestClient | undefined;

  constructor(settings: Partial<NameServerSettings>, kvStore: TextStore, log: Log, settingsStore?: TextStore) {
    this.server = new NameServer({
      settings: { ...defaultNameServerSettings, ...settings },
      transport: this.sockets,
      clock: this.clock,
      log,
      kvStore,
      ...(settingsStore === undefined ? {} : { settingsStore }),
    });
  }

  /** Sends one request and takes its one answer. */
  call(code: number, ext: ExtFields = {}, options: RequestOptions = {}, client?: TestClient): Reply {
    this.#client ??= this.sockets.client();
    const used = client ?? this.#client;
    used.send(requestFrame(code, ext, options));
    const frames = used.frames();
    if (frames.length !== 1) throw new Error(`answers=${frames.length} code=${code}`);
    return decodeReply(present(frames[0]));
  }

  route(topic: string, ext: ExtFields = {}): TopicRoute | undefined {
    const reply = this.call(105, { topic, ...ext });
    if (reply.code !== 0) return undefined;
    const decoded = decodeTopicRoute(reply.body);
    if (!decoded.ok) throw new Error(decoded.fault);
    return decoded.value;
  }

  advance(ms: number): void {
    this.clock.advance(ms);
    while (this.server.deadlineMs() <= this.clock.steadyMs()) this.server.doWork();
  }
}

export interface StartOptions {
  readonly settings?: Partial<NameServerSettings>;
  readonly kvStore?: TextStore;
  readonly settingsStore?: TextStore;
  readonly log?: Log;
}

export async function startServer(t: ExecutionContext, options: StartOptions = {}): Promise<TestServer> {
  const { settings = {}, kvStore = new MemoryTextStore(), log = silentLog, settingsStore } = options;
  const server = new TestServer(settings, kvStore, log, settingsStore);
  await server.server.start();
  t.teardown(() => server.server.stop());
  return server;
}
