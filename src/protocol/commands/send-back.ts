// CONSUMER_SEND_MSG_BACK (36): a consumer failed and wants the message again later.
import { bool, defineExt, type ExtOf, int32, int64, optional, text } from '../ext.ts';

//   request  offset! i64 (position of the record in the commit log), group! s, delayLevel! i32 (0: broker chooses, <0: dead letter),
//            originMsgId s, originTopic s, unitMode b, maxReconsumeTimes i32 (counts from version 121 on)
//   answer   0 without fields

const request = {
  offset: int64,
  group: text,
  delayLevel: int32,
  originMsgId: optional(text),
  originTopic: optional(text),
  unitMode: optional(bool),
  maxReconsumeTimes: optional(int32),
};
export type SendBackRequest = ExtOf<typeof request>;
export const { decode: decodeSendBackRequest, encode: encodeSendBackRequest } = defineExt(request);
