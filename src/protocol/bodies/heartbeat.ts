// The body of a heartbeat: who a client is, which groups it produces and consumes for, and what it reads.
import { compactJson } from '../../base/json-writer.ts';
import type { Decoded } from '../ext.ts';
import { boolOf, intOf, isObject, listOf, parseBody, textOf } from './json-body.ts';
import { type SubscriptionData, subscriptionDataJson, subscriptionDataOf } from './subscription-data.ts';

export interface ConsumerData {
  readonly group: string;
  /** CONSUME_ACTIVELY, CONSUME_PASSIVELY or CONSUME_POP. */
  readonly consumeType: string;
  /** CLUSTERING or BROADCASTING. */
  readonly messageModel: string;
  readonly consumeFromWhere: string;
  readonly subscriptions: readonly SubscriptionData[];
  readonly unitMode: boolean;
}

export interface HeartbeatData {
  readonly clientId: string;
  readonly producerGroups: readonly string[];
  readonly consumers: readonly ConsumerData[];
  /** 0: the client sends whole heartbeats only. */
  readonly fingerprint: number;
  /** A short heartbeat: subscriptions are as before. */
  readonly withoutSub: boolean;
}

export function encodeHeartbeat(data: HeartbeatData): Buffer {
  const consumerDataSet = data.consumers.map((consumer) => ({
    consumeFromWhere: consumer.consumeFromWhere,
    consumeType: consumer.consumeType,
    groupName: consumer.group,
    messageModel: consumer.messageModel,
    subscriptionDataSet: consumer.subscriptions.map(subscriptionDataJson),
    unitMode: consumer.unitMode,
  }));
  const producerDataSet = data.producerGroups.map((groupName) => ({ groupName }));
  const { clientId, fingerprint, withoutSub } = data;
  const json = { clientID: clientId, consumerDataSet, heartbeatFingerprint: fingerprint, producerDataSet, withoutSub };
  return Buffer.from(compactJson(json));
}

export function decodeHeartbeat(body: Uint8Array): Decoded<HeartbeatData> {
  const parsed = parseBody(body);
  if (!parsed.ok) return parsed;
  const json = parsed.value;
  const clientId = textOf(json, 'clientID', '');
  if (clientId === '') return { ok: false, fault: 'heartbeat has no clientID' };
  const producerGroups: string[] = [];
  for (const producer of listOf(json, 'producerDataSet')) {
    const group = textOf(producer, 'groupName', '');
    if (group === '') return { ok: false, fault: 'heartbeat has a producer without groupName' };
    producerGroups.push(group);
  }
  const consumers: ConsumerData[] = [];
  for (const item of listOf(json, 'consumerDataSet')) {
    const consumer = consumerDataOf(item);
    if (!consumer.ok) return consumer;
    consumers.push(consumer.value);
  }
  const fingerprint = intOf(json, 'heartbeatFingerprint', 0);
  return { ok: true, value: { clientId, producerGroups, consumers, fingerprint, withoutSub: boolOf(json, 'withoutSub') } };
}

function consumerDataOf(json: unknown): Decoded<ConsumerData> {
  const group = textOf(json, 'groupName', '');
  if (!isObject(json) || group === '') return { ok: false, fault: 'heartbeat has a consumer without groupName' };
  const subscriptions: SubscriptionData[] = [];
  for (const item of listOf(json, 'subscriptionDataSet')) {
    const subscription = subscriptionDataOf(item);
    if (!subscription.ok) return { ok: false, fault: `${subscription.fault} group=${group}` };
    subscriptions.push(subscription.value);
  }
  return {
    ok: true,
    value: {
      group,
      consumeType: textOf(json, 'consumeType', 'CONSUME_PASSIVELY'),
      messageModel: textOf(json, 'messageModel', 'CLUSTERING'),
      consumeFromWhere: textOf(json, 'consumeFromWhere', 'CONSUME_FROM_LAST_OFFSET'),
      subscriptions,
      unitMode: boolOf(json, 'unitMode'),
    },
  };
}
