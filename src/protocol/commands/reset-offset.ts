// INVOKE_BROKER_TO_RESET_OFFSET (222) of tools, and RESET_CONSUMER_CLIENT_OFFSET (220), which the broker may send on.
import { bool, defineExt, type ExtOf, int32, int64, optional, text } from '../ext.ts';

//   222      topic! s, group! s, timestamp! i64 (<0: the end), isForce! b, queueId i32 (-1: all), offset i64 (only with a queue)
//   answer   0 with a table of offsets as body
//   220      topic! s, group! s, timestamp! i64, isForce! b, queueId i32; body: a table of offsets. One-way

const request = {
  topic: text,
  group: text,
  timestamp: int64,
  isForce: bool,
  queueId: optional(int32),
  offset: optional(int64),
};
export type ResetOffsetRequest = ExtOf<typeof request>;
export const { decode: decodeResetOffsetRequest, encode: encodeResetOffsetRequest } = defineExt(request);
