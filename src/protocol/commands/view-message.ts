// VIEW_MESSAGE_BY_ID (33): the record at a position of the commit log.
import { defineExt, type ExtOf, int64, optional, text } from '../ext.ts';

//   request  offset! i64, a position of the commit log; topic s
//   answer   0 with the record as body

const request = { offset: int64, topic: optional(text) };
export type ViewMessageRequest = ExtOf<typeof request>;
export const { decode: decodeViewMessageRequest, encode: encodeViewMessageRequest } = defineExt(request);
