// END_TRANSACTION (37): a producer decides about its half message. One-way from Java, also when undecided.
import { bool, defineExt, type ExtOf, int32, int64, optional, text } from '../ext.ts';

//   request  producerGroup! s, tranStateTableOffset! i64 (in the half queue), commitLogOffset! i64 (position of the half record),
//            commitOrRollback! i32 (0 unknown, 8 commit, 12 rollback), fromTransactionCheck b, msgId! s, transactionId s, topic s
//   answer   none for 0 and for values that mean nothing; else 0 without fields

export const TransactionEnds = { unknown: 0, commit: 8, rollback: 12 } as const;

const request = {
  producerGroup: text,
  tranStateTableOffset: int64,
  commitLogOffset: int64,
  commitOrRollback: int32,
  fromTransactionCheck: optional(bool),
  msgId: text,
  transactionId: optional(text),
  topic: optional(text),
};
export type EndTransactionRequest = ExtOf<typeof request>;
export const { decode: decodeEndTransactionRequest, encode: encodeEndTransactionRequest } = defineExt(request);
