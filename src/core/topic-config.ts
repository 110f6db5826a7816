// What a topic is made of, and how it is read leniently from what tools and other brokers wrote.
import { boolOf, entriesOf, intOf, isObject, textOf } from '../protocol/bodies/json-body.ts';
import type { RegisteredTopic } from '../protocol/bodies/register-broker.ts';

/** `perm` has bits of `Perms`, `topicSysFlag` bits of `TopicSysFlags`. */
export type TopicConfig = RegisteredTopic;

export const Perms = { inherit: 1, write: 2, read: 4, readWrite: 6, all: 7 } as const;
export const TopicSysFlags = { unit: 1, unitSub: 2 } as const;

export function topicConfig(topicName: string, queueCount: number, perm: number, more: Partial<TopicConfig> = {}): TopicConfig {
  return {
    topicName,
    readQueueNums: queueCount,
    writeQueueNums: queueCount,
    perm,
    topicFilterType: 'SINGLE_TAG',
    topicSysFlag: 0,
    order: false,
    attributes: {},
    ...more,
  };
}

/** Missing fields get the defaults that stock brokers use. Null where `json` is no object. */
export function topicConfigOf(json: unknown, name = ''): TopicConfig | null {
  if (!isObject(json)) return null;
  return {
    topicName: textOf(json, 'topicName', name),
    readQueueNums: intOf(json, 'readQueueNums', 16),
    writeQueueNums: intOf(json, 'writeQueueNums', 16),
    perm: intOf(json, 'perm', Perms.readWrite),
    topicFilterType: textOf(json, 'topicFilterType', 'SINGLE_TAG'),
    topicSysFlag: intOf(json, 'topicSysFlag', 0),
    order: boolOf(json, 'order'),
    attributes: Object.fromEntries(entriesOf(json, 'attributes').map(([key, value]) => [key, String(value)])),
  };
}

/** How many queues of the topic have a key: clients may read some and write others. */
export function queueCountOf(config: TopicConfig): number {
  return Math.max(config.readQueueNums, config.writeQueueNums);
}

export function sameTopicConfig(a: TopicConfig, b: TopicConfig): boolean {
  const names = Object.keys(a.attributes);
  return (
    a.topicName === b.topicName &&
    a.readQueueNums === b.readQueueNums &&
    a.writeQueueNums === b.writeQueueNums &&
    a.perm === b.perm &&
    a.topicFilterType === b.topicFilterType &&
    a.topicSysFlag === b.topicSysFlag &&
    a.order === b.order &&
    names.length === Object.keys(b.attributes).length &&
    names.every((name) => a.attributes[name] === b.attributes[name])
  );
}

/** Why these numbers make no topic; null when they do. */
export function topicConfigFault(config: TopicConfig): string | null {
  const { readQueueNums, writeQueueNums, perm } = config;
  if (readQueueNums < 0 || writeQueueNums < 0) {
    return `queue counts must be 0 or more readQueueNums=${readQueueNums} writeQueueNums=${writeQueueNums}`;
  }
  if (perm < 0 || perm > Perms.all) return `perm is out of range perm=${perm} allowed=0..7 (4 read, 2 write, 1 inherit)`;
  if (config.topicFilterType !== 'SINGLE_TAG' && config.topicFilterType !== 'MULTI_TAG') {
    return `topicFilterType is unknown topicFilterType=${config.topicFilterType} allowed=SINGLE_TAG, MULTI_TAG`;
  }
  return null;
}
