// The four requests about a queue (29, 30, 31, 32), read into one form.
import { RequestCodes } from '../../protocol/codes.ts';
import { fieldFault, int32, int32Of, int64, int64Of } from '../../protocol/ext.ts';
import type { Header } from '../../protocol/header.ts';

export interface LookUpRequest {
  readonly topic: string;
  readonly queueId: number;
  readonly timeMs: number;
  /** The last message at or before the time instead of the first at or after it. */
  readonly upper: boolean;
}

/** A text is the fault to answer. */
export function readLookUpRequest(header: Header): LookUpRequest | string {
  const topic = header.field('topic') ?? '';
  if (topic === '') return fieldFault(header, 'topic', 'text');
  const queueId = int32Of(header, 'queueId');
  if (Number.isNaN(queueId)) return fieldFault(header, 'queueId', int32.allowed);
  if (header.code !== RequestCodes.SEARCH_OFFSET_BY_TIMESTAMP) return { topic, queueId, timeMs: 0, upper: false };
  const timeMs = int64Of(header, 'timestamp');
  if (Number.isNaN(timeMs)) return fieldFault(header, 'timestamp', int64.allowed);
  const boundary = header.field('boundaryType');
  // Times beyond 2^53 mean "the end of time": any later than all messages is as good.
  return { topic, queueId, timeMs: Math.max(-1, Math.min(timeMs, Number.MAX_SAFE_INTEGER)), upper: boundary?.toUpperCase() === 'UPPER' };
}
