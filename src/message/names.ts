// Names of topics and groups: the one validator for all ways in, and the names that have a meaning of their own.
import { assert } from '../base/assert.ts';

export const TOPIC_SIZE_MAX = 127;
/** For retry and dead-letter topics, which POP makes of a group and a topic. */
export const RETRY_TOPIC_SIZE_MAX = 255;
export const GROUP_SIZE_MAX = 120;

export const RETRY_PREFIX = '%RETRY%';
export const DLQ_PREFIX = '%DLQ%';
export const LMQ_PREFIX = '%LMQ%';
const SYSTEM_PREFIX = 'rmq_sys_';

// Old clients read one signed byte as a topic's length, so every legal group must leave room for its retry topic.
assert(RETRY_PREFIX.length + GROUP_SIZE_MAX <= TOPIC_SIZE_MAX && DLQ_PREFIX.length + GROUP_SIZE_MAX <= TOPIC_SIZE_MAX, 'retry names fit');

export const SystemTopics = {
  autoCreateTemplate: 'TBW102',
  schedule: 'SCHEDULE_TOPIC_XXXX',
  benchmark: 'BenchmarkTest',
  half: 'RMQ_SYS_TRANS_HALF_TOPIC',
  trace: 'RMQ_SYS_TRACE_TOPIC',
  opHalf: 'RMQ_SYS_TRANS_OP_HALF_TOPIC',
  checkMaxTime: 'TRANS_CHECK_MAX_TIME_TOPIC',
  selfTest: 'SELF_TEST_TOPIC',
  offsetMoved: 'OFFSET_MOVED_EVENT',
  checkpoint: 'CHECKPOINT_TOPIC',
} as const;
export type SystemTopic = (typeof SystemTopics)[keyof typeof SystemTopics];

/** Timed messages wait in this topic; a system topic by its prefix. */
export const TIMER_TOPIC = 'rmq_sys_wheel_timer';

const systemTopics: ReadonlySet<string> = new Set(Object.values(SystemTopics));
const notSendable: ReadonlySet<string> = new Set([
  SystemTopics.schedule,
  SystemTopics.half,
  SystemTopics.opHalf,
  SystemTopics.checkMaxTime,
  SystemTopics.selfTest,
  SystemTopics.offsetMoved,
]);

const legalName = /^[%|a-zA-Z0-9_-]+$/;
/** How much of a wrong name is repeated to its sender. */
const SHOWN_SIZE_MAX = 256;

function nameFault(kind: 'topic' | 'group', name: string | null | undefined, sizeMax: number): string | null {
  if (name === null || name === undefined || name.trim() === '') return `The specified ${kind} is blank.`;
  const shown = name.length > SHOWN_SIZE_MAX ? `${name.slice(0, SHOWN_SIZE_MAX)}...` : name;
  if (!legalName.test(name)) return `The specified ${kind}: ${shown}, contains illegal characters, allowing only ^[%|a-zA-Z0-9_-]+$`;
  if (name.length > sizeMax) return `The specified ${kind}: ${shown}, is longer than ${kind} max length: ${sizeMax}`;
  return null;
}

/** null for a legal topic, else the text that the client gets. Legal names are ASCII: as many bytes as letters. */
export function topicFault(name: string | null | undefined): string | null {
  const isLong = typeof name === 'string' && (isRetryTopic(name) || isDlqTopic(name));
  return nameFault('topic', name, isLong ? RETRY_TOPIC_SIZE_MAX : TOPIC_SIZE_MAX);
}

/** null for a legal group, whose retry and dead-letter topics are legal as well; else the text that the client gets. */
export function groupFault(name: string | null | undefined): string | null {
  return nameFault('group', name, GROUP_SIZE_MAX);
}

/** Those with a fixed name or prefix; topics named after the cluster or the broker are known to whoever made them. */
export function isSystemTopic(topic: string): boolean {
  return systemTopics.has(topic) || topic.startsWith(SYSTEM_PREFIX);
}

/** Whether clients may send to it, as far as its name decides. */
export function isSendableTopic(topic: string): boolean {
  return !notSendable.has(topic);
}

/** The text for a client that sends to such a topic. */
export function notSendableText(topic: string): string {
  return `Sending message to topic[${topic}] is forbidden.`;
}

export function retryTopicOf(group: string): string {
  return RETRY_PREFIX + group;
}

export function dlqTopicOf(group: string): string {
  return DLQ_PREFIX + group;
}

/** The retry topic of POP consumers; version 2 divides with a plus sign, which no group or topic can hold. */
export function popRetryTopicOf(group: string, topic: string, version: 1 | 2 = 1): string {
  return `${RETRY_PREFIX}${group}${version === 1 ? '_' : '+'}${topic}`;
}

export function isRetryTopic(topic: string): boolean {
  return topic.startsWith(RETRY_PREFIX);
}

export function isDlqTopic(topic: string): boolean {
  return topic.startsWith(DLQ_PREFIX);
}

export function isLmqTopic(topic: string): boolean {
  return topic.startsWith(LMQ_PREFIX);
}

/** The group of `%RETRY%group` or `%DLQ%group`; null for other topics. For POP's names it is group and topic together. */
export function groupOfRetryTopic(topic: string): string | null {
  if (isRetryTopic(topic)) return topic.slice(RETRY_PREFIX.length);
  return isDlqTopic(topic) ? topic.slice(DLQ_PREFIX.length) : null;
}

/** A topic as it is stored, of which a client of this group shows the name without the namespace: `name%` in front of both. */
export function topicBesideGroup(group: string, shown: string): string {
  return group.slice(0, group.indexOf('%') + 1) + shown;
}
