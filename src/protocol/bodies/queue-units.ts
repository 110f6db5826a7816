// The body that shows units of a consume queue.
import { compactJson } from '../../base/json-writer.ts';
import { type SubscriptionData, subscriptionDataJson } from './subscription-data.ts';

export interface ShownUnit {
  readonly physicOffset: number;
  readonly physicSize: number;
  readonly tagsCode: number;
  /** Whether the group's subscription takes it; undefined where no group was asked about. */
  readonly eval?: boolean | undefined;
}

export interface QueueUnits {
  readonly subscriptionData?: SubscriptionData | undefined;
  /** Why there is no subscription. */
  readonly filterData?: string | undefined;
  readonly units: readonly ShownUnit[];
  readonly minQueueIndex: number;
  /** Offset of the next message. */
  readonly maxQueueIndex: number;
}

export function encodeQueueUnits(answer: QueueUnits): Buffer {
  const { subscriptionData, filterData, units, minQueueIndex, maxQueueIndex } = answer;
  const queueData = units.map((unit) => ({
    eval: unit.eval ?? false,
    physicOffset: unit.physicOffset,
    physicSize: unit.physicSize,
    tagsCode: unit.tagsCode,
  }));
  const subscription = subscriptionData === undefined ? undefined : subscriptionDataJson(subscriptionData);
  return Buffer.from(compactJson({ filterData, maxQueueIndex, minQueueIndex, queueData, subscriptionData: subscription }));
}
