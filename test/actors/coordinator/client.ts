// A client of the coordinator: its connection, what it asks, and what it is told.
import { Messages } from '../../../src/actors/messages.ts';
import { type ConsumerData, encodeHeartbeat } from '../../../src/protocol/bodies/heartbeat.ts';
import { decodeLockedQueues, encodeLockBatch } from '../../../src/protocol/bodies/lock-batch.ts';
import { RequestCodes } from '../../../src/protocol/codes.ts';
import { HeaderCodecs } from '../../../src/protocol/frame.ts';
import { type ExtFields, encodeFrame, type Header, RESPONSE_FLAG } from '../../../src/protocol/header.ts';
import type { Bench } from './bench.ts';

export interface Answer {
  readonly code: number;
  readonly remark: string | undefined;
  readonly ext: Record<string, string>;
  readonly body: Buffer;
  readonly header: Header;
}

export class Client {
  readonly ingress: number;
  readonly connectionId: number;
  readonly host: string;
  readonly notices: string[] = [];
  readonly answers = new Map<number, Answer>();
  /** Requests of the broker, oldest first. */
  readonly requests: { readonly header: Header; readonly body: Buffer }[] = [];
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
      this.requests.push({ header, body });
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

  /** Answers a request of the broker. */
  reply(opaque: number, code: number, ext: ExtFields = {}, body?: Uint8Array, remark?: string): void {
    const parts = { code, opaque, flag: RESPONSE_FLAG, codec: HeaderCodecs.binary, version: 477, language: 'JAVA', remark, ext, body };
    this.sendFrame(encodeFrame(parts));
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
    fingerprint = 0,
  ): number {
    const whole = consumers.map((c) => ({ ...consumer, ...c }));
    return this.send(RequestCodes.HEART_BEAT, {}, encodeHeartbeat({ clientId, consumers: whole, producerGroups, fingerprint, withoutSub }));
  }

  beat(
    clientId: string,
    consumers: readonly Partial<ConsumerData>[],
    producerGroups: readonly string[] = [],
    withoutSub = false,
    fingerprint = 0,
  ): Answer {
    const opaque = this.sendBeat(clientId, consumers, producerGroups, withoutSub, fingerprint);
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

  /** Ids of the queues of the topic that the client holds then. */
  lock(clientId: string, topic: string, queueIds: readonly number[], group = 'G', brokerName = 'broker-a'): number[] {
    const queues = queueIds.map((queueId) => ({ topic, brokerName, queueId }));
    const answer = this.ask(RequestCodes.LOCK_BATCH_MQ, {}, encodeLockBatch({ group, clientId, queues, onlyThisBroker: false }));
    const locked = decodeLockedQueues(answer.body);
    if (answer.code !== 0 || !locked.ok) throw new Error(`code ${answer.code} ${answer.remark}`);
    return locked.value.map((queue) => queue.queueId);
  }

  unlock(clientId: string, topic: string, queueIds: readonly number[], group = 'G'): Answer {
    const queues = queueIds.map((queueId) => ({ topic, brokerName: 'broker-a', queueId }));
    return this.ask(RequestCodes.UNLOCK_BATCH_MQ, {}, encodeLockBatch({ group, clientId, queues, onlyThisBroker: false }));
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

/** Of a group, as 38 lists them; none where it is refused. */
export function memberIds(client: Client, group = 'G'): string[] {
  const answer = client.ask(RequestCodes.GET_CONSUMER_LIST_BY_GROUP, { consumerGroup: group });
  return answer.code === 0 ? (JSON.parse(answer.body.toString()) as { consumerIdList: string[] }).consumerIdList : [];
}
