// The body with which a client asks whether the broker takes its expression.
import { compactJson } from '../../base/json-writer.ts';
import type { Decoded } from '../ext.ts';
import { member, parseBody, textOf } from './json-body.ts';
import { type SubscriptionData, subscriptionDataJson, subscriptionDataOf } from './subscription-data.ts';

export interface CheckClient {
  readonly clientId: string;
  readonly group: string;
  readonly subscription: SubscriptionData;
}

export function encodeCheckClient(value: CheckClient): Buffer {
  const { clientId, group, subscription } = value;
  return Buffer.from(compactJson({ clientId, group, subscriptionData: subscriptionDataJson(subscription) }));
}

export function decodeCheckClient(body: Uint8Array): Decoded<CheckClient> {
  const parsed = parseBody(body);
  if (!parsed.ok) return parsed;
  const group = textOf(parsed.value, 'group', '');
  if (group === '') return { ok: false, fault: 'body has no group' };
  const subscription = subscriptionDataOf(member(parsed.value, 'subscriptionData'));
  if (!subscription.ok) return subscription;
  return { ok: true, value: { clientId: textOf(parsed.value, 'clientId', ''), group, subscription: subscription.value } };
}
