// What a handler of one request gets and gives; it never waits, and what it throws is answered with SYSTEM_ERROR.
import { ResponseCodes } from '../../protocol/codes.ts';
import type { Decoded } from '../../protocol/ext.ts';
import type { ExtFields, Header } from '../../protocol/header.ts';
import type { KvConfig } from '../kv-config.ts';
import type { OwnSettings } from '../own-settings.ts';
import type { RouteTable } from '../route-table.ts';

export interface NameState {
  readonly routes: RouteTable;
  readonly kv: KvConfig;
  readonly settings: OwnSettings;
  /** Port that the server listens on. */
  readonly port: number;
  /** Shortly after the start, before any broker has registered. */
  isWarmingUp(): boolean;
}

export interface NameRequest {
  readonly header: Header;
  /** Valid during the call only; empty where there was none. */
  readonly body: Buffer;
  readonly connectionId: number;
  readonly steadyMs: number;
}

export interface Answer {
  readonly code: number;
  readonly remark?: string | undefined;
  readonly ext?: ExtFields | undefined;
  readonly body?: Buffer | undefined;
}

export type Handler = (request: NameRequest, state: NameState) => Answer;

/** Handlers by request code. */
export type HandlerTable = Readonly<Record<number, Handler>>;

export const success: Answer = { code: ResponseCodes.SUCCESS };

export function refused(remark: string): Answer {
  return { code: ResponseCodes.SYSTEM_ERROR, remark };
}

/** A handler that starts from its decoded fields; wrong ones are refused before it is called. */
export function withFields<T>(
  codec: { decode(header: Header): Decoded<T> },
  handle: (fields: T, request: NameRequest, state: NameState) => Answer,
): Handler {
  return (request, state) => {
    const fields = codec.decode(request.header);
    return fields.ok ? handle(fields.value, request, state) : refused(fields.fault);
  };
}
