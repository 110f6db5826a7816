// Decides where a group without a committed offset starts to read a queue.
import type { Join } from './join-table.ts';
import { NO_OFFSET } from './offset-table.ts';

export interface StartQuestion {
  readonly queueId: number;
  /** Offset of the first message that is still there, and of the next to be written. */
  readonly begin: number;
  readonly end: number;
  /** Undefined: the group never sent a heartbeat with this topic. */
  readonly join: Join | undefined;
  /** The queue belongs to the group's own retry topic. */
  readonly ownRetryTopic: boolean;
  readonly rule: 'ringmq' | 'apache';
}

/** Noted for members that pull by themselves: what their heartbeats say of the start is a constant of the client, not its setting. */
export const CLIENT_DECIDES = 'CLIENT_DECIDES';

/** The offset, or NO_OFFSET: the client decides. */
export function startOffset(q: StartQuestion): number {
  const youngQueue = q.begin <= 0 && q.end > 0 ? 0 : NO_OFFSET;
  if (q.rule === 'apache') return youngQueue;
  if (q.end <= 0) return 0;
  if (q.ownRetryTopic) return q.begin;
  // Who asks without ever having been a member gets what stock brokers answer: nothing is skipped by it.
  if (q.join === undefined) return youngQueue;
  switch (q.join.consumeFromWhere) {
    case 'CONSUME_FROM_FIRST_OFFSET':
      return q.begin;
    case 'CONSUME_FROM_TIMESTAMP':
      return NO_OFFSET;
    case CLIENT_DECIDES:
      // Where all that is there came after the joining, first and last mean the same; a client left to itself would take the end of
      // now for the last, and skip what was sent since it started.
      return (q.join.ends[q.queueId] ?? 0) <= q.begin ? q.begin : NO_OFFSET;
    default:
      // The deprecated names mean the end to stock clients, too.
      return Math.min(q.end, Math.max(q.begin, q.join.ends[q.queueId] ?? 0));
  }
}
