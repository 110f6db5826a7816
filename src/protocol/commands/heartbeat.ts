// HEART_BEAT (34): a client says every 30 s who it is; the broker keeps it as long as that goes on.
import { bool, defineExt, type ExtOf, optional } from '../ext.ts';

//   request  no fields; body: HeartbeatData
//   answer   IS_SUPPORT_HEART_BEAT_V2 b: short heartbeats (withoutSub) are understood; IS_SUB_CHANGE b: the next one must be whole.
//            The answer's `version` decides whether clients dare to use SQL expressions.

const answer = { IS_SUPPORT_HEART_BEAT_V2: optional(bool), IS_SUB_CHANGE: optional(bool) };
export type HeartbeatAnswer = ExtOf<typeof answer>;
export const { decode: decodeHeartbeatAnswer, encode: encodeHeartbeatAnswer } = defineExt(answer);
export type { ConsumerData, HeartbeatData } from '../bodies/heartbeat.ts';
export { decodeHeartbeat, encodeHeartbeat } from '../bodies/heartbeat.ts';
