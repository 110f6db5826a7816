// Sends: judges a request, encodes its record straight into the ring to the commit log, and answers when the log has it.
import { join64 } from '../../base/bytes.ts';
import { PropertyNames } from '../../message/properties.ts';
import { PROPERTIES_SIZE_MAX, RecordFields, visibleSysFlag } from '../../message/record.ts';
import { ResponseCodes } from '../../protocol/codes.ts';
import { readSendRequest, SendRequest } from '../../protocol/commands/send-message.ts';
import type { Header } from '../../protocol/header.ts';
import { CounterIds } from '../../runtime/counters.ts';
import type { RingWriter } from '../../runtime/ring.ts';
import { Messages } from '../messages.ts';
import { BatchEncoder } from './batch-encoder.ts';
import type { ClientConnection } from './client-connection.ts';
import { DelayRoute } from './delay-route.ts';
import type { Desk } from './desk.ts';
import type { RoutedTopic } from './directory.ts';
import { MessageEncoder } from './message-encoder.ts';
import type { PendingSend } from './pending-sends.ts';
import { routeRetry } from './retry-sends.ts';
import type { SendAnswers } from './send-answers.ts';
import { batchDeliveryFault, bodyFault, deliveryFault, noLevelFault, propertiesFault, type Refusal, refuseTopic } from './send-checks.ts';
import type { SendGate } from './send-gate.ts';
import type { StoreHost } from './store-host.ts';
import { awaitTopic } from './topic-wait.ts';

const APPEND_HEAD_SIZE = 12;
/** Appends between two wake-ups of a commit log on another thread: it works while this one still parses. */
const PUBLISH_EVERY = 16;

export class SendPath {
  readonly #desk: Desk;
  readonly #answers: SendAnswers;
  readonly #gate: SendGate;
  readonly #host: StoreHost;
  readonly #ring: RingWriter;
  readonly #request = new SendRequest();
  readonly #fields = new RecordFields();
  readonly #message: MessageEncoder;
  readonly #batch: BatchEncoder;
  readonly #delays: DelayRoute;
  #unpublished = 0;
  /** Set while a reply is stored, whose sender is not refused for that any more. */
  #storesReply = false;
  #refusal: Refusal | null = null;

  constructor(desk: Desk, answers: SendAnswers, gate: SendGate, host: StoreHost) {
    const { settings } = desk.context;
    this.#desk = desk;
    this.#answers = answers;
    this.#gate = gate;
    this.#host = host;
    this.#ring = desk.commitLog.ring;
    this.#message = new MessageEncoder(desk);
    this.#batch = new BatchEncoder(settings);
    this.#delays = new DelayRoute(desk);
  }

  /** False when the frame has to be offered again: no room in the ring, or its topic is being made. */
  tryHandle(client: ClientConnection, header: Header, bytes: Buffer, bodyAt: number, bodySize: number): boolean {
    if (this.#gate.refusal !== null) return this.#refuse(client, header, this.#gate.refusal);
    const request = this.#request;
    const fault = readSendRequest(header, request);
    if (fault !== null) return this.#refuse(client, header, { code: ResponseCodes.SYSTEM_ERROR, remark: fault });
    const topic = this.#desk.directory.topic(request.topic);
    const refusal = refuseTopic(this.#desk.context.settings, topic, request, client.connection);
    if (refusal !== null) return this.#refuse(client, header, refusal);
    if (topic === undefined) return this.#awaitTopic(client, header, request);
    if (request.batch) {
      const queueId = this.#queueOf(topic, request.queueId);
      this.#fillFields(client, request, topic, queueId);
      return this.#tryBatch(client, header, topic, queueId, bytes, bodyAt, bodySize);
    }
    let target = topic;
    if (topic.isRetry) {
      const routed = routeRetry(this.#desk, client, topic, request, header.version);
      if (routed === null) return false;
      if ('remark' in routed) return this.#refuse(client, header, routed);
      target = routed;
    }
    const queueId = this.#queueOf(target, target === topic ? request.queueId : -1);
    this.#fillFields(client, request, target, queueId);
    return this.#trySingle(client, header, target, queueId, bytes, bodyAt, bodySize);
  }

  #queueOf(topic: RoutedTopic, asked: number): number {
    return asked >= 0 ? asked : this.#desk.context.random.below(Math.max(1, topic.writeQueueCount));
  }

  /** A reply that has been delivered: true once it is stored or need not be offered again, false as in `tryHandle`, a refusal is not answered. */
  tryStore(client: ClientConnection, header: Header, bytes: Buffer, bodyAt: number, bodySize: number): Refusal | boolean {
    this.#storesReply = true;
    this.#refusal = null;
    const taken = this.tryHandle(client, header, bytes, bodyAt, bodySize);
    this.#storesReply = false;
    return this.#refusal ?? taken;
  }

  /** For the end of a cycle: the commit log gets what is committed. */
  publish(): void {
    this.#unpublished = 0;
    this.#desk.commitLog.flush();
  }

  #trySingle(
    client: ClientConnection,
    header: Header,
    topic: RoutedTopic,
    queueId: number,
    bytes: Buffer,
    bodyAt: number,
    bodySize: number,
  ): boolean {
    const { settings } = this.#desk.context;
    if (bodySize === 0 || bodySize > settings.maxMessageSize)
      return this.#refuse(client, header, bodyFault(bodySize, settings.maxMessageSize));
    const message = this.#message;
    const size = message.readProperties(this.#request);
    if (size > PROPERTIES_SIZE_MAX) return this.#refuse(client, header, propertiesFault(size));
    // Past its tries: nothing may hold a dead letter up.
    const dead = topic.isDlq && topic.name !== this.#request.topic;
    if (dead) message.changeProperties([[PropertyNames.delay, '']]);
    const fields = this.#fields;
    fields.bodySize = bodySize;
    const fault = deliveryFault(message.scan, fields.reconsumeTimes);
    if (fault !== null) return this.#refuse(client, header, fault);
    const home = message.scan.delayLevel > 0 ? this.#delays.park(message, fields, topic, queueId) : topic;
    if (home === null) return this.#refuse(client, header, noLevelFault(message.scan.delayLevel));
    // Stored again under its own topic, it must fit as well.
    const refusal = message.measure(fields, home === topic ? 0 : topic.nameBytes.length);
    if (refusal !== null) return this.#refuse(client, header, refusal);
    if (this.#answers.pending.full) return this.#desk.stall(client);
    const at = this.#ring.claim(APPEND_HEAD_SIZE + message.ringSize);
    if (at < 0) return this.#desk.stall(client);
    message.write(this.#ring, at + APPEND_HEAD_SIZE, fields, home.keyHash, bytes, bodyAt);
    const pending = this.#commit(client, header, home.keys[fields.queueId] as number, queueId, 1, at);
    message.keepKey(this.#answers.pending, pending);
    pending.sizes = null;
    pending.totalSize = message.recordSize;
    pending.waitsForDisk = !message.scan.waitFalse;
    if (dead) this.#desk.context.counters.add(CounterIds.deadLetters, 1);
    return true;
  }

  #tryBatch(
    client: ClientConnection,
    header: Header,
    topic: RoutedTopic,
    queueId: number,
    bytes: Buffer,
    bodyAt: number,
    bodySize: number,
  ): boolean {
    const batch = this.#batch;
    const message = this.#message;
    const size = message.readProperties(this.#request);
    if (size > PROPERTIES_SIZE_MAX) return this.#refuse(client, header, propertiesFault(size));
    const refusal = topic.isRetry
      ? { code: ResponseCodes.MESSAGE_ILLEGAL, remark: `batch request does not support retry group ${topic.name}` }
      : (batchDeliveryFault(message.scan) ?? batch.measure(this.#fields, topic.keyHash, bytes, bodyAt, bodySize));
    if (refusal !== null) return this.#refuse(client, header, refusal);
    const ring = this.#ring;
    if (this.#answers.pending.full) return this.#desk.stall(client);
    const at = ring.claim(APPEND_HEAD_SIZE + batch.ringSize);
    if (at < 0) return this.#desk.stall(client);
    batch.write(ring, at + APPEND_HEAD_SIZE, this.#fields, bytes, bodyAt, bodySize);
    const pending = this.#commit(client, header, topic.keys[queueId] as number, queueId, batch.sizes.length, at);
    message.keepSentKey(this.#answers.pending, pending);
    pending.sizes = batch.sizes;
    pending.totalSize = batch.totalSize;
    pending.waitsForDisk = !message.scan.waitFalse;
    return true;
  }

  #commit(client: ClientConnection, header: Header, key: number, queueId: number, recordCount: number, at: number): PendingSend {
    const pending = this.#answers.pending.push();
    pending.client = client;
    pending.opaque = header.opaque;
    pending.codec = header.codec;
    pending.oneway = header.isOneway;
    pending.queueId = queueId;
    client.pendingCount++;
    const word = at >> 2;
    const { words } = this.#ring;
    words[word] = pending.token;
    words[word + 1] = key;
    words[word + 2] = recordCount;
    this.#ring.commit(Messages.append);
    this.#desk.context.counters.add(CounterIds.requests, 1);
    if (++this.#unpublished >= PUBLISH_EVERY) this.publish();
    return pending;
  }

  #fillFields(client: ClientConnection, request: SendRequest, topic: RoutedTopic, queueId: number): void {
    const fields = this.#fields;
    fields.queueId = queueId;
    fields.flag = request.flag;
    fields.sysFlag = visibleSysFlag(request.sysFlag);
    fields.bornTimeMs = request.bornTimeMs;
    fields.bornHost = client.hostBytes;
    fields.bornPort = client.connection.remotePort;
    fields.storeHost = this.#host.bytes;
    fields.storePort = this.#host.port;
    fields.reconsumeTimes = request.reconsumeTimes;
    fields.topic = topic.nameBytes;
    fields.topicUnits = topic.name.length;
  }

  #awaitTopic(client: ClientConnection, header: Header, request: SendRequest): boolean {
    const { topic, defaultTopic, defaultTopicQueueCount: queueCount, unitMode: unit } = request;
    const refusal = awaitTopic(this.#desk, client, { topic, defaultTopic, queueCount, unit });
    return refusal === null ? false : this.#refuse(client, header, refusal);
  }

  #refuse(client: ClientConnection, header: Header, refusal: Refusal): true {
    if (this.#storesReply) {
      this.#refusal = refusal;
      return true;
    }
    const { regionId, traceOn } = this.#desk.context.settings;
    this.#desk.answer(client, header, refusal.code, refusal.remark, { MSG_REGION: regionId, TRACE_ON: traceOn });
    return true;
  }
}

/** Halves of an ack's 64-bit fields. */
export function ackNumber(words: Int32Array, word: number): number {
  return join64(words[word] as number, words[word + 1] as number);
}
