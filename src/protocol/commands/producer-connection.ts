// GET_PRODUCER_CONNECTION_LIST (204): who produces for a group.
import { defineExt, type ExtOf, text } from '../ext.ts';

//   request  producerGroup! s
//   answer   0 with the connections as body; 1 where nobody is there

const request = { producerGroup: text };
export type ProducerConnectionRequest = ExtOf<typeof request>;
export const { decode: decodeProducerConnectionRequest, encode: encodeProducerConnectionRequest } = defineExt(request);
export { type ClientConnection, decodeProducerConnections, encodeProducerConnections } from '../bodies/connections.ts';
