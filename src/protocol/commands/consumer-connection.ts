// GET_CONSUMER_CONNECTION_LIST (203): who consumes for a group, and what they read.
import { defineExt, type ExtOf, text } from '../ext.ts';

//   request  consumerGroup! s
//   answer   0 with the connections as body; 206 where nobody is there

const request = { consumerGroup: text };
export type ConsumerConnectionRequest = ExtOf<typeof request>;
export const { decode: decodeConsumerConnectionRequest, encode: encodeConsumerConnectionRequest } = defineExt(request);
export type { ClientConnection, ConsumerConnections } from '../bodies/connections.ts';
export { decodeConsumerConnections, encodeConsumerConnections } from '../bodies/connections.ts';
