// NOTIFY_CONSUMER_IDS_CHANGED (40): the broker tells members that their group changed. One-way.
import { defineExt, type ExtOf, text } from '../ext.ts';

//   request  consumerGroup! s

const request = { consumerGroup: text };
export type ConsumerIdsChangedRequest = ExtOf<typeof request>;
export const { decode: decodeConsumerIdsChangedRequest, encode: encodeConsumerIdsChangedRequest } = defineExt(request);
