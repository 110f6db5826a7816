// Who is connected for a group, for tools.
import { compactJson } from '../../base/json-writer.ts';
import type { Decoded } from '../ext.ts';
import { entriesOf, intOf, isObject, listOf, parseBody, textOf } from './json-body.ts';
import { type SubscriptionData, subscriptionDataJson, subscriptionDataOf } from './subscription-data.ts';

export interface ClientConnection {
  readonly clientId: string;
  /** ip:port */
  readonly clientAddr: string;
  readonly language: string;
  readonly version: number;
}

function connectionJson({ clientAddr, clientId, language, version }: ClientConnection): Record<string, unknown> {
  return { clientAddr, clientId, language, version };
}

function connectionsOf(json: unknown): ClientConnection[] {
  return listOf(json, 'connectionSet').map((item) => ({
    clientId: textOf(item, 'clientId', ''),
    clientAddr: textOf(item, 'clientAddr', ''),
    language: textOf(item, 'language', ''),
    version: intOf(item, 'version', 0),
  }));
}

export interface ConsumerConnections {
  readonly connections: readonly ClientConnection[];
  readonly subscriptions: readonly SubscriptionData[];
  readonly consumeType: string;
  readonly messageModel: string;
  readonly consumeFromWhere: string;
}

export function encodeConsumerConnections(value: ConsumerConnections): Buffer {
  const json = {
    connectionSet: value.connections.map(connectionJson),
    consumeFromWhere: value.consumeFromWhere,
    consumeType: value.consumeType,
    messageModel: value.messageModel,
    subscriptionTable: new Map(value.subscriptions.map((data) => [data.topic, subscriptionDataJson(data)])),
  };
  return Buffer.from(compactJson(json));
}

export function decodeConsumerConnections(body: Uint8Array): Decoded<ConsumerConnections> {
  const parsed = parseBody(body);
  if (!parsed.ok) return parsed;
  const json = parsed.value;
  if (!isObject(json)) return { ok: false, fault: 'body is not a list of connections' };
  const subscriptions: SubscriptionData[] = [];
  for (const [, item] of entriesOf(json, 'subscriptionTable')) {
    const subscription = subscriptionDataOf(item);
    if (!subscription.ok) return subscription;
    subscriptions.push(subscription.value);
  }
  return {
    ok: true,
    value: {
      connections: connectionsOf(json),
      subscriptions,
      consumeType: textOf(json, 'consumeType', ''),
      messageModel: textOf(json, 'messageModel', ''),
      consumeFromWhere: textOf(json, 'consumeFromWhere', ''),
    },
  };
}

export function encodeProducerConnections(connections: readonly ClientConnection[]): Buffer {
  return Buffer.from(compactJson({ connectionSet: connections.map(connectionJson) }));
}

export function decodeProducerConnections(body: Uint8Array): Decoded<ClientConnection[]> {
  const parsed = parseBody(body);
  if (!parsed.ok) return parsed;
  if (!isObject(parsed.value)) return { ok: false, fault: 'body is not a list of connections' };
  return { ok: true, value: connectionsOf(parsed.value) };
}
