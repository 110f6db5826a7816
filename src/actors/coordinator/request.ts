// A request as handlers see it, and the replies that they give.

import { readI32 } from '../../base/bytes.ts';
import { ResponseCodes } from '../../protocol/codes.ts';
import type { Decoded } from '../../protocol/ext.ts';
import { CODEC_AT, HEADER_AT, type HeaderCodec } from '../../protocol/frame.ts';
import { type ExtFields, Header, readHeader } from '../../protocol/header.ts';
import type { Desk } from './desk.ts';
import type { Link } from './links.ts';

export interface Request {
  readonly header: Header;
  readonly body: Buffer;
  readonly ingress: number;
  readonly connectionId: number;
  /** Undefined once the connection is closed: the request then changes nothing that lives on a connection. */
  readonly link: Link | undefined;
}

export interface Reply {
  readonly code: number;
  readonly remark?: string | undefined;
  readonly ext?: ExtFields | undefined;
  readonly body?: Uint8Array | undefined;
  /** Held back until the name servers know of the change, for a short time at most: tools ask them for the route at once. */
  readonly afterRegistration?: boolean;
}

/** The handler answers later, by `desk.answerLater`: it waits for a client or for another actor. */
export const LATER = 'later';

export type Handler = (desk: Desk, request: Request) => Reply | typeof LATER;
export type HandlerRow = readonly [code: number, handler: Handler];

export const done: Reply = { code: ResponseCodes.SUCCESS };

export function withBody(body: Uint8Array, ext?: ExtFields): Reply {
  return { code: ResponseCodes.SUCCESS, body, ext };
}

export function refuse(code: number, remark: string): Reply {
  return { code, remark };
}

/** A field or a body that is absent or makes no sense; the fault names it. */
export function badRequest(fault: string): Reply {
  return { code: ResponseCodes.SYSTEM_ERROR, remark: fault };
}

/** Turns a handler of decoded fields into one of requests. */
export function decoding<T>(
  decode: (header: Header) => Decoded<T>,
  handle: (desk: Desk, value: T, request: Request) => Reply | typeof LATER,
): Handler {
  return (desk, request) => {
    const decoded = decode(request.header);
    return decoded.ok ? handle(desk, decoded.value, request) : badRequest(decoded.fault);
  };
}

/** Reads a whole frame, length word included; a text is the fault. The frame's bytes are the request's from now on. */
export function readFrame(frame: Buffer): { header: Header; body: Buffer } | string {
  const word = readI32(frame, CODEC_AT);
  const headerSize = word & 0xff_ffff;
  const header = new Header();
  const fault = readHeader(frame, HEADER_AT, headerSize, (word >>> 24) as HeaderCodec, header);
  return fault ?? { header, body: frame.subarray(HEADER_AT + headerSize) };
}
