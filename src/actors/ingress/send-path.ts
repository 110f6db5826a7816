// Sends: judges a request, encodes its record straight into the ring to the commit log, and answers when the log has it.
import { join64 } from '../../base/bytes.ts';
import { newUniqueKey } from '../../base/id.ts';
import { bodyCrcIn } from '../../message/crc.ts';
import { indexKeyHash } from '../../message/index-key.ts';
import { PropertyScan, scanProperties, storedPropertiesSize, writeStoredProperties } from '../../message/properties.ts';
import { PROPERTIES_SIZE_MAX, RecordFields, sizeOfRecord, writeRecordIn } from '../../message/record.ts';
import { tagsCodeOf } from '../../message/tags.ts';
import { ResponseCodes } from '../../protocol/codes.ts';
import { readSendRequest, SendRequest } from '../../protocol/commands/send-message.ts';
import type { FieldSpan, Header } from '../../protocol/header.ts';
import { CounterIds } from '../../runtime/counters.ts';
import type { RingWriter } from '../../runtime/ring.ts';
import { keyFlags } from '../key-flags.ts';
import { Messages, RECORD_HEAD_SIZE, RecordFlags } from '../messages.ts';
import { BatchEncoder } from './batch-encoder.ts';
import type { ClientConnection } from './client-connection.ts';
import type { Desk } from './desk.ts';
import type { RoutedTopic } from './directory.ts';
import type { PendingSend } from './pending-sends.ts';
import type { SendAnswers } from './send-answers.ts';
import { deliveryFault, type Refusal, recordSizeMax, refuseTopic } from './send-checks.ts';
import type { SendGate } from './send-gate.ts';
import type { StoreHost } from './store-host.ts';

const APPEND_HEAD_SIZE = 12;
/** Appends between two wake-ups of a commit log on another thread: it works while this one still parses. */
const PUBLISH_EVERY = 16;
/** More properties than this are not even encoded to be measured. */
const SCRATCH_SIZE = 4 * (PROPERTIES_SIZE_MAX + 1);

const KEY_PAIR = 'UNIQ_KEY\x01';

export class SendPath {
  readonly #desk: Desk;
  readonly #answers: SendAnswers;
  readonly #gate: SendGate;
  readonly #host: StoreHost;
  readonly #ring: RingWriter;
  readonly #request = new SendRequest();
  readonly #scan = new PropertyScan();
  readonly #fields = new RecordFields();
  readonly #scratch = Buffer.allocUnsafeSlow(SCRATCH_SIZE);
  /** The properties of the request at hand; `#scan` is of these bytes. */
  readonly #properties: FieldSpan = { bytes: this.#scratch, at: 0, size: 0 };
  readonly #batch: BatchEncoder;
  /** MSG_REGION, TRACE_ON and CLUSTER as they stand behind every message's own properties. */
  readonly #suffix: FieldSpan;
  #unpublished = 0;

  constructor(desk: Desk, answers: SendAnswers, gate: SendGate, host: StoreHost) {
    const { settings } = desk.context;
    this.#desk = desk;
    this.#answers = answers;
    this.#gate = gate;
    this.#host = host;
    this.#ring = desk.commitLog.ring;
    this.#batch = new BatchEncoder(settings);
    const suffix = Buffer.from(
      `MSG_REGION\x01${settings.regionId}\x02TRACE_ON\x01${settings.traceOn}\x02CLUSTER\x01${settings.brokerClusterName}\x02`,
    );
    // In the arena it is copied into each record without a view for it.
    const home = desk.pool.take();
    this.#suffix = { bytes: home.bytes, at: home.at, size: suffix.copy(home.bytes, home.at) };
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
    const queueId = request.queueId >= 0 ? request.queueId : this.#desk.context.random.below(Math.max(1, topic.writeQueueCount));
    this.#fillFields(client, request, topic, queueId);
    return request.batch
      ? this.#tryBatch(client, header, topic, queueId, bytes, bodyAt, bodySize)
      : this.#trySingle(client, header, topic, queueId, bytes, bodyAt, bodySize);
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
    const size = this.#scanRequestProperties();
    if (size > PROPERTIES_SIZE_MAX) return this.#refuse(client, header, propertiesFault(size));
    const delivery = deliveryFault(this.#scan);
    if (delivery !== null) return this.#refuse(client, header, delivery);
    const suffix = this.#scan.uniqueKeyAt >= 0 ? this.#suffix : this.#suffixWithKey();
    const fields = this.#fields;
    fields.propertiesSize = storedPropertiesSize(size, this.#scan, suffix.size);
    if (fields.propertiesSize > PROPERTIES_SIZE_MAX) return this.#refuse(client, header, propertiesFault(fields.propertiesSize));
    fields.bodySize = bodySize;
    const recordSize = sizeOfRecord(fields);
    if (recordSize > recordSizeMax(settings)) return this.#refuse(client, header, recordFault(recordSize, recordSizeMax(settings)));
    const ring = this.#ring;
    if (this.#answers.pending.full) return this.#desk.stall(client);
    const at = ring.claim(APPEND_HEAD_SIZE + RECORD_HEAD_SIZE + ((recordSize + 3) & ~3));
    if (at < 0) return this.#desk.stall(client);
    fields.bodyCrc = bodyCrcIn(ring.arena, bytes, bodyAt, bodySize);
    const recordAt = at + APPEND_HEAD_SIZE + RECORD_HEAD_SIZE;
    const propertiesAt = writeRecordIn(ring.arena, recordAt, fields, bytes, bodyAt);
    const { bytes: source, at: sourceAt } = this.#properties;
    writeStoredProperties(ring.arena, propertiesAt, source, sourceAt, sourceAt + size, this.#scan, suffix.bytes, suffix.at, suffix.size);
    const word = at >> 2;
    ring.words[word + 3] = recordSize;
    ring.words[word + 4] = this.#scan.tagsAt < 0 ? 0 : tagsCodeOf(source, this.#scan.tagsAt, this.#scan.tagsEnd);
    const flags = keyFlags(true, this.#scan.keysAt >= 0, fields.sysFlag);
    ring.words[word + 5] = flags;
    ring.words[word + 6] = (flags & RecordFlags.uniqueKeyHashed) === 0 ? 0 : this.#hashUniqueKey(topic, suffix);
    const pending = this.#commit(client, header, topic.keys[queueId] as number, queueId, 1, at);
    if (suffix === this.#suffix) this.#keepKey(pending);
    else this.#answers.pending.keepKey(pending, suffix.bytes, KEY_PAIR.length, this.#madeKeyEnd(suffix));
    pending.sizes = null;
    pending.totalSize = recordSize;
    pending.waitsForDisk = !this.#scan.waitFalse;
    return true;
  }

  /** @param suffix begins with the key that the broker made where the client sent none. */
  #hashUniqueKey(topic: RoutedTopic, suffix: FieldSpan): number {
    const { uniqueKeyAt, uniqueKeyEnd } = this.#scan;
    if (uniqueKeyAt >= 0) return indexKeyHash(topic.keyHash, this.#properties.bytes, uniqueKeyAt, uniqueKeyEnd);
    return indexKeyHash(topic.keyHash, suffix.bytes, KEY_PAIR.length, this.#madeKeyEnd(suffix));
  }

  #madeKeyEnd(suffix: FieldSpan): number {
    return suffix.size - this.#suffix.size - 1;
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
    const size = this.#scanRequestProperties();
    if (size > PROPERTIES_SIZE_MAX) return this.#refuse(client, header, propertiesFault(size));
    const refusal = topic.isRetry
      ? { code: ResponseCodes.MESSAGE_ILLEGAL, remark: `batch request does not support retry group ${topic.name}` }
      : (deliveryFault(this.#scan) ?? batch.measure(this.#fields, topic.keyHash, bytes, bodyAt, bodySize));
    if (refusal !== null) return this.#refuse(client, header, refusal);
    const ring = this.#ring;
    if (this.#answers.pending.full) return this.#desk.stall(client);
    const at = ring.claim(APPEND_HEAD_SIZE + batch.ringSize);
    if (at < 0) return this.#desk.stall(client);
    batch.write(ring, at + APPEND_HEAD_SIZE, this.#fields, bytes, bodyAt, bodySize);
    const pending = this.#commit(client, header, topic.keys[queueId] as number, queueId, batch.sizes.length, at);
    this.#keepKey(pending);
    pending.sizes = batch.sizes;
    pending.totalSize = batch.totalSize;
    pending.waitsForDisk = !this.#scan.waitFalse;
    return true;
  }

  /** For a message that came without a unique key. */
  #suffixWithKey(): FieldSpan {
    const { bytes, at, size } = this.#suffix;
    const made = Buffer.concat([Buffer.from(`${KEY_PAIR}${newUniqueKey()}\x02`), bytes.subarray(at, at + size)]);
    return { bytes: made, at: 0, size: made.length };
  }

  #keepKey(pending: PendingSend): void {
    this.#answers.pending.keepKey(pending, this.#properties.bytes, this.#scan.uniqueKeyAt, this.#scan.uniqueKeyEnd);
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

  /** Finds the request's properties, or writes them into the scratch; how many bytes, also when they are too many to be scanned. */
  #scanRequestProperties(): number {
    const request = this.#request;
    const span = this.#properties;
    if (!request.findProperties(span)) {
      span.bytes = this.#scratch;
      span.at = 0;
      span.size = request.propertiesSizeMax <= SCRATCH_SIZE ? request.writeProperties(span.bytes, 0) : this.#writeLong(request.properties);
    }
    if (span.size <= PROPERTIES_SIZE_MAX) scanProperties(span.bytes, span.at, span.at + span.size, this.#scan);
    return span.size;
  }

  /** Escapes can make a legal text long on the wire. */
  #writeLong(text: string): number {
    const size = Buffer.byteLength(text);
    if (size <= PROPERTIES_SIZE_MAX) this.#scratch.write(text, 0, 'utf8');
    return size;
  }

  #fillFields(client: ClientConnection, request: SendRequest, topic: RoutedTopic, queueId: number): void {
    const fields = this.#fields;
    fields.queueId = queueId;
    fields.flag = request.flag;
    fields.sysFlag = request.sysFlag;
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
    const { verdict } = client;
    client.verdict = null;
    if (verdict !== null && verdict.topic === request.topic && verdict.code !== 0) return this.#refuse(client, header, verdict);
    client.waitsForTopic = request.topic;
    this.#desk.coordinator.sendJson(Messages.ensureTopic, {
      token: client.id,
      topic: request.topic,
      defaultTopic: request.defaultTopic,
      queueCount: request.defaultTopicQueueCount,
      unit: request.unitMode,
    });
    return this.#desk.stall(client);
  }

  #refuse(client: ClientConnection, header: Header, refusal: Refusal): true {
    const { regionId, traceOn } = this.#desk.context.settings;
    this.#desk.answer(client, header, refusal.code, refusal.remark, { MSG_REGION: regionId, TRACE_ON: traceOn });
    return true;
  }
}

function bodyFault(size: number, sizeMax: number): Refusal {
  return {
    code: ResponseCodes.MESSAGE_ILLEGAL,
    remark: `the message is illegal: its body must have 1 to maxMessageSize bytes bodySize=${size} maxMessageSize=${sizeMax}`,
  };
}

function recordFault(size: number, sizeMax: number): Refusal {
  return {
    code: ResponseCodes.MESSAGE_ILLEGAL,
    remark: `the message is illegal: it does not fit into a file of the log (mappedFileSizeCommitLog) size=${size} allowed=${sizeMax}`,
  };
}

function propertiesFault(size: number): Refusal {
  return {
    code: ResponseCodes.MESSAGE_ILLEGAL,
    remark: `the message is illegal: its properties are too long propertiesSize=${size} allowed=${PROPERTIES_SIZE_MAX}`,
  };
}

/** Halves of an ack's 64-bit fields. */
export function ackNumber(words: Int32Array, word: number): number {
  return join64(words[word] as number, words[word + 1] as number);
}
