// GET_MAX_OFFSET (30): the offset that the next message of a queue will get.
import { bool, defineExt, type ExtOf, int32, int64, optional, text } from '../ext.ts';

//   request  topic! s, queueId! i32, committed b
//   answer   offset! i64

const request = { topic: text, queueId: int32, committed: optional(bool) };
export type MaxOffsetRequest = ExtOf<typeof request>;
export const { decode: decodeMaxOffsetRequest, encode: encodeMaxOffsetRequest } = defineExt(request);

const answer = { offset: int64 };
export type MaxOffsetAnswer = ExtOf<typeof answer>;
export const { decode: decodeMaxOffsetAnswer, encode: encodeMaxOffsetAnswer } = defineExt(answer);
