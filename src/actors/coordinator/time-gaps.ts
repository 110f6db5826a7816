// Store times that only a dispatcher can look up: the body is written with marks in their places, which the ingress fills.
import { assert, present } from '../../base/assert.ts';
import type { TimeAsk, TimedAnswer } from '../answer-messages.ts';
import type { Reply, Request } from './request.ts';

// A mark is a number that no figure of a broker reaches, behind a colon and before a comma or a bracket. Names of topics, groups and
// brokers have neither colons nor commas, so none of them can look like one.
const FIRST_MARK = -9_007_199_254_000_000;
const MARKS = /:-900719925[34]\d{6}(?=[,}])/g;
/** More digits would change above it. */
const GAP_COUNT_MAX = 900_000;

/** Collects what the body of one answer lacks. */
export class TimeGaps {
  readonly asks: TimeAsk[] = [];

  /** @param missing the value where there is no message at the offset (any more). */
  timeOf(queueKey: number, offset: number, missing: number): number {
    return this.#mark([queueKey, offset, missing, 0]);
  }

  /** How long before `nowMs` it was stored. */
  ageOf(queueKey: number, offset: number, missing: number, nowMs: number): number {
    return this.#mark([queueKey, offset, missing, nowMs]);
  }

  #mark(ask: TimeAsk): number {
    assert(this.asks.length < GAP_COUNT_MAX, 'an answer has so many queues at most');
    this.asks.push(ask);
    return FIRST_MARK + this.asks.length;
  }
}

/** The text around the marks, and what belongs between its pieces. */
export function cutAtGaps(body: Uint8Array, asks: readonly TimeAsk[]): { readonly pieces: string[]; readonly asks: TimeAsk[] } {
  const text = Buffer.from(body).toString();
  const pieces: string[] = [];
  const ordered: TimeAsk[] = [];
  let at = 0;
  for (const match of text.matchAll(MARKS)) {
    pieces.push(text.slice(at, match.index + 1));
    ordered.push(present(asks[Number(match[0].slice(1)) - FIRST_MARK - 1], 'the ask of a gap'));
    at = match.index + match[0].length;
  }
  pieces.push(text.slice(at));
  return { pieces, asks: ordered };
}

/** Null where the answer lacks nothing and can go as it is. */
export function timedAnswer({ connectionId, header }: Request, { body, gaps }: Reply): TimedAnswer | null {
  if (gaps === undefined || gaps.length === 0) return null;
  const { opaque, codec } = header;
  return { connectionId, opaque, codec, ...cutAtGaps(present(body, 'the body with the gaps'), gaps) };
}
