// UPDATE_CONSUMER_OFFSET (15): a group has consumed a queue up to here. One-way from Java, answered to others.
import { defineExt, type ExtOf, int32, int64, text } from '../ext.ts';

//   request  consumerGroup! s, topic! s, queueId! i32, commitOffset! i64 (-1: nothing consumed yet, to be ignored)
//   answer   0 without fields

const request = { consumerGroup: text, topic: text, queueId: int32, commitOffset: int64 };
export type UpdateConsumerOffsetRequest = ExtOf<typeof request>;
export const { decode: decodeUpdateConsumerOffsetRequest, encode: encodeUpdateConsumerOffsetRequest } = defineExt(request);
