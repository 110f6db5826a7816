// SEARCH_OFFSET_BY_TIMESTAMP (29): the offset at a time of storing.
import { defineExt, type ExtOf, int32, int64, oneOf, optional, text } from '../ext.ts';

//   request  topic! s, queueId! i32, timestamp! i64, boundaryType LOWER|UPPER in any case
//   answer   offset! i64

const request = { topic: text, queueId: int32, timestamp: int64, boundaryType: optional(oneOf('LOWER', 'UPPER')) };
export type SearchOffsetRequest = ExtOf<typeof request>;
export const { decode: decodeSearchOffsetRequest, encode: encodeSearchOffsetRequest } = defineExt(request);

const answer = { offset: int64 };
export type SearchOffsetAnswer = ExtOf<typeof answer>;
export const { decode: decodeSearchOffsetAnswer, encode: encodeSearchOffsetAnswer } = defineExt(answer);
