// GET_CONSUME_STATS (208): how far a group has consumed each queue.
import { defineExt, type ExtOf, optional, text } from '../ext.ts';

//   request  consumerGroup! s, topic s (all topics of the group where absent), topicList s
//   answer   0 with a table of queues as body, empty for what is unknown

const request = { consumerGroup: text, topic: optional(text), topicList: optional(text) };
export type ConsumeStatsRequest = ExtOf<typeof request>;
export const { decode: decodeConsumeStatsRequest, encode: encodeConsumeStatsRequest } = defineExt(request);
export { type ConsumeOffset, type ConsumeStats, decodeConsumeStats, encodeConsumeStats } from '../bodies/queue-stats.ts';
