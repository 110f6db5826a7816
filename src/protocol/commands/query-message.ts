// QUERY_MESSAGE (12): messages of a topic by key, or by unique key.
import { bool, defineExt, type ExtOf, int32, int64, optional, text } from '../ext.ts';

//   request  topic! s, key! s, maxNum! i32, beginTimestamp! i64, endTimestamp! i64, _UNIQUE_KEY_QUERY b, indexType s (T: key is a tag; else K or U)
//   answer   0 or 22: indexLastUpdateTimestamp! i64, indexLastUpdatePhyoffset! i64; body: records

const request = {
  topic: text,
  key: text,
  maxNum: int32,
  beginTimestamp: int64,
  endTimestamp: int64,
  _UNIQUE_KEY_QUERY: optional(bool),
  indexType: optional(text),
};
export type QueryMessageRequest = ExtOf<typeof request>;
export const { decode: decodeQueryMessageRequest, encode: encodeQueryMessageRequest } = defineExt(request);

const answer = { indexLastUpdateTimestamp: int64, indexLastUpdatePhyoffset: int64 };
export type QueryMessageAnswer = ExtOf<typeof answer>;
export const { decode: decodeQueryMessageAnswer, encode: encodeQueryMessageAnswer } = defineExt(answer);
