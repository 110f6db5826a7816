// GET_TOPIC_CONFIG (351) of one topic, GET_ALL_TOPIC_CONFIG (21) of all, in pages where the tool asks for them.
import { bool, defineExt, type ExtOf, int32, optional, text } from '../ext.ts';

//   351      topic! s, lo b; answer 0 with the topic as body, 17 without one
//   21       topicSeq i32 (the first), maxTopicNum i32, dataVersion s; answer: totalTopicNum! i32, body: the table

const request = { topic: text, lo: optional(bool) };
export type TopicConfigRequest = ExtOf<typeof request>;
export const { decode: decodeTopicConfigRequest, encode: encodeTopicConfigRequest } = defineExt(request);

const allRequest = { topicSeq: optional(int32), maxTopicNum: optional(int32), dataVersion: optional(text) };
export type AllTopicsRequest = ExtOf<typeof allRequest>;
export const { decode: decodeAllTopicsRequest, encode: encodeAllTopicsRequest } = defineExt(allRequest);

const allAnswer = { totalTopicNum: optional(int32) };
export type AllTopicsAnswer = ExtOf<typeof allAnswer>;
export const { decode: decodeAllTopicsAnswer, encode: encodeAllTopicsAnswer } = defineExt(allAnswer);

export type { TopicConfigData, TopicConfigTable } from '../bodies/topic-config.ts';
export { decodeTopicConfig, decodeTopicConfigTable, encodeTopicConfig, encodeTopicConfigTable } from '../bodies/topic-config.ts';
