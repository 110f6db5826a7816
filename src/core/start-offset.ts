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

/** The offset, or NO_OFFSET: the client decides. */
export function startOffset(q: StartQuestion): number {
  if (q.rule === 'apache') return q.begin <= 0 && q.end > 0 ? 0 : NO_OFFSET;
  if (q.end <= 0) return 0;
  if (q.ownRetryTopic) return q.begin;
  if (q.join === undefined) return NO_OFFSET;
  switch (q.join.consumeFromWhere) {
    case 'CONSUME_FROM_FIRST_OFFSET':
      return q.begin;
    case 'CONSUME_FROM_TIMESTAMP':
      return NO_OFFSET;
    default:
      // The deprecated names mean the end to stock clients, too.
      return Math.min(q.end, Math.max(q.begin, q.join.ends[q.queueId] ?? 0));
  }
}
