// GET_EARLIEST_MSG_STORETIME (32): when the first message that a queue still has was stored.
import { defineExt, type ExtOf, int32, int64, text } from '../ext.ts';

//   request  topic! s, queueId! i32
//   answer   timestamp! i64, -1 where there is none

const request = { topic: text, queueId: int32 };
export type EarliestStoreTimeRequest = ExtOf<typeof request>;
export const { decode: decodeEarliestStoreTimeRequest, encode: encodeEarliestStoreTimeRequest } = defineExt(request);

const answer = { timestamp: int64 };
export type EarliestStoreTimeAnswer = ExtOf<typeof answer>;
export const { decode: decodeEarliestStoreTimeAnswer, encode: encodeEarliestStoreTimeAnswer } = defineExt(answer);
