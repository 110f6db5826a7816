// The bodies of locking and unlocking queues for consumers that keep a queue's order.
import { compactJson } from '../../base/json-writer.ts';
import type { Decoded } from '../ext.ts';
import { boolOf, isObject, parseBody, textOf } from './json-body.ts';
import { type MessageQueue, queueJson, queuesOf } from './message-queue.ts';

export interface LockBatch {
  readonly group: string;
  readonly clientId: string;
  readonly queues: readonly MessageQueue[];
  readonly onlyThisBroker: boolean;
}

export function encodeLockBatch(batch: LockBatch): Buffer {
  const { clientId, group, onlyThisBroker, queues } = batch;
  return Buffer.from(compactJson({ clientId, consumerGroup: group, mqSet: queues.map(queueJson), onlyThisBroker }));
}

export function decodeLockBatch(body: Uint8Array): Decoded<LockBatch> {
  const parsed = parseBody(body);
  if (!parsed.ok) return parsed;
  const json = parsed.value;
  const group = textOf(json, 'consumerGroup', '');
  const clientId = textOf(json, 'clientId', '');
  if (group === '') return { ok: false, fault: 'body has no consumerGroup' };
  if (clientId === '') return { ok: false, fault: 'body has no clientId' };
  return { ok: true, value: { group, clientId, queues: queuesOf(json, 'mqSet'), onlyThisBroker: boolOf(json, 'onlyThisBroker') } };
}

/** The answer: those queues that the client now holds. */
export function encodeLockedQueues(queues: readonly MessageQueue[]): Buffer {
  return Buffer.from(compactJson({ lockOKMQSet: queues.map(queueJson) }));
}

export function decodeLockedQueues(body: Uint8Array): Decoded<MessageQueue[]> {
  const parsed = parseBody(body);
  if (!parsed.ok) return parsed;
  if (!isObject(parsed.value)) return { ok: false, fault: 'body is not a list of locked queues' };
  return { ok: true, value: queuesOf(parsed.value, 'lockOKMQSet') };
}
