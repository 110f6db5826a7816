// CHECK_TRANSACTION_STATE (39): the broker asks a producer about a half message. One-way; END_TRANSACTION answers.
import { defineExt, type ExtOf, int64, optional, text } from '../ext.ts';

//   request  topic s (the half topic), tranStateTableOffset! i64, commitLogOffset! i64, msgId s, transactionId s, offsetMsgId s, bname s
//   body     the half record with its real topic and queue

const request = {
  topic: optional(text),
  tranStateTableOffset: int64,
  commitLogOffset: int64,
  msgId: optional(text),
  transactionId: optional(text),
  offsetMsgId: optional(text),
  bname: optional(text),
};
export type CheckTransactionRequest = ExtOf<typeof request>;
export const { decode: decodeCheckTransactionRequest, encode: encodeCheckTransactionRequest } = defineExt(request);
