// Requests of the broker to its clients: sent over the connection that a client has open, and answered, ended with it, or given up.
import { ClientCalls } from '../../core/client-calls.ts';
import { HeaderCodecs } from '../../protocol/frame.ts';
import { type ExtFields, encodeFrame, type Header, ONEWAY_FLAG } from '../../protocol/header.ts';
import { BROKER_VERSION } from '../../protocol/versions.ts';
import type { ActorContext } from '../context.ts';
import { Messages } from '../messages.ts';
import type { Outbox } from '../outbox.ts';
import type { Link } from './links.ts';

/** Calls that wait for an answer at once: more end as busy. */
export const CLIENT_CALL_COUNT_MAX = 10_000;

/** How a call ended. */
export type CallOutcome =
  | {
      readonly kind: 'answered';
      readonly code: number;
      readonly remark: string | undefined;
      readonly ext: ExtFields;
      readonly body: Buffer;
    }
  | { readonly kind: 'timedOut' | 'gone' | 'busy' };

export type OnOutcome = (outcome: CallOutcome) => void;

export class ClientCaller {
  readonly #context: ActorContext;
  readonly #outboxOf: (ingress: number) => Outbox;
  readonly #calls = new ClientCalls<OnOutcome>(CLIENT_CALL_COUNT_MAX);

  constructor(context: ActorContext, outboxOf: (ingress: number) => Outbox) {
    this.#context = context;
    this.#outboxOf = outboxOf;
  }

  get size(): number {
    return this.#calls.size;
  }

  nextMs(): number {
    return this.#calls.nextMs();
  }

  /** Told of the outcome exactly once; at once where there is no room for the call. */
  call(link: Link, code: number, ext: ExtFields, body: Uint8Array | undefined, timeoutMs: number, onOutcome: OnOutcome): void {
    const opaque = this.#calls.open(link.id, this.#context.clock.steadyMs() + timeoutMs, onOutcome);
    if (opaque < 0) onOutcome({ kind: 'busy' });
    else this.#send(link, code, opaque, 0, ext, body);
  }

  /** Not answered. */
  tell(link: Link, code: number, ext: ExtFields, body?: Uint8Array): void {
    this.#send(link, code, this.#calls.nextOpaque(), ONEWAY_FLAG, ext, body);
  }

  /** Answers to nothing, or that come too late, are dropped. */
  onResponse(link: Link, header: Header, body: Buffer): void {
    const { code, remark } = header;
    this.#calls.answered(link.id, header.opaque)?.({ kind: 'answered', code, remark, ext: header.fields(), body });
  }

  linkClosed(link: number): void {
    for (const onOutcome of this.#calls.linkClosed(link)) onOutcome({ kind: 'gone' });
  }

  tick(steadyMs: number): number {
    const expired = this.#calls.takeExpired(steadyMs);
    for (const onOutcome of expired) onOutcome({ kind: 'timedOut' });
    return expired.length;
  }

  /** In JSON, which every client reads. */
  #send(link: Link, code: number, opaque: number, flag: number, ext: ExtFields, body: Uint8Array | undefined): void {
    const frame = encodeFrame({ code, opaque, flag, codec: HeaderCodecs.json, version: BROKER_VERSION, language: 'JAVA', ext, body });
    this.#outboxOf(link.ingress).sendFrame(Messages.answer, link.connectionId, frame);
  }
}
