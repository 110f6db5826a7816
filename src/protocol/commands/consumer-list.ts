// GET_CONSUMER_LIST_BY_GROUP (38): the ids of a group's members, from which each member computes its share of the queues.
import { defineExt, type ExtOf, text } from '../ext.ts';

//   request  consumerGroup! s
//   answer   0 with `{"consumerIdList":[…]}` as body; 1 only where there is no member at all

const request = { consumerGroup: text };
export type ConsumerListRequest = ExtOf<typeof request>;
export const { decode: decodeConsumerListRequest, encode: encodeConsumerListRequest } = defineExt(request);
export { decodeConsumerIds, encodeConsumerIds } from '../bodies/consumer-ids.ts';
