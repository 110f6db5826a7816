// QUERY_CONSUME_TIME_SPAN (303): from when to when the messages of each queue are, and up to when a group has read them.
import { defineExt, type ExtOf, text } from '../ext.ts';

//   request  topic! s, group! s
//   answer   0 with a list of queues as body; 17 without the topic

const request = { topic: text, group: text };
export type TimeSpanRequest = ExtOf<typeof request>;
export const { decode: decodeTimeSpanRequest, encode: encodeTimeSpanRequest } = defineExt(request);
export { encodeTimeSpans, type QueueTimeSpan } from '../bodies/time-spans.ts';
