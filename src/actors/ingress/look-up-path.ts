// Questions about a queue: its ends are known here; what needs its entries is asked of its dispatcher.
import { high32, join64, low32 } from '../../base/bytes.ts';
import { RequestCodes, ResponseCodes } from '../../protocol/codes.ts';
import { encodeFrame, type Header, RESPONSE_FLAG } from '../../protocol/header.ts';
import { BROKER_VERSION } from '../../protocol/versions.ts';
import type { RingReader } from '../../runtime/ring.ts';
import { LookUps, type LookUpsAsked, Messages } from '../messages.ts';
import type { ClientConnection } from './client-connection.ts';
import type { Desk } from './desk.ts';
import { decodeLookUp, type LookUpRequest } from './look-up-request.ts';
import { type Ask, askOf, PendingAsks } from './pending-asks.ts';

interface PendingLookUp extends Ask {
  /** Name of the answer's field. */
  readonly field: string;
}

/** The coordinator's questions, and which of their values are known. */
interface AskedTogether {
  readonly token: number;
  readonly values: number[];
  missing: number;
}

export class LookUpPath {
  readonly #desk: Desk;
  readonly #ofCoordinator = new Map<number, { readonly asked: AskedTogether; readonly index: number }>();
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
    const { ring } = this.#desk.dispatchOf(key);
    const at = ring.claim(20);
    if (at < 0) return this.#desk.stall(client);
    const kind =
      field === 'timestamp' ? LookUps.earliestTime : request.boundaryType === 'UPPER' ? LookUps.lastAtOrBefore : LookUps.firstAtOrAfter;
    // Times beyond 2^53 mean "the end of time": any later than all messages is as good.
    const timeMs = Math.max(-1, Math.min(request.timestamp ?? 0, Number.MAX_SAFE_INTEGER));
    const words = ring.words;
    const word = at >> 2;
    words[word] = this.pending.nextToken;
    words[word + 1] = key;
    words[word + 2] = kind;
    words[word + 3] = high32(timeMs);
    words[word + 4] = low32(timeMs);
    ring.commit(Messages.lookUp);
    this.pending.add({ ...askOf(client, header), field });
    return true;
  }

  /** Questions of the coordinator, which has no ring to the dispatchers' answers: all values go back together. */
  onLookUps({ token, lookUps }: LookUpsAsked): void {
    const asked: AskedTogether = { token, values: new Array<number>(lookUps.length).fill(-1), missing: lookUps.length };
    lookUps.forEach(({ key, kind, argument }, index) => {
      const own = this.pending.skipToken();
      this.#ofCoordinator.set(own, { asked, index });
      this.#desk.dispatchOf(key).send(Messages.lookUp, [own, key, kind, high32(argument), low32(argument)]);
    });
    if (lookUps.length === 0) this.#desk.coordinator.sendJson(Messages.lookUpsAnswered, { token, values: [] });
  }

  #onCoordinators(token: number, value: number): void {
    const question = this.#ofCoordinator.get(token);
    if (question === undefined) return;
    this.#ofCoordinator.delete(token);
    const { asked, index } = question;
    asked.values[index] = value;
    if (--asked.missing === 0) this.#desk.coordinator.sendJson(Messages.lookUpsAnswered, { token: asked.token, values: asked.values });
  }

  /** Takes one `lookedUp`. */
  onAnswer(ring: RingReader, at: number): void {
    const word = at >> 2;
    const token = ring.words[word] as number;
    const value = join64(ring.words[word + 1] as number, ring.words[word + 2] as number);
    const pending = this.pending.take(token);
    if (pending === undefined) this.#onCoordinators(token, value);
    if (pending === undefined || pending.oneway) return;
    const { codec, opaque } = pending;
    const ext = { [pending.field]: value };
    this.#desk.send(
      pending.client,
      encodeFrame({ codec, opaque, code: ResponseCodes.SUCCESS, flag: RESPONSE_FLAG, version: BROKER_VERSION, ext }),
    );
  }
}
