// GET_CONSUMER_RUNNING_INFO (307): a tool asks a consumer through the broker.
import { bool, defineExt, type ExtOf, optional, text } from '../ext.ts';

//   request  consumerGroup! s, clientId! s, jstackEnable b
//   answer   the consumer's, as it is; 206 offline, 207 too slow

const request = { consumerGroup: text, clientId: text, jstackEnable: optional(bool) };
export type ConsumerRunningInfoRequest = ExtOf<typeof request>;
export const { decode: decodeConsumerRunningInfoRequest, encode: encodeConsumerRunningInfoRequest } = defineExt(request);
