// CONSUME_MESSAGE_DIRECTLY (309): a tool lets one consumer consume one message, through the broker.
import { defineExt, type ExtOf, int32, optional, text } from '../ext.ts';

//   request  consumerGroup! s, clientId s, msgId s (offset id), brokerName s, topic s, topicSysFlag i32, groupSysFlag i32
//   body     to the consumer: the stored record

const request = {
  consumerGroup: text,
  clientId: optional(text),
  msgId: optional(text),
  brokerName: optional(text),
  topic: optional(text),
  topicSysFlag: optional(int32),
  groupSysFlag: optional(int32),
};
export type ConsumeDirectlyRequest = ExtOf<typeof request>;
export const { decode: decodeConsumeDirectlyRequest, encode: encodeConsumeDirectlyRequest } = defineExt(request);
