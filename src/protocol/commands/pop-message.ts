// POP_MESSAGE (200050), PEEK_MESSAGE (200052), NOTIFICATION (200054) and POLLING_INFO (200055): messages without owning a queue.
import { bool, defineExt, type ExtOf, int32, int64, optional, text } from '../ext.ts';

//   200050   consumerGroup! s, topic! s, queueId! i32 (-1: any), maxMsgNums! i32, invisibleTime! i64, pollTime! i64, bornTime i64 (0: now),
//            initMode! i32 (0 from the first, 1 from the last), expType s, exp s, order b, attemptId s
//   answer   popTime! i64, invisibleTime! i64, reviveQid! i32, restNum! i64, startOffsetInfo s, msgOffsetInfo s, orderCountInfo s
//   200052   topic! s, queueId! i32, maxMsgNums! i32, consumerGroup! s; answered in the same way
//   200054   consumerGroup! s, topic! s, queueId! i32, pollTime! i64, bornTime! i64, order b, attemptId s, maxMsgNums i32; answer: hasMsg! b, pollingFull b
//   200055   consumerGroup! s, topic! s, queueId! i32; answer: pollingNum! i32

const request = {
  consumerGroup: text,
  topic: text,
  queueId: int32,
  maxMsgNums: int32,
  invisibleTime: int64,
  pollTime: int64,
  bornTime: optional(int64),
  initMode: int32,
  expType: optional(text),
  exp: optional(text),
  order: optional(bool),
  attemptId: optional(text),
};
export type PopMessageRequest = ExtOf<typeof request>;
export const { decode: decodePopMessageRequest, encode: encodePopMessageRequest } = defineExt(request);

const answer = {
  popTime: int64,
  invisibleTime: int64,
  reviveQid: int32,
  restNum: int64,
  startOffsetInfo: optional(text),
  msgOffsetInfo: optional(text),
  orderCountInfo: optional(text),
};
export type PopMessageAnswer = ExtOf<typeof answer>;
export const { decode: decodePopMessageAnswer, encode: encodePopMessageAnswer } = defineExt(answer);

const peek = { topic: text, queueId: int32, maxMsgNums: int32, consumerGroup: text };
export type PeekMessageRequest = ExtOf<typeof peek>;
export const { decode: decodePeekMessageRequest, encode: encodePeekMessageRequest } = defineExt(peek);

const notification = {
  consumerGroup: text,
  topic: text,
  queueId: int32,
  pollTime: int64,
  bornTime: int64,
  order: optional(bool),
  attemptId: optional(text),
  maxMsgNums: optional(int32),
};
export type NotificationRequest = ExtOf<typeof notification>;
export const { decode: decodeNotificationRequest, encode: encodeNotificationRequest } = defineExt(notification);

const notified = { hasMsg: bool, pollingFull: optional(bool) };
export type NotificationAnswer = ExtOf<typeof notified>;
export const { decode: decodeNotificationAnswer, encode: encodeNotificationAnswer } = defineExt(notified);

const polling = { consumerGroup: text, topic: text, queueId: int32 };
export type PollingInfoRequest = ExtOf<typeof polling>;
export const { decode: decodePollingInfoRequest, encode: encodePollingInfoRequest } = defineExt(polling);
