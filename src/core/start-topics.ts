// The topics that every broker has from its first start, and which names belong to the system.
import { isSystemTopic, SystemTopics, TIMER_TOPIC } from '../message/names.ts';
import { Perms, type TopicConfig, topicConfig } from './topic-config.ts';

export interface StartTopicOptions {
  readonly brokerName: string;
  readonly clusterName: string;
  readonly autoCreateTopicEnable: boolean;
  readonly clusterTopicEnable: boolean;
  readonly brokerTopicEnable: boolean;
  readonly traceTopicEnable: boolean;
  readonly traceTopicName: string;
  readonly timerWheelEnable: boolean;
  readonly defaultTopicQueueNums: number;
}

/** Queues whose messages wait for a delay level: one per level of the longest list. */
const SCHEDULE_QUEUE_COUNT = 18;
const BENCHMARK_QUEUE_COUNT = 1024;
const REVIVE_QUEUE_COUNT = 8;
const CLUSTER_QUEUE_COUNT = 16;

/** Topics named after this cluster or broker. */
const SYSTEM_PREFIX = 'rmq_sys_';

export function startTopics(o: StartTopicOptions): TopicConfig[] {
  const topics = [
    topicConfig(SystemTopics.selfTest, 1, Perms.readWrite),
    topicConfig(SystemTopics.benchmark, BENCHMARK_QUEUE_COUNT, Perms.readWrite),
    topicConfig(o.clusterName, CLUSTER_QUEUE_COUNT, o.clusterTopicEnable ? Perms.all : Perms.inherit),
    topicConfig(o.brokerName, 1, o.brokerTopicEnable ? Perms.all : Perms.inherit),
    topicConfig(SystemTopics.offsetMoved, 1, Perms.readWrite),
    topicConfig(SystemTopics.schedule, SCHEDULE_QUEUE_COUNT, Perms.readWrite),
    topicConfig(`${o.clusterName}_REPLY_TOPIC`, 1, Perms.readWrite),
    topicConfig(`${SYSTEM_PREFIX}REVIVE_LOG_${o.clusterName}`, REVIVE_QUEUE_COUNT, Perms.readWrite),
    topicConfig(`${SYSTEM_PREFIX}SYNC_BROKER_MEMBER_${o.brokerName}`, 1, Perms.inherit),
    topicConfig(SystemTopics.half, 1, Perms.readWrite),
    topicConfig(SystemTopics.opHalf, 1, Perms.readWrite),
  ];
  if (o.autoCreateTopicEnable) topics.push(topicConfig(SystemTopics.autoCreateTemplate, o.defaultTopicQueueNums, Perms.all));
  if (o.traceTopicEnable) topics.push(topicConfig(o.traceTopicName, 1, Perms.readWrite));
  if (o.timerWheelEnable) topics.push(topicConfig(TIMER_TOPIC, 1, Perms.readWrite));
  return topics;
}

/** Names that no client may create, alter or delete: the fixed ones and those of this broker. */
export class ReservedTopics {
  readonly #names: ReadonlySet<string>;

  constructor(start: readonly TopicConfig[]) {
    this.#names = new Set([...Object.values(SystemTopics), ...start.map((config) => config.topicName)]);
  }

  has(topic: string): boolean {
    return this.#names.has(topic) || isSystemTopic(topic);
  }

  /** For the list that tools ask for. */
  list(): string[] {
    return [...this.#names];
  }
}
