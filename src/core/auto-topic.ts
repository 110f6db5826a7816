// Decides whether a send to an unknown topic makes the topic, and what it then looks like.
import { isDlqTopic, isRetryTopic } from '../message/names.ts';
import { Perms, type TopicConfig, TopicSysFlags, topicConfig } from './topic-config.ts';

export interface AutoTopicWish {
  readonly topic: string;
  readonly defaultTopic: string;
  readonly queueCount: number;
  readonly unit: boolean;
}

/**
 * The new topic; null where the template is missing or does not hand on its permission, and the name is no retry topic. Who sends dead letters
 * by himself has chosen a queue among those of the template.
 */
export function autoTopic(wish: AutoTopicWish, template: TopicConfig | undefined, retryQueueCount: number): TopicConfig | null {
  if (isRetryTopic(wish.topic)) return retryTopic(wish.topic, retryQueueCount, wish.unit, false);
  const inherits = template !== undefined && (template.perm & Perms.inherit) !== 0;
  if (!inherits) return isDlqTopic(wish.topic) ? topicConfig(wish.topic, 1, Perms.readWrite) : null;
  const queueCount = Math.max(0, Math.min(wish.queueCount, template.writeQueueNums));
  return topicConfig(wish.topic, queueCount, template.perm & ~Perms.inherit, {
    topicFilterType: template.topicFilterType,
    topicSysFlag: wish.unit ? TopicSysFlags.unit : 0,
  });
}

/** The topic that holds a group's messages to be tried again. */
export function retryTopic(topic: string, queueCount: number, unit: boolean, order: boolean): TopicConfig {
  return topicConfig(topic, queueCount, Perms.readWrite, { topicSysFlag: unit ? TopicSysFlags.unitSub : 0, order });
}
