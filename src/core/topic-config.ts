// What a topic is made of, and which numbers make one.
import type { TopicConfigData } from '../protocol/bodies/topic-config.ts';

/** `perm` has bits of `Perms`, `topicSysFlag` bits of `TopicSysFlags`. */
export type TopicConfig = TopicConfigData;

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
