// GET_MIN_OFFSET (31): the offset of the first message that a queue still has.
import { defineExt, type ExtOf, int32, int64, text } from '../ext.ts';

//   request  topic! s, queueId! i32
//   answer   offset! i64

const request = { topic: text, queueId: int32 };
export type MinOffsetRequest = ExtOf<typeof request>;
export const { decode: decodeMinOffsetRequest, encode: encodeMinOffsetRequest } = defineExt(request);

const answer = { offset: int64 };
export type MinOffsetAnswer = ExtOf<typeof answer>;
export const { decode: decodeMinOffsetAnswer, encode: encodeMinOffsetAnswer } = defineExt(answer);
