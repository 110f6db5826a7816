// RECALL_MESSAGE (370): takes back a message that waits for its time.
import { defineExt, type ExtOf, optional, text } from '../ext.ts';

//   request  topic! s, recallHandle! s, producerGroup s
//   answer   msgId! s (its UNIQ_KEY), MSG_REGION s

const request = { topic: text, recallHandle: text, producerGroup: optional(text) };
export type RecallMessageRequest = ExtOf<typeof request>;
export const { decode: decodeRecallMessageRequest, encode: encodeRecallMessageRequest } = defineExt(request);

const answer = { msgId: text, MSG_REGION: optional(text) };
export type RecallMessageAnswer = ExtOf<typeof answer>;
export const { decode: decodeRecallMessageAnswer, encode: encodeRecallMessageAnswer } = defineExt(answer);
