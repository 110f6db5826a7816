// Replies of request-reply: the coordinator hands each to the client that asked; then it is stored like any message, and answered.
//
//   324, 325 ──copy kept──> coordinator ──326──> the client that asked      the one who answers waits, its connection does not
//      <── answer with the stored message's values <── append <── its 0
import { pushedReply, replyToClient } from '../../core/pushed-reply.ts';
import { RequestCodes, ResponseCodes } from '../../protocol/codes.ts';
import { readSendRequest, SendRequest } from '../../protocol/commands/send-message.ts';
import { CODEC_AT, HEADER_AT, HeaderCodecs } from '../../protocol/frame.ts';
import { encodeFrame, Header, ONEWAY_FLAG, readHeader } from '../../protocol/header.ts';
import { BROKER_VERSION } from '../../protocol/versions.ts';
import { Messages, type ReplyPushed } from '../messages.ts';
import type { ClientConnection } from './client-connection.ts';
import type { Desk } from './desk.ts';
import { type Ask, askOf, PendingAsks } from './pending-asks.ts';
import { refuseTopic } from './send-checks.ts';
import type { SendPath } from './send-path.ts';
import type { StoreHost } from './store-host.ts';

/** Replies whose clients have not taken them yet: more are refused as busy. */
export const WAITING_REPLY_COUNT_MAX = 4096;
/** Bytes of all of them together. */
export const WAITING_REPLY_SIZE_MAX = 64 * 1024 * 1024;
/** A reply may lack a body: then it is delivered, and is not a message that could be stored. */
const NO_BODY = 0;

interface WaitingReply extends Ask {
  readonly frame: Buffer;
  readonly bodySize: number;
  readonly queueId: number;
}

export class ReplyPath {
  readonly #desk: Desk;
  readonly #sends: SendPath;
  readonly #host: StoreHost;
  readonly #waiting: PendingAsks<WaitingReply>;
  readonly #request = new SendRequest();
  readonly #header = new Header();
  /** Those that found no room to be stored, and whether they were delivered. */
  #unstored: { readonly reply: WaitingReply; readonly fault: string | null }[] = [];
  #waitingSize = 0;

  constructor(desk: Desk, sends: SendPath, host: StoreHost, firstToken: number) {
    this.#desk = desk;
    this.#sends = sends;
    this.#host = host;
    this.#waiting = new PendingAsks(firstToken);
  }

  get count(): number {
    return this.#waiting.count + this.#unstored.length;
  }

  tryHandle(client: ClientConnection, header: Header, frame: Buffer, bodySize: number): true {
    const request = this.#request;
    const fault = readSendRequest(header, request);
    if (fault !== null) return this.#refuse(client, header, ResponseCodes.SYSTEM_ERROR, fault);
    const { context, directory } = this.#desk;
    const topic = directory.topic(request.topic);
    const refusal = refuseTopic(context.settings, topic, request, client.connection);
    if (refusal !== null) return this.#refuse(client, header, refusal.code, refusal.remark);
    const to = replyToClient(request.properties);
    if (to === null) return this.#refuse(client, header, ResponseCodes.SYSTEM_ERROR, 'reply message properties[REPLY_TO_CLIENT] is null');
    if (this.#waiting.count >= WAITING_REPLY_COUNT_MAX || this.#waitingSize + frame.length > WAITING_REPLY_SIZE_MAX) {
      const remark = `too many replies wait for their clients replies=${this.#waiting.count} max=${WAITING_REPLY_COUNT_MAX} bytes=${this.#waitingSize} max=${WAITING_REPLY_SIZE_MAX}`;
      return this.#refuse(client, header, ResponseCodes.SYSTEM_BUSY, remark);
    }
    const queueId = request.queueId >= 0 ? request.queueId : context.random.below(Math.max(1, topic?.writeQueueCount ?? 1));
    const reply: WaitingReply = { ...askOf(client, header), frame: Buffer.from(frame), bodySize, queueId };
    this.#push(reply, request, to);
    return true;
  }

  /** The client has taken the reply, or cannot be given it: it is stored in both cases, as stock brokers do. */
  onPushed({ token, fault }: ReplyPushed): void {
    const reply = this.#waiting.take(token);
    if (reply === undefined) return;
    this.#waitingSize -= reply.frame.length;
    if (fault !== null) this.#answer(reply, ResponseCodes.SYSTEM_ERROR, fault);
    if (!this.#desk.context.settings.storeReplyMessageEnable || reply.bodySize === NO_BODY) {
      if (fault === null) this.#answerUnstored(reply);
    } else if (!this.#tryStore(reply, fault)) this.#unstored.push({ reply, fault });
  }

  /** Stores what found no room before; returns how many. */
  store(): number {
    if (this.#unstored.length === 0) return 0;
    const before = this.#unstored;
    this.#unstored = before.filter(({ reply, fault }) => !this.#tryStore(reply, fault));
    return before.length - this.#unstored.length;
  }

  forget(client: ClientConnection): void {
    for (const reply of this.#waiting.takeAll((ask) => ask.client === client)) this.#waitingSize -= reply.frame.length;
    this.#unstored = this.#unstored.filter(({ reply }) => reply.client !== client);
  }

  #push(reply: WaitingReply, request: SendRequest, to: string): void {
    const { settings, clock } = this.#desk.context;
    const { remoteHost, remotePort } = reply.client.connection;
    const place = { bornHost: `${remoteHost}:${remotePort}`, storeHost: `${settings.brokerIP1}:${this.#host.port}`, nowMs: clock.wallMs() };
    const frame = encodeFrame({
      code: RequestCodes.PUSH_REPLY_MESSAGE_TO_CLIENT,
      opaque: 0,
      flag: 0,
      codec: HeaderCodecs.json,
      version: BROKER_VERSION,
      language: 'JAVA',
      ext: pushedReply(request, reply.queueId, to, place),
      body: reply.frame.subarray(reply.frame.length - reply.bodySize),
    });
    this.#desk.coordinator.sendFrame(Messages.pushReply, this.#waiting.nextToken, frame);
    this.#waitingSize += reply.frame.length;
    this.#waiting.add(reply);
  }

  /** @param fault set where the reply was answered already. */
  #tryStore(reply: WaitingReply, fault: string | null): boolean {
    const { frame, client, bodySize } = reply;
    const header = this.#header;
    const word = frame.readUInt32BE(CODEC_AT);
    readHeader(frame, HEADER_AT, word & 0xff_ffff, reply.codec, header);
    if (fault !== null) header.flag |= ONEWAY_FLAG;
    const stored = this.#sends.tryStore(client, header, frame, frame.length - bodySize, bodySize);
    if (typeof stored === 'boolean') return stored;
    this.#desk.context.log.warn('a reply could not be stored; its client has it', { remark: stored.remark, delivered: fault === null });
    if (fault === null) this.#answerUnstored(reply);
    return true;
  }

  #answerUnstored(reply: WaitingReply): void {
    this.#answer(reply, ResponseCodes.SUCCESS, undefined, { msgId: '0', queueId: reply.queueId, queueOffset: 0 });
  }

  #answer(reply: WaitingReply, code: number, remark: string | undefined, more: Record<string, string | number> = {}): void {
    const header = this.#header;
    header.codec = reply.codec;
    header.opaque = reply.opaque;
    header.flag = reply.oneway ? ONEWAY_FLAG : 0;
    this.#desk.answer(reply.client, header, code, remark, { ...this.#common(), ...more });
  }

  #refuse(client: ClientConnection, header: Header, code: number, remark: string): true {
    this.#desk.answer(client, header, code, remark, this.#common());
    return true;
  }

  #common(): Record<string, string | boolean> {
    const { regionId, traceOn } = this.#desk.context.settings;
    return { MSG_REGION: regionId, TRACE_ON: traceOn };
  }
}
