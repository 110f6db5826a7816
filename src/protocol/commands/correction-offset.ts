// QUERY_CORRECTION_OFFSET (308): how far the slowest group has read each queue of a topic.
import { compactJson } from '../../base/json-writer.ts';
import { defineExt, type ExtOf, optional, text } from '../ext.ts';

//   request  topic! s, compareGroup! s, filterGroups s (names divided by commas that do not count)
//   answer   0 with an offset for each queue as body

const request = { topic: text, compareGroup: text, filterGroups: optional(text) };
export type CorrectionOffsetRequest = ExtOf<typeof request>;
export const { decode: decodeCorrectionOffsetRequest, encode: encodeCorrectionOffsetRequest } = defineExt(request);

export function encodeCorrectionOffsets(offsets: ReadonlyMap<number, number>): Buffer {
  return Buffer.from(compactJson({ correctionOffsets: offsets }));
}
