// Which path a frame takes, by its code: the hot ones are served here, everything else is the coordinator's.
import { decodeOffsetMessageId } from '../../message/message-id.ts';
import { RequestCodes, ResponseCodes } from '../../protocol/codes.ts';
import type { FrameSink, HeaderCodec } from '../../protocol/frame.ts';
import { HEADER_AT } from '../../protocol/frame.ts';
import { encodeFrame, Header, readHeader } from '../../protocol/header.ts';
import type { ClientConnection } from './client-connection.ts';
import type { Desk } from './desk.ts';
import type { LookUpPath } from './look-up-path.ts';
import type { PullPath } from './pull-path.ts';
import type { QueryPath } from './query-path.ts';
import type { QueueUnitsPath } from './queue-units-path.ts';
import { recordAt } from './record-at.ts';
import type { Relay } from './relay.ts';
import type { ReplyPath } from './reply-path.ts';
import type { SendBackPath } from './send-back-path.ts';
import type { SendPath } from './send-path.ts';

/**
 * Bytes of a request's header. The largest that clients need holds 32 KiB of properties, each byte of which takes six where it has to be
 * escaped; and what a header is passed on in is a header again, with a limit of 16 MiB.
 */
export const HEADER_SIZE_MAX = 1024 * 1024;

/**
 * What one connection may ask for in one pass, in answers of a pull: only those that were made count as what it has not read, and a round of the
 * event loop may bring thousands of requests.
 */
const SHARE_MAX = 128;
/** A message by its id may be as large as 16 pulls, what a query finds as 48. */
const VIEW_WEIGHT = 16;
const QUERY_WEIGHT = 48;

export class FrameRouter {
  readonly #desk: Desk;
  readonly #sends: SendPath;
  readonly #sendBacks: SendBackPath;
  readonly #pulls: PullPath;
  readonly #lookUps: LookUpPath;
  readonly #queries: QueryPath;
  readonly #units: QueueUnitsPath;
  readonly #relay: Relay;
  readonly #replies: ReplyPath;
  readonly #header: Header;

  constructor(
    desk: Desk,
    sends: SendPath,
    sendBacks: SendBackPath,
    pulls: PullPath,
    lookUps: LookUpPath,
    queries: QueryPath,
    units: QueueUnitsPath,
    relay: Relay,
    replies: ReplyPath,
  ) {
    this.#desk = desk;
    this.#header = new Header(desk.arena.bytes);
    this.#sends = sends;
    this.#sendBacks = sendBacks;
    this.#pulls = pulls;
    this.#lookUps = lookUps;
    this.#queries = queries;
    this.#units = units;
    this.#relay = relay;
    this.#replies = replies;
  }

  get relay(): Relay {
    return this.#relay;
  }

  /** @param onFault told when a header is no header: the connection is closed. */
  sinkFor(client: ClientConnection, onFault: (fault: string) => void): FrameSink {
    return {
      onFrame: (bytes, headerAt, headerSize, codec, bodyAt, bodySize) => {
        if (client.closed) return true;
        if (!this.#relay.ready) return this.#desk.stall(client);
        const fault = readHeader(bytes, headerAt, headerSize, codec, this.#header);
        if (fault === null && headerSize <= HEADER_SIZE_MAX) return this.#route(client, bytes, headerAt, codec, bodyAt, bodySize);
        if (fault === null) return this.#refuseHeader(client, headerSize);
        onFault(fault);
        return true;
      },
    };
  }

  #route(client: ClientConnection, bytes: Buffer, headerAt: number, _codec: HeaderCodec, bodyAt: number, bodySize: number): boolean {
    const header = this.#header;
    if (header.isResponse) return this.#relay.tryForward(client, bytes.subarray(headerAt - HEADER_AT, bodyAt + bodySize));
    switch (header.code) {
      case RequestCodes.SEND_MESSAGE:
      case RequestCodes.SEND_MESSAGE_V2:
      case RequestCodes.SEND_BATCH_MESSAGE:
        return this.#sends.tryHandle(client, header, bytes, bodyAt, bodySize);
      case RequestCodes.CONSUMER_SEND_MSG_BACK:
        return this.#sendBacks.tryHandle(client, header);
      case RequestCodes.PULL_MESSAGE:
      case RequestCodes.LITE_PULL_MESSAGE:
        if (client.vip) return this.#refuseOnVip(client);
        return this.#isServed(client, 1) ? this.#pulls.tryHandle(client, header) : this.#desk.takeTurns(client);
      case RequestCodes.GET_MAX_OFFSET:
      case RequestCodes.GET_MIN_OFFSET:
      case RequestCodes.SEARCH_OFFSET_BY_TIMESTAMP:
      case RequestCodes.GET_EARLIEST_MSG_STORETIME:
        return this.#lookUps.tryHandle(client, header);
      case RequestCodes.VIEW_MESSAGE_BY_ID:
        return this.#isServed(client, VIEW_WEIGHT) ? this.#queries.onViewById(client, header) : this.#desk.takeTurns(client);
      case RequestCodes.SEND_REPLY_MESSAGE:
      case RequestCodes.SEND_REPLY_MESSAGE_V2:
        return this.#replies.tryHandle(client, header, bytes.subarray(headerAt - HEADER_AT, bodyAt + bodySize), bodySize);
      case RequestCodes.CONSUME_MESSAGE_DIRECTLY:
        return this.#forwardWithRecord(client);
      case RequestCodes.QUERY_MESSAGE:
        return this.#isServed(client, QUERY_WEIGHT) ? this.#queries.tryQuery(client, header) : this.#desk.takeTurns(client);
      case RequestCodes.QUERY_CONSUME_QUEUE:
        return this.#units.handle(client, header);
      default:
        return this.#relay.tryForward(client, bytes.subarray(headerAt - HEADER_AT, bodyAt + bodySize));
    }
  }

  #isServed(client: ClientConnection, weight: number): boolean {
    return client.shareOf(this.#desk.pass, weight) <= SHARE_MAX;
  }

  #refuseHeader(client: ClientConnection, size: number): true {
    const remark = `the request's header is too large size=${size} max=${HEADER_SIZE_MAX} bytes; what is large belongs into the body`;
    if (!this.#header.isResponse) this.#desk.answer(client, this.#header, ResponseCodes.SYSTEM_ERROR, remark);
    return true;
  }

  /** The coordinator does not read the log: the record that the request names goes along as its body. */
  #forwardWithRecord(client: ClientConnection): boolean {
    const header = this.#header;
    const { code, opaque, flag, version, language, codec } = header;
    const seen = header.field('msgId') ?? '';
    const id = decodeOffsetMessageId(seen);
    const record = id === null ? 'it is no such id' : recordAt(this.#desk, id.position);
    if (typeof record === 'string') {
      const remark = `no message has this offset message id msgId=${seen.slice(0, 100)}: ${record}`;
      this.#desk.answer(client, header, ResponseCodes.SYSTEM_ERROR, remark);
      return true;
    }
    const frame = encodeFrame({ code, opaque, flag, version, language, codec, ext: header.fields(), body: record });
    return this.#relay.tryForward(client, frame);
  }

  /** The second port serves no pulls: their waiting must not stand in the way of sends. */
  #refuseOnVip(client: ClientConnection): true {
    const { code } = this.#header;
    this.#desk.answer(client, this.#header, ResponseCodes.REQUEST_CODE_NOT_SUPPORTED, ` request type ${code} not supported`);
    return true;
  }
}
