// Which path a frame takes, by its code: the hot ones are served here, everything else is the coordinator's.
import { RequestCodes, ResponseCodes } from '../../protocol/codes.ts';
import type { FrameSink, HeaderCodec } from '../../protocol/frame.ts';
import { HEADER_AT } from '../../protocol/frame.ts';
import { Header, readHeader } from '../../protocol/header.ts';
import type { ClientConnection } from './client-connection.ts';
import type { Desk } from './desk.ts';
import type { LookUpPath } from './look-up-path.ts';
import type { PullPath } from './pull-path.ts';
import type { QueryPath } from './query-path.ts';
import type { QueueUnitsPath } from './queue-units-path.ts';
import type { Relay } from './relay.ts';
import type { SendPath } from './send-path.ts';

export class FrameRouter {
  readonly #desk: Desk;
  readonly #sends: SendPath;
  readonly #pulls: PullPath;
  readonly #lookUps: LookUpPath;
  readonly #queries: QueryPath;
  readonly #units: QueueUnitsPath;
  readonly #relay: Relay;
  readonly #header: Header;

  constructor(desk: Desk, sends: SendPath, pulls: PullPath, lookUps: LookUpPath, queries: QueryPath, units: QueueUnitsPath, relay: Relay) {
    this.#desk = desk;
    this.#header = new Header(desk.arena.bytes);
    this.#sends = sends;
    this.#pulls = pulls;
    this.#lookUps = lookUps;
    this.#queries = queries;
    this.#units = units;
    this.#relay = relay;
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
        if (fault === null) return this.#route(client, bytes, headerAt, codec, bodyAt, bodySize);
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
      case RequestCodes.PULL_MESSAGE:
      case RequestCodes.LITE_PULL_MESSAGE:
        return client.vip ? this.#refuseOnVip(client) : this.#pulls.tryHandle(client, header);
      case RequestCodes.GET_MAX_OFFSET:
      case RequestCodes.GET_MIN_OFFSET:
      case RequestCodes.SEARCH_OFFSET_BY_TIMESTAMP:
      case RequestCodes.GET_EARLIEST_MSG_STORETIME:
        return this.#lookUps.tryHandle(client, header);
      case RequestCodes.VIEW_MESSAGE_BY_ID:
        return this.#queries.onViewById(client, header);
      case RequestCodes.QUERY_MESSAGE:
        return this.#queries.tryQuery(client, header);
      case RequestCodes.QUERY_CONSUME_QUEUE:
        return this.#units.handle(client, header);
      default:
        return this.#relay.tryForward(client, bytes.subarray(headerAt - HEADER_AT, bodyAt + bodySize));
    }
  }

  /** The second port serves no pulls: their waiting must not stand in the way of sends. */
  #refuseOnVip(client: ClientConnection): true {
    const { code } = this.#header;
    this.#desk.answer(client, this.#header, ResponseCodes.REQUEST_CODE_NOT_SUPPORTED, ` request type ${code} not supported`);
    return true;
  }
}
