// ACK_MESSAGE (200051), CHANGE_MESSAGE_INVISIBLETIME (200053) and BATCH_ACK_MESSAGE (200151): what became of popped messages.
import { bool, defineExt, type ExtOf, int32, int64, optional, text } from '../ext.ts';

//   200051   consumerGroup! s, topic! s (the popped one, which may be a retry topic), queueId! i32, extraInfo! s, offset! i64
//   200053   the same, invisibleTime! i64, suspend b; answer: popTime! i64, invisibleTime! i64, reviveQid! i32
//   200151   no fields; body: acks, a bit per offset

const ack = { consumerGroup: text, topic: text, queueId: int32, extraInfo: text, offset: int64 };
export type AckMessageRequest = ExtOf<typeof ack>;
export const { decode: decodeAckMessageRequest, encode: encodeAckMessageRequest } = defineExt(ack);

const change = { ...ack, invisibleTime: int64, suspend: optional(bool) };
export type ChangeInvisibleTimeRequest = ExtOf<typeof change>;
export const { decode: decodeChangeInvisibleTimeRequest, encode: encodeChangeInvisibleTimeRequest } = defineExt(change);

const changed = { popTime: int64, invisibleTime: int64, reviveQid: int32 };
export type ChangeInvisibleTimeAnswer = ExtOf<typeof changed>;
export const { decode: decodeChangeInvisibleTimeAnswer, encode: encodeChangeInvisibleTimeAnswer } = defineExt(changed);

export { type BatchAck, decodeBatchAck, encodeBatchAck } from '../bodies/batch-ack.ts';
