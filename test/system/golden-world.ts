// Brings a broker into the state in which a captured request got its captured answer, and sends that request.
import { present } from '../../src/base/assert.ts';
import { javaHash } from '../../src/base/bytes.ts';
import { parseProperties } from '../../src/message/properties.ts';
import { type ConsumerData, encodeHeartbeat } from '../../src/protocol/bodies/heartbeat.ts';
import { RequestCodes, ResponseCodes } from '../../src/protocol/codes.ts';
import { FrameDecoder } from '../../src/protocol/frame.ts';
import { type ExtFields, encodeFrame, Header, readHeader } from '../../src/protocol/header.ts';
import { type Answer, topicExt, WireClient } from './wire-client.ts';

/** A request as captured, with what was answered, as far as it is known. */
export interface Captured {
  readonly connection: string;
  readonly code: number;
  readonly opaque: number;
  readonly frame: Buffer;
  readonly ext: Record<string, string>;
  readonly expectedCode: number;
  readonly expectedExt: Record<string, unknown> | undefined;
}

const QUEUES = 8;
const HOLD_MS = '20';
const NO_ANSWER_MS = 5_000;
const sends: ReadonlySet<number> = new Set([RequestCodes.SEND_MESSAGE, RequestCodes.SEND_MESSAGE_V2, RequestCodes.SEND_BATCH_MESSAGE]);
const pulls: ReadonlySet<number> = new Set([RequestCodes.PULL_MESSAGE, RequestCodes.LITE_PULL_MESSAGE]);
const topicMakers: ReadonlySet<number> = new Set([
  RequestCodes.UPDATE_AND_CREATE_TOPIC,
  RequestCodes.UPDATE_AND_CREATE_TOPIC_LIST,
  RequestCodes.DELETE_TOPIC_IN_BROKER,
]);

export class World {
  readonly #port: number;
  readonly #admin: WireClient;
  readonly #connections = new Map<string, WireClient>();

  private constructor(port: number, admin: WireClient) {
    this.#port = port;
    this.#admin = admin;
  }

  static async open(port: number): Promise<World> {
    return new World(port, await WireClient.open(port));
  }

  close(): void {
    this.#admin.close();
    for (const connection of this.#connections.values()) connection.close();
  }

  async replay(captured: Captured): Promise<Answer | null> {
    const connection = await this.#connectionOf(captured.connection);
    const changed = await this.#prepare(captured, connection);
    const asker = connection.socket.destroyed ? await this.#connectionOf(captured.connection) : connection;
    const frame = changed === null ? captured.frame : withFields(captured.frame, changed);
    if (isOneway(frame)) {
      asker.write(frame);
      return null;
    }
    return asker.exchange(captured.opaque, frame, NO_ANSWER_MS);
  }

  /** A frame as it is, without preparation. */
  async raw(connection: string, opaque: number, frame: Buffer): Promise<Answer | null> {
    return (await this.#connectionOf(connection)).exchange(opaque, withoutChance(frame), NO_ANSWER_MS);
  }

  async #connectionOf(name: string): Promise<WireClient> {
    let connection = this.#connections.get(name);
    if (connection === undefined || connection.socket.destroyed) {
      connection = await WireClient.open(this.#port);
      connection.answers = true;
      this.#connections.set(name, connection);
    }
    return connection;
  }

  /** Fields that must differ from the captured ones, null for none. */
  async #prepare(captured: Captured, connection: WireClient): Promise<ExtFields | null> {
    const { code, ext, expectedCode } = captured;
    const topic = ext['topic'] ?? ext['b'] ?? '';
    const group = ext['consumerGroup'] ?? ext['group'] ?? '';
    if (topic !== '' && !topicMakers.has(code) && expectedCode !== ResponseCodes.TOPIC_NOT_EXIST)
      await this.#haveTopic(topic, sends.has(code));
    if (group !== '' && expectedCode !== ResponseCodes.SUBSCRIPTION_GROUP_NOT_EXIST) await this.#haveGroup(group);
    if (pulls.has(code)) return this.#preparePull(captured, connection, topic, group);
    switch (code) {
      case RequestCodes.QUERY_CONSUMER_OFFSET:
        if (expectedCode === 0) await this.#admin.call(RequestCodes.UPDATE_CONSUMER_OFFSET, { ...ext, commitOffset: 1 });
        return null;
      case RequestCodes.GET_CONSUMER_LIST_BY_GROUP:
      case RequestCodes.GET_CONSUMER_CONNECTION_LIST:
        if (expectedCode === 0) await this.#join(connection, group, [topic || 'T'], '*', '0');
        else await this.#scatter(group);
        return null;
      case RequestCodes.GET_PRODUCER_CONNECTION_LIST:
        if (expectedCode === 0) await this.#produce(connection, present(ext['producerGroup']));
        return null;
      case RequestCodes.SEND_REPLY_MESSAGE:
      case RequestCodes.SEND_REPLY_MESSAGE_V2: {
        const to = parseProperties(ext['properties'] ?? ext['i'] ?? '').get('REPLY_TO_CLIENT');
        if (expectedCode === 0) await this.#produce(connection, 'askers', to);
        return null;
      }
      case RequestCodes.GET_CONSUMER_RUNNING_INFO:
      case RequestCodes.CONSUME_MESSAGE_DIRECTLY:
      case RequestCodes.INVOKE_BROKER_TO_GET_CONSUMER_STATUS: {
        if (expectedCode !== 0) return null;
        await this.#join(connection, group, [topic || 'T'], '*', '0', ext['clientId'] || ext['clientAddr'] || undefined);
        return code === RequestCodes.CONSUME_MESSAGE_DIRECTLY ? { msgId: await this.#storeId() } : null;
      }
      case RequestCodes.QUERY_MESSAGE:
        if (expectedCode !== 0) return null;
        return this.#storeKeyed(topic, present(ext['key']));
      case RequestCodes.VIEW_MESSAGE_BY_ID:
        return expectedCode === 0 ? { offset: await this.#storeOne() } : null;
      case RequestCodes.CONSUMER_SEND_MSG_BACK:
        return expectedCode === 0 ? { offset: await this.#storeOne(ext['originTopic'] || undefined) } : null;
      default:
        return null;
    }
  }

  async #haveTopic(topic: string, onlyRetry: boolean): Promise<void> {
    const retryOf = /^%(?:RETRY|DLQ)%(.+)$/.exec(topic)?.[1];
    if (retryOf !== undefined) await this.#haveGroup(retryOf);
    // Sends make their topics themselves.
    if (onlyRetry) return;
    const known = await this.#admin.call(RequestCodes.GET_TOPIC_CONFIG, { topic });
    if (known.code !== 0) await this.#admin.call(RequestCodes.UPDATE_AND_CREATE_TOPIC, topicExt(topic, QUEUES));
  }

  async #haveGroup(groupName: string): Promise<void> {
    await this.#admin.call(RequestCodes.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, JSON.stringify({ groupName }));
  }

  async #preparePull(captured: Captured, connection: WireClient, topic: string, group: string): Promise<ExtFields | null> {
    const { ext, expectedCode, expectedExt } = captured;
    if (expectedCode === ResponseCodes.SUBSCRIPTION_NOT_EXIST) await this.#scatter(group);
    const tag = /^[\w-]+/.exec(ext['subscription'] ?? '')?.[0] ?? 'tag';
    if (expectedCode !== ResponseCodes.SUBSCRIPTION_NOT_EXIST) {
      const behind = expectedCode === ResponseCodes.SUBSCRIPTION_NOT_LATEST;
      const registered = expectedCode === ResponseCodes.PULL_RETRY_IMMEDIATELY ? tag : '*';
      await this.#join(connection, group, [topic], ext['subscription'] || registered, behind ? '0' : (ext['subVersion'] ?? '0'));
    }
    const wanted = Number(expectedExt?.['maxOffset'] ?? countFor(expectedCode, Number(ext['queueOffset'])));
    if (wanted >= 0) {
      const matching = expectedCode === ResponseCodes.PULL_RETRY_IMMEDIATELY ? 'another' : tag;
      await this.#fill(topic, Number(ext['queueId']), wanted, matching);
    }
    // What was held until its time was up need not take that long here.
    return ext['suspendTimeoutMillis'] === '0' ? null : { suspendTimeoutMillis: HOLD_MS };
  }

  /** Exactly so many messages in a queue: a topic that has more is made anew. */
  async #fill(topic: string, queueId: number, count: number, tag: string): Promise<void> {
    let max = Number((await this.#admin.call(RequestCodes.GET_MAX_OFFSET, { topic, queueId })).ext['offset']);
    if (max > 0) {
      const retryOf = /^%RETRY%(.+)$/.exec(topic)?.[1];
      await this.#admin.call(RequestCodes.DELETE_TOPIC_IN_BROKER, { topic });
      await this.#admin.call(RequestCodes.UPDATE_AND_CREATE_TOPIC, topicExt(topic, retryOf === undefined ? QUEUES : 1));
      max = 0;
    }
    const answers: Promise<Answer>[] = [];
    for (let i = max; i < count; i++) {
      answers.push(this.#admin.send(topic, `m${i}`, { queueId, properties: `TAGS\u0001${tag}\u0002` }));
    }
    for (const answer of await Promise.all(answers)) if (answer.code !== 0) throw new Error(`cannot fill ${topic}: ${answer.remark}`);
  }

  async #storeKeyed(topic: string, key: string): Promise<ExtFields> {
    await this.#admin.send(topic, 'x', { properties: `KEYS\u0001${key}\u0002UNIQ_KEY\u0001${key}\u0002` });
    return { beginTimestamp: 0, endTimestamp: '4000000000000' };
  }

  async #storeOne(topic?: string): Promise<string> {
    return Number.parseInt((await this.#storeId(topic)).slice(16), 16).toString();
  }

  async #storeId(topic = 'GoldenView'): Promise<string> {
    return present((await this.#admin.send(topic, 'x')).ext['msgId']);
  }

  async #join(
    connection: WireClient,
    group: string,
    topics: readonly string[],
    text: string,
    subVersion: string,
    clientId = 'golden@1',
  ): Promise<void> {
    const tags = text === '*' ? [] : text.split('||').map((tag) => tag.trim());
    const subscriptions = topics.map((topic) => ({
      topic,
      expression: text,
      type: 'TAG',
      tags,
      codes: tags.map(javaHash),
      version: subVersion,
      classFilter: false,
    }));
    const consumer: ConsumerData = {
      group,
      consumeType: 'CONSUME_PASSIVELY',
      messageModel: 'CLUSTERING',
      consumeFromWhere: 'CONSUME_FROM_FIRST_OFFSET',
      subscriptions,
      unitMode: false,
    };
    const data = { clientId, producerGroups: [], consumers: [consumer], fingerprint: 0, withoutSub: false };
    const answer = await connection.call(RequestCodes.HEART_BEAT, {}, encodeHeartbeat(data));
    if (answer.code !== 0) throw new Error(`cannot join ${group}: ${answer.remark}`);
  }

  /** A group whose members have all gone. */
  async #scatter(consumerGroup: string): Promise<void> {
    for (const connection of this.#connections.values()) connection.close();
    while ((await this.#admin.call(RequestCodes.GET_CONSUMER_LIST_BY_GROUP, { consumerGroup })).code === 0);
  }

  async #produce(connection: WireClient, group: string, clientId = 'golden@1'): Promise<void> {
    const data = { clientId, producerGroups: [group], consumers: [], fingerprint: 0, withoutSub: false };
    await connection.call(RequestCodes.HEART_BEAT, {}, encodeHeartbeat(data));
  }
}

/** How many messages a queue has where that answer to a pull was all that was kept; -1 where it does not matter. */
function countFor(answer: number, offset: number): number {
  switch (answer) {
    case ResponseCodes.SUCCESS:
    case ResponseCodes.PULL_RETRY_IMMEDIATELY:
      return offset + 1;
    case ResponseCodes.PULL_NOT_FOUND:
      return offset;
    case ResponseCodes.PULL_OFFSET_MOVED:
      return 0;
    default:
      return -1;
  }
}

function isOneway(frame: Buffer): boolean {
  return parse(frame).header.isOneway;
}

interface Parsed {
  readonly header: Header;
  readonly body: Buffer;
}

function parse(frame: Buffer): Parsed {
  const header = new Header();
  let body = Buffer.alloc(0);
  new FrameDecoder({
    onFrame: (bytes, headerAt, headerSize, codec, bodyAt, bodySize) => {
      readHeader(bytes, headerAt, headerSize, codec, header);
      body = Buffer.from(bytes.subarray(bodyAt, bodyAt + bodySize));
      return true;
    },
  }).push(frame);
  return { header, body };
}

/** Which queue a broker picks is its own choice: the one that Apache's picked is asked for. */
function withoutChance(frame: Buffer): Buffer {
  return parse(frame).header.field('e') === '-1' ? withFields(frame, { e: 2 }) : frame;
}

/** The same request with some fields changed, in its own form. */
function withFields(frame: Buffer, changed: ExtFields): Buffer {
  const { header, body } = parse(frame);
  const { code, opaque, flag, version, language, codec } = header;
  return encodeFrame({ code, opaque, flag, version, language, codec, ext: { ...header.fields(), ...changed }, body });
}
