// The bodies of rebalancing by the broker: a client asks for its queues, a tool sets how a group gets its messages.
import { compactJson } from '../../base/json-writer.ts';
import type { Decoded } from '../ext.ts';
import { intOf, isObject, listOf, member, parseBody, textOf } from './json-body.ts';
import { type MessageQueue, queueJson, queueOf } from './message-queue.ts';

export type RequestMode = 'PULL' | 'POP';

function modeOf(json: unknown): Decoded<RequestMode> {
  const mode = textOf(json, 'mode', 'PULL');
  if (mode === 'PULL' || mode === 'POP') return { ok: true, value: mode };
  return { ok: false, fault: `mode is unknown mode=${mode} allowed=PULL, POP` };
}

export interface AssignmentQuery {
  readonly topic: string;
  readonly group: string;
  readonly clientId: string;
  readonly strategyName: string;
  readonly messageModel: string;
}

export function encodeAssignmentQuery(query: AssignmentQuery): Buffer {
  const { clientId, group, messageModel, strategyName, topic } = query;
  return Buffer.from(compactJson({ clientId, consumerGroup: group, messageModel, strategyName, topic }));
}

export function decodeAssignmentQuery(body: Uint8Array): Decoded<AssignmentQuery> {
  const parsed = parseBody(body);
  if (!parsed.ok) return parsed;
  const json = parsed.value;
  const value: AssignmentQuery = {
    topic: textOf(json, 'topic', ''),
    group: textOf(json, 'consumerGroup', ''),
    clientId: textOf(json, 'clientId', ''),
    strategyName: textOf(json, 'strategyName', ''),
    messageModel: textOf(json, 'messageModel', 'CLUSTERING'),
  };
  if (value.topic === '') return { ok: false, fault: 'body has no topic' };
  if (value.group === '') return { ok: false, fault: 'body has no consumerGroup' };
  return { ok: true, value };
}

export interface QueueAssignment {
  readonly queue: MessageQueue;
  readonly mode: RequestMode;
}

/** Null: the client keeps what it has; empty: it drops all. */
export function encodeAssignments(assignments: readonly QueueAssignment[] | null): Buffer {
  const list = assignments?.map(({ mode, queue }) => ({ messageQueue: queueJson(queue), mode }));
  return Buffer.from(compactJson({ messageQueueAssignments: list }));
}

export function decodeAssignments(body: Uint8Array): Decoded<QueueAssignment[] | null> {
  const parsed = parseBody(body);
  if (!parsed.ok) return parsed;
  if (!Array.isArray(member(parsed.value, 'messageQueueAssignments'))) return { ok: true, value: null };
  const assignments: QueueAssignment[] = [];
  for (const item of listOf(parsed.value, 'messageQueueAssignments')) {
    const mode = modeOf(item);
    if (!mode.ok) return mode;
    assignments.push({ queue: queueOf(member(item, 'messageQueue')), mode: mode.value });
  }
  return { ok: true, value: assignments };
}

export interface RequestModeSetting {
  readonly topic: string;
  readonly group: string;
  readonly mode: RequestMode;
  readonly popShareQueueNum: number;
}

export function encodeRequestMode(setting: RequestModeSetting): Buffer {
  const { group, mode, popShareQueueNum, topic } = setting;
  return Buffer.from(compactJson({ consumerGroup: group, mode, popShareQueueNum, topic }));
}

export function decodeRequestMode(body: Uint8Array): Decoded<RequestModeSetting> {
  const parsed = parseBody(body);
  if (!parsed.ok) return parsed;
  const json = parsed.value;
  if (!isObject(json)) return { ok: false, fault: 'body is not a request mode' };
  const mode = modeOf(json);
  if (!mode.ok) return mode;
  const topic = textOf(json, 'topic', '');
  const group = textOf(json, 'consumerGroup', '');
  if (topic === '') return { ok: false, fault: 'body has no topic' };
  if (group === '') return { ok: false, fault: 'body has no consumerGroup' };
  return { ok: true, value: { topic, group, mode: mode.value, popShareQueueNum: intOf(json, 'popShareQueueNum', 0) } };
}
