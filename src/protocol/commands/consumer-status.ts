// GET_CONSUMER_STATUS_FROM_CLIENT (221) to a client, INVOKE_BROKER_TO_GET_CONSUMER_STATUS (223) of tools.
import { defineExt, type ExtOf, optional, text } from '../ext.ts';

//   request  topic! s, group! s, clientAddr s
//   answer   0 with a table of offsets as body

const request = { topic: text, group: text, clientAddr: optional(text) };
export type ConsumerStatusRequest = ExtOf<typeof request>;
export const { decode: decodeConsumerStatusRequest, encode: encodeConsumerStatusRequest } = defineExt(request);
