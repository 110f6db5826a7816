// What tools ask about groups: who reads a topic (300), what a group reads (343), and with which expression (345).
import { defineExt, type ExtOf, text } from '../ext.ts';

//   300      topic! s; answer 0 with the names of groups as body
//   343      group! s; answer 0 with a topic list as body
//   345      group! s, topic! s; answer 0 with the subscription as body, left out where there is none

const topicRequest = { topic: text };
export type WhoConsumesRequest = ExtOf<typeof topicRequest>;
export const { decode: decodeWhoConsumesRequest, encode: encodeWhoConsumesRequest } = defineExt(topicRequest);

const groupRequest = { group: text };
export type TopicsOfGroupRequest = ExtOf<typeof groupRequest>;
export const { decode: decodeTopicsOfGroupRequest, encode: encodeTopicsOfGroupRequest } = defineExt(groupRequest);

const bothRequest = { group: text, topic: text };
export type SubscriptionOfGroupRequest = ExtOf<typeof bothRequest>;
export const { decode: decodeSubscriptionOfGroupRequest, encode: encodeSubscriptionOfGroupRequest } = defineExt(bothRequest);

export { decodeGroupList, encodeGroupList, encodeGroupSubscription } from '../bodies/group-queries.ts';
