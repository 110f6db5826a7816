// QUERY_CONSUMER_OFFSET (14): where a group goes on in a queue.
import { bool, defineExt, type ExtOf, int32, int64, optional, text } from '../ext.ts';

//   request  consumerGroup! s, topic! s, queueId! i32, setZeroIfNotFound b (absent counts as true)
//   answer   0: offset! i64; 22 where there is none: the client then decides, and any other code stops it

const request = { consumerGroup: text, topic: text, queueId: int32, setZeroIfNotFound: optional(bool) };
export type QueryConsumerOffsetRequest = ExtOf<typeof request>;
export const { decode: decodeQueryConsumerOffsetRequest, encode: encodeQueryConsumerOffsetRequest } = defineExt(request);

const answer = { offset: int64 };
export type QueryConsumerOffsetAnswer = ExtOf<typeof answer>;
export const { decode: decodeQueryConsumerOffsetAnswer, encode: encodeQueryConsumerOffsetAnswer } = defineExt(answer);
