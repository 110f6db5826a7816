// GET_TOPIC_STATS_INFO (202): how far each queue of a topic reaches.
import { defineExt, type ExtOf, text } from '../ext.ts';

//   request  topic! s
//   answer   0 with a table of queues as body; 17 without the topic

const request = { topic: text };
export type TopicStatsRequest = ExtOf<typeof request>;
export const { decode: decodeTopicStatsRequest, encode: encodeTopicStatsRequest } = defineExt(request);
export { decodeTopicStats, encodeTopicStats, type TopicOffset, type TopicStats } from '../bodies/queue-stats.ts';
