// QUERY_CONSUME_QUEUE (321): the units of a queue as they lie, for tools.
import { defineExt, type ExtOf, int32, int64, optional, text } from '../ext.ts';

//   request  topic! s, queueId! i32, index! i64, count! i32, consumerGroup s
//   answer   0 with the units as body, and a remark where the queue has none from `index` on; 1 without the queue

const request = { topic: text, queueId: int32, index: int64, count: int32, consumerGroup: optional(text) };
export type QueryConsumeQueueRequest = ExtOf<typeof request>;
export const { decode: decodeQueryConsumeQueueRequest, encode: encodeQueryConsumeQueueRequest } = defineExt(request);
export { encodeQueueUnits, type QueueUnits, type ShownUnit } from '../bodies/queue-units.ts';
