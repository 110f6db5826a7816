// Send-backs (36): a message that a consumer could not handle is stored again, to be tried later or as a dead letter.
import { readUtf8 } from '../../base/bytes.ts';
import { RateLimit } from '../../base/rate-limit.ts';
import { parseDelayLevels } from '../../core/delay-levels.ts';
import { DEAD_LETTER, retryLimit, sendBackLevel } from '../../core/retries.ts';
import { SendBackMemory } from '../../core/send-back-memory.ts';
import { dlqTopicOf, groupFault, retryTopicOf, SystemTopics } from '../../message/names.ts';
import { PropertyNames, readProperty } from '../../message/properties.ts';
import { propertiesAt, propertiesSize, readReconsumeTimes, readTotalSize, topicAt, topicSize } from '../../message/record.ts';
import { ResponseCodes } from '../../protocol/codes.ts';
import { decodeSendBackRequest, type SendBackRequest } from '../../protocol/commands/send-back.ts';
import type { HeaderCodec } from '../../protocol/frame.ts';
import { encodeFrame, type Header, RESPONSE_FLAG } from '../../protocol/header.ts';
import { BROKER_VERSION } from '../../protocol/versions.ts';
import { CounterIds } from '../../runtime/counters.ts';
import { tryAppendCopy } from '../append-writer.ts';
import { AppendStatuses, type DirectoryGroup } from '../messages.ts';
import type { ClientConnection } from './client-connection.ts';
import type { Desk } from './desk.ts';
import type { RoutedTopic } from './directory.ts';
import { recordAt } from './record-at.ts';
import type { SendAnswers } from './send-answers.ts';
import { type Refusal, recordSizeMax } from './send-checks.ts';
import type { SendGate } from './send-gate.ts';
import { planSentBack } from './sent-back-copy.ts';
import type { StoreHost } from './store-host.ts';
import { awaitGroupTopic } from './topic-wait.ts';

const PERM_WRITE = 2;
const LOG_INTERVAL_MS = 10_000;
/** A dead letter is not given out again, so the same try may be known for as long as two clients could need to send it back. */
const DEAD_LETTER_KNOWN_MS = 60_000;
/** Bytes that a record may have on top of its body: what does not fit could not be sent either. */
const RECORD_OVERHEAD_MAX = 65_536;

/** A send-back that lies with the commit log. */
interface Ticket {
  readonly client: ClientConnection;
  readonly opaque: number;
  readonly codec: HeaderCodec;
  readonly oneway: boolean;
  readonly group: string;
  readonly position: number;
  readonly level: number;
}

export class SendBackPath {
  readonly #desk: Desk;
  readonly #answers: SendAnswers;
  readonly #gate: SendGate;
  readonly #host: StoreHost;
  readonly #memory = new SendBackMemory();
  readonly #delaysMs: readonly number[];
  readonly #dropLimit = new RateLimit(LOG_INTERVAL_MS);

  constructor(desk: Desk, answers: SendAnswers, gate: SendGate, host: StoreHost) {
    this.#desk = desk;
    this.#answers = answers;
    this.#gate = gate;
    this.#host = host;
    this.#delaysMs = parseDelayLevels(desk.context.settings.messageDelayLevel);
  }

  /** False when the frame has to be offered again: no room in the ring, or a topic is being made. The order of checks is stock brokers'. */
  tryHandle(client: ClientConnection, header: Header): boolean {
    if (this.#gate.refusal !== null) return this.#refuse(client, header, this.#gate.refusal);
    const decoded = decodeSendBackRequest(header);
    if (!decoded.ok) return this.#refuse(client, header, failed(decoded.fault));
    const request = decoded.value;
    const { directory, context } = this.#desk;
    const group = directory.group(request.group);
    if (group === undefined) return this.#awaitGroup(client, header, request);
    const { settings } = context;
    if ((settings.brokerPermission & PERM_WRITE) === 0) {
      return this.#refuse(client, header, forbidden(`the broker[${settings.brokerIP1}] sending message is forbidden`));
    }
    if (group.retryQueueCount <= 0) return this.#drop(client, header, request);
    const name = retryTopicOf(request.group);
    const topic = directory.topic(name);
    if (topic === undefined) return this.#await(client, header, request, name);
    if ((topic.perm & PERM_WRITE) === 0) {
      return this.#refuse(client, header, forbidden(`the topic[${name}] sending message is forbidden`));
    }
    return this.#tryRecord(client, header, request, group, topic);
  }

  #tryRecord(client: ClientConnection, header: Header, request: SendBackRequest, group: DirectoryGroup, retry: RoutedTopic): boolean {
    const { offset } = request;
    const record = recordAt(this.#desk, offset);
    const fault = typeof record === 'string' ? record : originFault(record, request.originTopic);
    if (typeof record === 'string' || fault !== null) {
      return this.#refuse(client, header, failed(`look message by offset failed, ${offset}: ${fault}`));
    }
    const known = this.#memory.look(request.group, offset, this.#desk.context.clock.steadyMs());
    if (known === 'underWay') return this.#desk.stall(client);
    if (known === 'stored') {
      this.#desk.answer(client, header, ResponseCodes.SUCCESS);
      return true;
    }
    const limit = retryLimit(group.retryMaxTimes, request.maxReconsumeTimes, header.version);
    const level = sendBackLevel(readReconsumeTimes(record, 0), request.delayLevel, limit, this.#delaysMs.length);
    const targetName = level === DEAD_LETTER ? dlqTopicOf(request.group) : SystemTopics.schedule;
    const target = this.#desk.directory.topic(targetName);
    if (target === undefined) return this.#await(client, header, request, targetName);
    return this.#tryStore(client, header, request, record, level, retry, target);
  }

  #tryStore(
    client: ClientConnection,
    header: Header,
    request: SendBackRequest,
    record: Buffer,
    level: number,
    retry: RoutedTopic,
    target: RoutedTopic,
  ): boolean {
    const { settings, random, counters } = this.#desk.context;
    const queueId = level === DEAD_LETTER ? random.below(Math.max(1, target.writeQueueCount)) : level - 1;
    const retryQueueId = random.below(Math.max(1, retry.writeQueueCount));
    const copy = planSentBack(record, level, target, queueId, retry.name, retryQueueId, this.#host);
    const key = target.keys[queueId];
    if (key === undefined) return this.#refuse(client, header, failed(`topic[${target.name}] has no queue ${queueId}`));
    const allowed = Math.min(recordSizeMax(settings), settings.maxMessageSize + RECORD_OVERHEAD_MAX);
    // What waits is stored once more, under the retry topic's name.
    if (!copy.fits || copy.size + retry.nameBytes.length > allowed) {
      return this.#refuse(
        client,
        header,
        failed(`MESSAGE_ILLEGAL: the message would become too large size=${copy.size} allowed=${allowed}`),
      );
    }
    const { pending } = this.#answers;
    if (pending.full || !tryAppendCopy(this.#desk.commitLog.ring, pending.nextToken, key, copy)) return this.#desk.stall(client);
    const send = pending.push();
    const { opaque, codec, isOneway } = header;
    const ticket: Ticket = { client, opaque, codec, oneway: isOneway, group: request.group, position: request.offset, level };
    send.client = client;
    send.queueId = queueId;
    send.sizes = null;
    send.totalSize = copy.size;
    // The copy says WAIT=false, as it always did; its consumer goes on as soon as it is answered, so the answer waits for the disk.
    send.waitsForDisk = true;
    send.onDone = (code, status) => this.#done(ticket, code, status);
    client.pendingCount++;
    this.#memory.begin(request.group, request.offset);
    counters.add(CounterIds.requests, 1);
    return true;
  }

  #done(ticket: Ticket, code: number, status: number): void {
    const { clock, counters, settings } = this.#desk.context;
    const { client, codec, opaque, level } = ticket;
    const nowMs = clock.steadyMs();
    const stored = code === ResponseCodes.SUCCESS;
    const waitMs = level === DEAD_LETTER ? DEAD_LETTER_KNOWN_MS : (this.#delaysMs[level - 1] ?? 0);
    this.#memory.end(ticket.group, ticket.position, stored ? nowMs + waitMs : 0, nowMs);
    if (stored) counters.add(level === DEAD_LETTER ? CounterIds.deadLetters : CounterIds.sendBacks, 1);
    else counters.add(CounterIds.refusedRequests, 1);
    if (ticket.oneway || client.closed) return;
    const remark = stored ? undefined : failureText(code, status, settings.syncFlushTimeout);
    const parts = { codec, opaque, code: stored ? code : ResponseCodes.SYSTEM_ERROR, flag: RESPONSE_FLAG, version: BROKER_VERSION };
    this.#desk.send(client, encodeFrame({ ...parts, language: 'JAVA', remark, ext: {} }));
  }

  #awaitGroup(client: ClientConnection, header: Header, request: SendBackRequest): boolean {
    const fault = groupFault(request.group);
    if (fault === null) return this.#await(client, header, request, retryTopicOf(request.group));
    const remark = `subscription group not exist, ${request.group}: ${fault}`;
    return this.#refuse(client, header, { code: ResponseCodes.SUBSCRIPTION_GROUP_NOT_EXIST, remark });
  }

  #await(client: ClientConnection, header: Header, request: SendBackRequest, topic: string): boolean {
    const refusal = awaitGroupTopic(this.#desk, client, topic, request.unitMode ?? false);
    return refusal === null ? false : this.#refuse(client, header, refusal);
  }

  /** What its owner has asked for by having no retry queues; it is counted, and told now and then. */
  #drop(client: ClientConnection, header: Header, request: SendBackRequest): true {
    const { counters, clock, log } = this.#desk.context;
    counters.add(CounterIds.sendBacksDropped, 1);
    const suppressed = this.#dropLimit.admit(clock.steadyMs());
    if (suppressed >= 0) {
      const { group, originTopic } = request;
      log.warn('a message sent back was dropped: its group has retryQueueNums 0', { group, topic: originTopic ?? '', suppressed });
    }
    this.#desk.answer(client, header, ResponseCodes.SUCCESS);
    return true;
  }

  #refuse(client: ClientConnection, header: Header, { code, remark }: Refusal): true {
    this.#desk.answer(client, header, code, remark);
    return true;
  }
}

/** null where the record is of the topic that the client says, or came back from it before. Clients leave namespaces (`name%`) away. */
function originFault(record: Buffer, originTopic: string | undefined): string | null {
  if (originTopic === undefined || originTopic === '') return null;
  const at = topicAt(record, 0);
  const topic = readUtf8(record, at, at + topicSize(record, 0));
  if (isOf(topic, originTopic)) return null;
  const from = propertiesAt(record, 0);
  const origin = readProperty(record, from, from + propertiesSize(record, 0), PropertyNames.retryTopic);
  if (origin !== null && isOf(origin, originTopic)) return null;
  return `the message there is of topic ${topic}, not of originTopic ${originTopic} size=${readTotalSize(record, 0)}`;
}

function isOf(topic: string, shown: string): boolean {
  return topic === shown || topic.endsWith(`%${shown}`);
}

function failureText(code: number, status: number, syncLimitMs: number): string {
  if (code === ResponseCodes.FLUSH_DISK_TIMEOUT) return `FLUSH_DISK_TIMEOUT: the disk took longer than syncFlushTimeout=${syncLimitMs}ms`;
  const why =
    status === AppendStatuses.noSpace ? 'the disk of the commit log has no room' : 'the log is read-only, see the log of the broker';
  return `SERVICE_NOT_AVAILABLE: ${why}; nothing was stored`;
}

function failed(remark: string): Refusal {
  return { code: ResponseCodes.SYSTEM_ERROR, remark };
}

function forbidden(remark: string): Refusal {
  return { code: ResponseCodes.NO_PERMISSION, remark };
}
