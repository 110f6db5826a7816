// DELETE_TOPIC_IN_BROKER (215), and DELETE_TOPIC_IN_NAMESRV (216): a topic is no more.
import { defineExt, type ExtOf, optional, text } from '../ext.ts';

//   request  topic! s, clusterName s (only 216)
//   answer   0 without fields, also for a topic that is unknown

const request = { topic: text, clusterName: optional(text) };
export type DeleteTopicRequest = ExtOf<typeof request>;
export const { decode: decodeDeleteTopicRequest, encode: encodeDeleteTopicRequest } = defineExt(request);
