// Figures per queue, for tools: how far a topic's queues reach, and how far a group has consumed them.
import { javaJson } from '../../base/json-writer.ts';
import type { Decoded } from '../ext.ts';
import { intOf, isObject, parseBody, textOf } from './json-body.ts';
import { type MessageQueue, type QueueTable, queueTableJson, queueTableOf } from './message-queue.ts';

export interface TopicOffset {
  readonly minOffset: number;
  readonly maxOffset: number;
  readonly lastUpdateTimestamp: number;
}

export interface TopicStats {
  readonly offsetTable: QueueTable<TopicOffset>;
  /** Messages put per second, of the last minute. */
  readonly topicPutTps: number;
}

export function encodeTopicStats(stats: TopicStats): Buffer {
  const offsetTable = queueTableJson(stats.offsetTable, ({ lastUpdateTimestamp, maxOffset, minOffset }) => ({
    lastUpdateTimestamp,
    maxOffset,
    minOffset,
  }));
  return Buffer.from(javaJson({ offsetTable, topicPutTps: stats.topicPutTps }));
}

export function decodeTopicStats(body: Uint8Array): Decoded<TopicStats> {
  const parsed = parseBody(body);
  if (!parsed.ok) return parsed;
  if (!isObject(parsed.value)) return { ok: false, fault: 'body is not a table of topic offsets' };
  const offsetTable: [MessageQueue, TopicOffset][] = queueTableOf(parsed.value, 'offsetTable', (json) => ({
    minOffset: intOf(json, 'minOffset', 0),
    maxOffset: intOf(json, 'maxOffset', 0),
    lastUpdateTimestamp: intOf(json, 'lastUpdateTimestamp', 0),
  }));
  return { ok: true, value: { offsetTable, topicPutTps: rateOf(parsed.value, 'topicPutTps') } };
}

export interface ConsumeOffset {
  readonly brokerOffset: number;
  readonly consumerOffset: number;
  readonly pullOffset: number;
  readonly lastTimestamp: number;
}

export interface ConsumeStats {
  readonly offsetTable: QueueTable<ConsumeOffset>;
  /** Messages consumed per second, of the last minute. */
  readonly consumeTps: number;
}

/** For `javaJson`. */
export function consumeStatsJson(stats: ConsumeStats): Record<string, unknown> {
  const offsetTable = queueTableJson(stats.offsetTable, ({ brokerOffset, consumerOffset, lastTimestamp, pullOffset }) => ({
    brokerOffset,
    consumerOffset,
    lastTimestamp,
    pullOffset,
  }));
  return { consumeTps: stats.consumeTps, offsetTable };
}

export function encodeConsumeStats(stats: ConsumeStats): Buffer {
  return Buffer.from(javaJson(consumeStatsJson(stats)));
}

export function decodeConsumeStats(body: Uint8Array): Decoded<ConsumeStats> {
  const parsed = parseBody(body);
  if (!parsed.ok) return parsed;
  if (!isObject(parsed.value)) return { ok: false, fault: 'body is not a table of consume offsets' };
  const offsetTable: [MessageQueue, ConsumeOffset][] = queueTableOf(parsed.value, 'offsetTable', (json) => ({
    brokerOffset: intOf(json, 'brokerOffset', 0),
    consumerOffset: intOf(json, 'consumerOffset', 0),
    pullOffset: intOf(json, 'pullOffset', 0),
    lastTimestamp: intOf(json, 'lastTimestamp', 0),
  }));
  return { ok: true, value: { offsetTable, consumeTps: rateOf(parsed.value, 'consumeTps') } };
}

function rateOf(json: unknown, name: string): number {
  const rate = Number(textOf(json, name, '0'));
  return Number.isFinite(rate) ? rate : 0;
}
