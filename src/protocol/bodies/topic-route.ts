// The body of a route answer: which brokers have a topic, at which addresses, with how many queues.
import { compactJson, javaJson } from '../../base/json-writer.ts';
import type { Decoded } from '../ext.ts';
import { boolOf, entriesOf, idMapOf, intOf, isObject, listOf, member, parseBody, textOf } from './json-body.ts';

export interface QueueData {
  readonly brokerName: string;
  readonly readQueueNums: number;
  readonly writeQueueNums: number;
  readonly perm: number;
  readonly topicSysFlag: number;
}

export interface BrokerData {
  readonly cluster: string;
  readonly brokerName: string;
  /** host:port by broker id; the master has id 0. */
  readonly brokerAddrs: ReadonlyMap<number, string>;
  readonly enableActingMaster: boolean;
  readonly zoneName?: string | undefined;
}

export interface TopicRoute {
  /** `broker-a:4;broker-b:4` where the order of the topic's messages spans brokers. */
  readonly orderTopicConf?: string | undefined;
  readonly queueDatas: readonly QueueData[];
  readonly brokerDatas: readonly BrokerData[];
  readonly filterServerTable: ReadonlyMap<string, readonly string[]>;
  /** Static topics only: what each broker said of its queues, passed on as it is. */
  readonly topicQueueMappingByBroker?: ReadonlyMap<string, unknown> | undefined;
}

/** java: broker ids as bare keys, for clients whose parser knows only that; strict: JSON. */
export type JsonDialect = 'strict' | 'java';

export function dialectText(value: unknown, dialect: JsonDialect): string {
  return dialect === 'strict' ? compactJson(value) : javaJson(value);
}

/** Members in the order of Java's writer; old parsers in Go depend on it. */
export function brokerDataJson(data: BrokerData): Record<string, unknown> {
  return {
    brokerAddrs: data.brokerAddrs,
    brokerName: data.brokerName,
    cluster: data.cluster,
    enableActingMaster: data.enableActingMaster,
    zoneName: data.zoneName,
  };
}

function queueDataJson(data: QueueData): Record<string, unknown> {
  return {
    brokerName: data.brokerName,
    perm: data.perm,
    readQueueNums: data.readQueueNums,
    topicSysFlag: data.topicSysFlag,
    writeQueueNums: data.writeQueueNums,
  };
}

export function encodeTopicRoute(route: TopicRoute, dialect: JsonDialect): Buffer {
  const json = {
    brokerDatas: route.brokerDatas.map(brokerDataJson),
    filterServerTable: route.filterServerTable,
    orderTopicConf: route.orderTopicConf,
    queueDatas: route.queueDatas.map(queueDataJson),
    topicQueueMappingByBroker: route.topicQueueMappingByBroker,
  };
  return Buffer.from(dialectText(json, dialect));
}

function queueDataOf(json: unknown): QueueData {
  return {
    brokerName: textOf(json, 'brokerName', ''),
    readQueueNums: intOf(json, 'readQueueNums', 0),
    writeQueueNums: intOf(json, 'writeQueueNums', 0),
    perm: intOf(json, 'perm', 0),
    topicSysFlag: intOf(json, 'topicSysFlag', intOf(json, 'topicSynFlag', 0)),
  };
}

export function brokerDataOf(json: unknown): BrokerData {
  const zoneName = member(json, 'zoneName');
  return {
    cluster: textOf(json, 'cluster', ''),
    brokerName: textOf(json, 'brokerName', ''),
    brokerAddrs: idMapOf(json, 'brokerAddrs'),
    enableActingMaster: boolOf(json, 'enableActingMaster'),
    ...(typeof zoneName === 'string' ? { zoneName } : {}),
  };
}

/** Reads both dialects. */
export function decodeTopicRoute(body: Uint8Array): Decoded<TopicRoute> {
  const parsed = parseBody(body);
  if (!parsed.ok) return parsed;
  const json = parsed.value;
  if (!isObject(json)) return { ok: false, fault: 'body is not a topic route' };
  const order = member(json, 'orderTopicConf');
  const mappings = entriesOf(json, 'topicQueueMappingByBroker');
  const route: TopicRoute = {
    queueDatas: listOf(json, 'queueDatas').map(queueDataOf),
    brokerDatas: listOf(json, 'brokerDatas').map(brokerDataOf),
    filterServerTable: new Map(
      entriesOf(json, 'filterServerTable').map(([address, list]) => [address, Array.isArray(list) ? list.map(String) : []]),
    ),
    ...(typeof order === 'string' ? { orderTopicConf: order } : {}),
    ...(mappings.length > 0 ? { topicQueueMappingByBroker: new Map(mappings) } : {}),
  };
  return { ok: true, value: route };
}
