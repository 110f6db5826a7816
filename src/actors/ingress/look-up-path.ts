// Questions about a queue: its ends are known here; what needs its entries is asked of its dispatcher.
import { high32, join64, low32 } from '../../base/bytes.ts';
import { RequestCodes, ResponseCodes } from '../../protocol/codes.ts';
import { encodeFrame, type Header, RESPONSE_FLAG } from '../../protocol/header.ts';
import { BROKER_VERSION } from '../../protocol/versions.ts';
import type { RingReader } from '../../runtime/ring.ts';
import { LookUps, Messages } from '../messages.ts';
import type { ClientConnection } from './client-connection.ts';
import type { Desk } from './desk.ts';
import { decodeLookUp, type LookUpRequest } from './look-up-request.ts';
import { type Ask, askOf, PendingAsks } from './pending-asks.ts';

interface PendingLookUp extends Ask {
  /** Name of the answer's field. */
  readonly field: string;
  /** Takes the value instead: it is part of a larger answer. */
  readonly onValue: ((value: number) => void) | null;
}

export class LookUpPath {
  readonly #desk: Desk;
  /** Questions that no client waits for, by token. */
  readonly #own = new Map<number, (value: number) => void>();
  readonly pending: PendingAsks<PendingLookUp>;

  constructor(desk: Desk, firstToken: number) {
    this.#desk = desk;
    this.pending = new PendingAsks(firstToken);
  }

  tryHandle(client: ClientConnection, header: Header): boolean {
    const decoded = decodeLookUp(header);
    if (!decoded.ok) {
      this.#desk.answer(client, header, ResponseCodes.SYSTEM_ERROR, decoded.fault);
      return true;
    }
    const request = decoded.value;
    const field = header.code === RequestCodes.GET_EARLIEST_MSG_STORETIME ? 'timestamp' : 'offset';
    const key = this.#desk.directory.queueKey(request.topic, request.queueId);
    if (key < 0) {
      // Stock brokers answer a missing queue like an empty one.
      this.#desk.answer(client, header, ResponseCodes.SUCCESS, undefined, { [field]: field === 'timestamp' ? -1 : 0 });
      return true;
    }
    const { queueEnds, queueBegins } = this.#desk.context;
    if (header.code === RequestCodes.GET_MAX_OFFSET) return this.#known(client, header, queueEnds.get(key));
    if (header.code === RequestCodes.GET_MIN_OFFSET) return this.#known(client, header, queueBegins.get(key));
    return this.#tryAsk(client, header, key, request, field);
  }

  #known(client: ClientConnection, header: Header, offset: number): true {
    this.#desk.answer(client, header, ResponseCodes.SUCCESS, undefined, { offset });
    return true;
  }

  #tryAsk(client: ClientConnection, header: Header, key: number, request: LookUpRequest, field: string): boolean {
    const kind =
      field === 'timestamp' ? LookUps.earliestTime : request.boundaryType === 'UPPER' ? LookUps.lastAtOrBefore : LookUps.firstAtOrAfter;
    // Times beyond 2^53 mean "the end of time": any later than all messages is as good.
    const timeMs = Math.max(-1, Math.min(request.timestamp ?? 0, Number.MAX_SAFE_INTEGER));
    return this.#trySend(key, kind, timeMs, { ...askOf(client, header), field, onValue: null }) || this.#desk.stall(client);
  }

  /**
   * One of several values that an answer needs; false while there is no room. Not called back once the connection has closed.
   * @param ask null for an answer that no client waits for.
   */
  tryLookUp(ask: Ask | null, key: number, kind: number, argument: number, onValue: (value: number) => void): boolean {
    if (ask !== null) return this.#trySend(key, kind, argument, { ...ask, field: '', onValue });
    const { nextToken } = this.pending;
    if (!this.#tryWrite(key, kind, argument, nextToken)) return false;
    this.#own.set(this.pending.skipToken(), onValue);
    return true;
  }

  #trySend(key: number, kind: number, argument: number, pending: PendingLookUp): boolean {
    if (!this.#tryWrite(key, kind, argument, this.pending.nextToken)) return false;
    this.pending.add(pending);
    return true;
  }

  #tryWrite(key: number, kind: number, argument: number, token: number): boolean {
    const { ring } = this.#desk.dispatchOf(key);
    const at = ring.claim(20);
    if (at < 0) return false;
    const words = ring.words;
    const word = at >> 2;
    words[word] = token;
    words[word + 1] = key;
    words[word + 2] = kind;
    words[word + 3] = high32(argument);
    words[word + 4] = low32(argument);
    ring.commit(Messages.lookUp);
    return true;
  }

  /** Takes one `lookedUp`. */
  onAnswer(ring: RingReader, at: number): void {
    const word = at >> 2;
    const token = ring.words[word] as number;
    const value = join64(ring.words[word + 1] as number, ring.words[word + 2] as number);
    const pending = this.pending.take(token);
    if (pending === undefined) {
      this.#own.get(token)?.(value);
      this.#own.delete(token);
      return;
    }
    if (pending.onValue !== null) pending.onValue(value);
    if (pending.onValue !== null || pending.oneway) return;
    const { codec, opaque } = pending;
    const ext = { [pending.field]: value };
    this.#desk.send(
      pending.client,
      encodeFrame({ codec, opaque, code: ResponseCodes.SUCCESS, flag: RESPONSE_FLAG, version: BROKER_VERSION, ext }),
    );
  }
}
