// A client on the wire of a simulated broker: sends frames, notes answers with their times, and steps the broker to wait for one.
import { AssertionError } from '../../src/base/assert.ts';
import { formatProperties } from '../../src/message/properties.ts';
import { decodeRecord, type MessageRecord } from '../../src/message/record-decode.ts';
import { encodeHeartbeat, type HeartbeatData } from '../../src/protocol/bodies/heartbeat.ts';
import { RequestCodes } from '../../src/protocol/codes.ts';
import { encodePullRequest, PullFlags, PullRequest } from '../../src/protocol/commands/pull-message.ts';
import { encodeSendRequest, SendRequest } from '../../src/protocol/commands/send-message.ts';
import { FrameDecoder, HeaderCodecs } from '../../src/protocol/frame.ts';
import { type ExtFields, encodeFrame, Header, ONEWAY_FLAG, RESPONSE_FLAG, readHeader } from '../../src/protocol/header.ts';
import type { MemoryTransport } from '../../src/runtime/memory-transport.ts';
import type { Connection } from '../../src/runtime/transport.ts';
import type { SimBroker } from './sim-broker.ts';

export interface Answer {
  readonly code: number;
  readonly remark: string | undefined;
  readonly ext: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Steady time at which it arrived. */
  readonly atMs: number;
}

export interface BrokerRequest {
  readonly code: number;
  readonly opaque: number;
  readonly ext: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface PullOptions {
  readonly offset?: number;
  readonly maxCount?: number;
  readonly suspendMs?: number;
  /** A tag expression; default all. */
  readonly tags?: string;
  readonly commitOffset?: number;
}

type OnAnswer = (answer: Answer) => void;

export class SimClient {
  readonly sim: SimBroker;
  readonly connection: Connection;
  readonly answers = new Map<number, Answer>();
  /** Requests of the broker: their codes. */
  readonly requested: number[] = [];
  /** Called for each request of the broker. */
  onRequest: (request: BrokerRequest) => void = () => {};
  readonly #waiting = new Map<number, OnAnswer | null>();
  readonly #header = new Header();
  readonly #decoder: FrameDecoder;
  /** Called once when the connection is gone. */
  onClosed: () => void = () => {};
  opened = false;
  closed = false;
  #lastOpaque = 0;

  constructor(sim: SimBroker, transport: MemoryTransport, port: number) {
    this.sim = sim;
    this.#decoder = new FrameDecoder({
      onFrame: (bytes, headerAt, headerSize, codec, bodyAt, bodySize) => {
        const fault = readHeader(bytes, headerAt, headerSize, codec, this.#header);
        if (fault !== null) throw new AssertionError(fault);
        this.#onFrame(Buffer.from(bytes.subarray(bodyAt, bodyAt + bodySize)));
        return true;
      },
    });
    this.connection = transport.connect('127.0.0.1', port, {
      onOpen: () => {
        this.opened = true;
      },
      onData: (_, chunk) => {
        const fault = this.#decoder.push(chunk);
        if (fault !== null) throw new AssertionError(fault);
      },
      onWritten: () => {},
      onClose: () => {
        this.closed = true;
        this.onClosed();
      },
    });
  }

  /** Sends without waiting; returns the request's number. */
  send(code: number, ext: ExtFields = {}, body?: Uint8Array, onAnswer: OnAnswer | null = null): number {
    const opaque = ++this.#lastOpaque;
    this.#waiting.set(opaque, onAnswer);
    this.connection.write(encodeFrame({ code, opaque, flag: 0, codec: this.#codecOf(opaque), version: 477, language: 'JAVA', ext, body }));
    return opaque;
  }

  sendOneway(code: number, ext: ExtFields = {}, body?: Uint8Array): void {
    const opaque = ++this.#lastOpaque;
    const parts = { code, opaque, flag: ONEWAY_FLAG, codec: this.#codecOf(opaque), version: 477, language: 'JAVA', ext, body };
    this.connection.write(encodeFrame(parts));
  }

  /** Steps the broker until the answer is there. */
  ask(code: number, ext: ExtFields = {}, body?: Uint8Array): Answer {
    return this.await(this.send(code, ext, body));
  }

  await(opaque: number): Answer {
    const { sim } = this;
    sim.runner.runUntil(() => this.answers.has(opaque) || this.closed || sim.isEnded());
    const answer = this.answers.get(opaque);
    if (answer === undefined)
      throw new Error(`${this.closed ? 'the connection closed' : 'the process ended'} before the answer seed=${sim.seed}`);
    return answer;
  }

  pull(topic: string, queueId: number, group: string, options: PullOptions = {}, onAnswer: OnAnswer | null = null): number {
    return this.send(RequestCodes.PULL_MESSAGE, pullFields(topic, queueId, group, options), undefined, onAnswer);
  }

  askPull(topic: string, queueId: number, group: string, options: PullOptions = {}): Answer {
    return this.await(this.pull(topic, queueId, group, options));
  }

  askSend(topic: string, queueId: number, name: string, size = 10, tag = ''): Answer {
    return this.ask(RequestCodes.SEND_MESSAGE_V2, sendFields(topic, queueId, name, tag), bodyOf(name, size));
  }

  askNumber(code: number, topic: string, queueId: number, field = 'offset', more: ExtFields = {}): number {
    const answer = this.ask(code, { topic, queueId, ...more });
    if (answer.code !== 0) throw new Error(`code ${answer.code} ${answer.remark} seed=${this.sim.seed}`);
    return Number(answer.ext[field]);
  }

  beat(data: Partial<HeartbeatData>): number {
    const body = encodeHeartbeat({ clientId: 'c', producerGroups: [], consumers: [], fingerprint: 0, withoutSub: false, ...data });
    return this.send(RequestCodes.HEART_BEAT, {}, body);
  }

  /** Answers a request of the broker. */
  reply(opaque: number, code: number, body?: Uint8Array): void {
    const parts = { code, opaque, flag: RESPONSE_FLAG, codec: this.#codecOf(opaque), version: 477, language: 'JAVA', ext: {}, body };
    this.connection.write(encodeFrame(parts));
  }

  cut(): void {
    this.sim.network.cut(this.connection);
  }

  /** Both header forms take part. */
  #codecOf(opaque: number): 0 | 1 {
    return opaque % 2 === 0 ? HeaderCodecs.json : HeaderCodecs.binary;
  }

  #onFrame(body: Buffer): void {
    const header = this.#header;
    if (!header.isResponse) {
      this.requested.push(header.code);
      this.onRequest({ code: header.code, opaque: header.opaque, ext: header.fields(), body });
      return;
    }
    const { opaque, code, remark } = header;
    const onAnswer = this.#waiting.get(opaque);
    if (onAnswer === undefined) throw new AssertionError(`an answer to nothing opaque=${opaque} code=${code} seed=${this.sim.seed}`);
    this.#waiting.delete(opaque);
    const answer = { code, remark, ext: header.fields(), body, atMs: this.sim.clock.steadyMs() };
    if (onAnswer === null) this.answers.set(opaque, answer);
    else onAnswer(answer);
  }
}

export function sendFields(topic: string, queueId: number, name: string, tag = '', batch = false): ExtFields {
  const request = new SendRequest();
  request.group = 'producers';
  request.topic = topic;
  request.defaultTopic = 'TBW102';
  request.defaultTopicQueueCount = 2;
  request.queueId = queueId;
  request.bornTimeMs = 1_700_000_000_000;
  request.batch = batch;
  request.properties = propertiesOf(name, tag);
  return encodeSendRequest(batch ? RequestCodes.SEND_BATCH_MESSAGE : RequestCodes.SEND_MESSAGE_V2, request);
}

/** UNIQ_KEY is the message's name: the broker then makes none up, and a run stays the same to the last byte. */
export function propertiesOf(name: string, tag = ''): string {
  return formatProperties(new Map([['UNIQ_KEY', name], ...(tag === '' ? [] : [['TAGS', tag] as const])]));
}

export function bodyOf(name: string, size: number): Buffer {
  return Buffer.alloc(Math.max(1, size), `${name} `);
}

function pullFields(topic: string, queueId: number, group: string, options: PullOptions): ExtFields {
  const request = new PullRequest();
  request.group = group;
  request.topic = topic;
  request.queueId = queueId;
  request.offset = options.offset ?? 0;
  request.maxCount = options.maxCount ?? 32;
  request.suspendMs = options.suspendMs ?? 0;
  request.commitOffset = options.commitOffset ?? 0;
  request.sysFlag =
    PullFlags.subscription +
    (options.suspendMs === undefined ? 0 : PullFlags.suspend) +
    (options.commitOffset === undefined ? 0 : PullFlags.commitOffset);
  request.subscription = options.tags ?? '*';
  return encodePullRequest(request);
}

/** The records in the body of a pull's answer. */
export function recordsOf(answer: Answer): MessageRecord[] {
  const records: MessageRecord[] = [];
  for (let at = 0; at < answer.body.length; ) {
    const record = decodeRecord(answer.body, at);
    records.push(record);
    at += record.size;
  }
  return records;
}

export function nameOf(record: MessageRecord): string {
  return record.properties.get('UNIQ_KEY') ?? '';
}
