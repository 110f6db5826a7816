// UNREGISTER_CLIENT (35): a client leaves a group of producers or of consumers.
import { defineExt, type ExtOf, optional, text } from '../ext.ts';

//   request  clientID! s, producerGroup s, consumerGroup s
//   answer   0 without fields

const request = { clientID: text, producerGroup: optional(text), consumerGroup: optional(text) };
export type UnregisterClientRequest = ExtOf<typeof request>;
export const { decode: decodeUnregisterClientRequest, encode: encodeUnregisterClientRequest } = defineExt(request);
