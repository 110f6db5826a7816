// Topics as administration sends and gets them: one, a list, or the whole table with its version.
import { compactJson } from '../../base/json-writer.ts';
import type { Decoded } from '../ext.ts';
import { type DataVersion, dataVersionJson, dataVersionOf } from './data-version.ts';
import { boolOf, entriesOf, intOf, isObject, listOf, member, parseBody, textOf, textOfValue } from './json-body.ts';
import type { RegisteredTopic } from './register-broker.ts';

export type TopicConfigData = RegisteredTopic;

export function topicConfigJson(topic: TopicConfigData): Record<string, unknown> {
  return {
    attributes: topic.attributes,
    order: topic.order,
    perm: topic.perm,
    readQueueNums: topic.readQueueNums,
    topicFilterType: topic.topicFilterType,
    topicName: topic.topicName,
    topicSysFlag: topic.topicSysFlag,
    writeQueueNums: topic.writeQueueNums,
  };
}

/** Missing fields get the defaults of stock brokers. */
export function topicConfigDataOf(json: unknown, name = ''): TopicConfigData {
  return {
    topicName: textOf(json, 'topicName', name),
    readQueueNums: intOf(json, 'readQueueNums', 16),
    writeQueueNums: intOf(json, 'writeQueueNums', 16),
    perm: intOf(json, 'perm', 6),
    topicFilterType: textOf(json, 'topicFilterType', 'SINGLE_TAG'),
    topicSysFlag: intOf(json, 'topicSysFlag', 0),
    order: boolOf(json, 'order'),
    attributes: Object.fromEntries(entriesOf(json, 'attributes').map(([key, value]) => [key, textOfValue(value)])),
  };
}

export function encodeTopicConfig(topic: TopicConfigData): Buffer {
  return Buffer.from(compactJson(topicConfigJson(topic)));
}

export function decodeTopicConfig(body: Uint8Array): Decoded<TopicConfigData> {
  const parsed = parseBody(body);
  if (!parsed.ok) return parsed;
  return named(topicConfigDataOf(parsed.value));
}

function named(topic: TopicConfigData): Decoded<TopicConfigData> {
  return topic.topicName === '' ? { ok: false, fault: 'topic has no topicName' } : { ok: true, value: topic };
}

export function encodeTopicConfigList(topics: readonly TopicConfigData[]): Buffer {
  return Buffer.from(compactJson({ topicConfigList: topics.map(topicConfigJson) }));
}

export function decodeTopicConfigList(body: Uint8Array): Decoded<TopicConfigData[]> {
  const parsed = parseBody(body);
  if (!parsed.ok) return parsed;
  if (!Array.isArray(member(parsed.value, 'topicConfigList'))) return { ok: false, fault: 'body has no topicConfigList' };
  const topics: TopicConfigData[] = [];
  for (const item of listOf(parsed.value, 'topicConfigList')) {
    const topic = named(topicConfigDataOf(item));
    if (!topic.ok) return topic;
    topics.push(topic.value);
  }
  return { ok: true, value: topics };
}

export interface TopicConfigTable {
  readonly topics: readonly TopicConfigData[];
  readonly dataVersion: DataVersion;
  /** Of the queue mappings of static topics, which are always none here. */
  readonly mappingDataVersion: DataVersion;
}

export function encodeTopicConfigTable(table: TopicConfigTable): Buffer {
  const topics = new Map(table.topics.map((topic) => [topic.topicName, topicConfigJson(topic)]));
  const json = {
    dataVersion: dataVersionJson(table.dataVersion),
    mappingDataVersion: dataVersionJson(table.mappingDataVersion),
    topicConfigTable: topics,
    topicQueueMappingDetailMap: {},
    topicQueueMappingInfoMap: {},
  };
  return Buffer.from(compactJson(json));
}

export function decodeTopicConfigTable(body: Uint8Array): Decoded<TopicConfigTable> {
  const parsed = parseBody(body);
  if (!parsed.ok) return parsed;
  if (!isObject(parsed.value)) return { ok: false, fault: 'body is not a table of topics' };
  const topics = entriesOf(parsed.value, 'topicConfigTable').map(([name, json]) => topicConfigDataOf(json, name));
  const dataVersion = dataVersionOf(member(parsed.value, 'dataVersion'));
  return { ok: true, value: { topics, dataVersion, mappingDataVersion: dataVersionOf(member(parsed.value, 'mappingDataVersion')) } };
}
