// PUSH_REPLY_MESSAGE_TO_CLIENT (326): the broker hands a reply to the client that waits for it. Answered with 0 or 1.
import { bool, defineExt, type ExtOf, int32, int64, optional, text } from '../ext.ts';

//   request  as SEND_MESSAGE under its long names, and bornHost! s, storeHost! s (both ip:port), storeTimestamp! i64
//   body     the reply's

const request = {
  producerGroup: text,
  topic: text,
  defaultTopic: text,
  defaultTopicQueueNums: int32,
  queueId: int32,
  sysFlag: int32,
  bornTimestamp: int64,
  flag: int32,
  properties: optional(text),
  reconsumeTimes: optional(int32),
  unitMode: optional(bool),
  bornHost: text,
  storeHost: text,
  storeTimestamp: int64,
};
export type PushReplyRequest = ExtOf<typeof request>;
export const { decode: decodePushReplyRequest, encode: encodePushReplyRequest } = defineExt(request);
