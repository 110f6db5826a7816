// The bodies that answer questions about groups: a list of names, and what one group reads of one topic.
import { compactJson } from '../../base/json-writer.ts';
import type { Decoded } from '../ext.ts';
import { isObject, parseBody, textListOf } from './json-body.ts';
import { type SubscriptionData, subscriptionDataJson } from './subscription-data.ts';

export function encodeGroupList(groups: readonly string[]): Buffer {
  return Buffer.from(compactJson({ groupList: groups }));
}

export function decodeGroupList(body: Uint8Array): Decoded<string[]> {
  const parsed = parseBody(body);
  if (!parsed.ok) return parsed;
  if (!isObject(parsed.value)) return { ok: false, fault: 'body is not a list of groups' };
  return { ok: true, value: textListOf(parsed.value, 'groupList') };
}

/** `subscriptionData` is left out where the group does not read the topic. */
export function encodeGroupSubscription(group: string, topic: string, subscription: SubscriptionData | undefined): Buffer {
  const subscriptionData = subscription === undefined ? undefined : subscriptionDataJson(subscription);
  return Buffer.from(compactJson({ group, subscriptionData, topic }));
}
