// QUERY_CORRECTION_OFFSET (308): per queue of a topic, how far the slowest of its groups has read.
import { javaJson, RawJson } from '../../base/json-writer.ts';
import { defineExt, type ExtOf, optional, text } from '../ext.ts';

//   request  topic! s, compareGroup! s, filterGroups s (separated by commas: these do not count)
//   answer   0 with {"correctionOffsets":{queueId:offset}}; 2^63-1 where the compared group is behind all others

const request = { topic: text, compareGroup: text, filterGroups: optional(text) };
export type CorrectionOffsetRequest = ExtOf<typeof request>;
export const { decode: decodeCorrectionOffsetRequest, encode: encodeCorrectionOffsetRequest } = defineExt(request);

/** Offset of a queue whose slowest reader is the group that asks. */
export const NOTHING_TO_CORRECT = Number.POSITIVE_INFINITY;
const LARGEST = new RawJson('9223372036854775807');

export function encodeCorrectionOffsets(offsets: ReadonlyMap<number, number>): Buffer {
  const rows = [...offsets].map(([queueId, offset]) => [queueId, offset === NOTHING_TO_CORRECT ? LARGEST : offset] as const);
  return Buffer.from(javaJson({ correctionOffsets: new Map<number, unknown>(rows) }));
}
