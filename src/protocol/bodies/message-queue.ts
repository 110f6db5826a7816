// A queue as JSON bodies name it, and tables keyed by queues: their keys are whole objects, which only Java calls JSON.
import { javaJson } from '../../base/json-writer.ts';
import type { Decoded } from '../ext.ts';
import { entriesOf, intOf, isObject, listOf, member, parseBody, parseText, textOf } from './json-body.ts';

export interface MessageQueue {
  readonly topic: string;
  readonly brokerName: string;
  readonly queueId: number;
}

/** Values by queue; a list, for queues are no keys of a Map. */
export type QueueTable<T> = readonly (readonly [MessageQueue, T])[];

/** Members in the order that parsers in Go rely on. */
export function queueJson(queue: MessageQueue): Record<string, unknown> {
  return { brokerName: queue.brokerName, queueId: queue.queueId, topic: queue.topic };
}

export function queueOf(json: unknown): MessageQueue {
  return { topic: textOf(json, 'topic', ''), brokerName: textOf(json, 'brokerName', ''), queueId: intOf(json, 'queueId', 0) };
}

export function queuesOf(json: unknown, name: string): MessageQueue[] {
  return listOf(json, name).filter(isObject).map(queueOf);
}

/** For `javaJson`: a map whose keys are objects. */
export function queueTableJson<T>(table: QueueTable<T>, valueJson: (value: T) => unknown): Map<unknown, unknown> {
  return new Map(table.map(([queue, value]) => [queueJson(queue), valueJson(value)]));
}

/** Reads `{{"brokerName":…}:value,…}`, and the list form `[[{queue},value],…]`. Keys that are no queues are left out. */
export function queueTableOf<T>(json: unknown, name: string, read: (json: unknown) => T): [MessageQueue, T][] {
  const table: [MessageQueue, T][] = [];
  for (const pair of listOf(json, name)) {
    if (Array.isArray(pair) && isObject(pair[0])) table.push([queueOf(pair[0]), read(pair[1])]);
  }
  for (const [key, value] of entriesOf(json, name)) {
    const queue = parseText(key);
    if (queue.ok && isObject(queue.value)) table.push([queueOf(queue.value), read(value)]);
  }
  return table;
}

/** `{"offsetTable":{queue:offset,…}}`: the answer to an offset reset, and its form for clients in Java and Go. */
export function encodeOffsetTable(table: QueueTable<number>): Buffer {
  return Buffer.from(javaJson({ offsetTable: queueTableJson(table, (offset) => offset) }));
}

/** `{"offsetTable":[{"brokerName":…,"offset":…,"queueId":…,"topic":…},…]}`: the form for clients in C++. */
export function encodeOffsetList(table: QueueTable<number>): Buffer {
  const list = table.map(([queue, offset]) => ({ brokerName: queue.brokerName, offset, queueId: queue.queueId, topic: queue.topic }));
  return Buffer.from(javaJson({ offsetTable: list }));
}

export function decodeOffsetTable(body: Uint8Array): Decoded<[MessageQueue, number][]> {
  const parsed = parseBody(body);
  if (!parsed.ok) return parsed;
  if (!isObject(parsed.value)) return { ok: false, fault: 'body is not a table of offsets' };
  const table = queueTableOf(parsed.value, 'offsetTable', offsetOf);
  for (const item of listOf(parsed.value, 'offsetTable')) {
    if (isObject(item)) table.push([queueOf(item), intOf(item, 'offset', 0)]);
  }
  return { ok: true, value: table };
}

export function offsetOf(json: unknown): number {
  return intOf({ offset: json }, 'offset', 0);
}

/** The answers to the requests for a consumer's offsets: of the client itself, and of the broker about all clients. */
export interface ConsumerStatus {
  readonly messageQueueTable: QueueTable<number>;
  readonly consumerTable: ReadonlyMap<string, QueueTable<number>>;
}

export function encodeConsumerStatus(status: ConsumerStatus): Buffer {
  const same = (offset: number): number => offset;
  const consumerTable = new Map([...status.consumerTable].map(([clientId, table]) => [clientId, queueTableJson(table, same)]));
  return Buffer.from(javaJson({ consumerTable, messageQueueTable: queueTableJson(status.messageQueueTable, same) }));
}

export function decodeConsumerStatus(body: Uint8Array): Decoded<ConsumerStatus> {
  const parsed = parseBody(body);
  if (!parsed.ok) return parsed;
  if (!isObject(parsed.value)) return { ok: false, fault: 'body is not a consumer status' };
  const consumers = member(parsed.value, 'consumerTable');
  const consumerTable = new Map(
    entriesOf(parsed.value, 'consumerTable').map(([clientId]) => [clientId, queueTableOf(consumers, clientId, offsetOf)]),
  );
  return { ok: true, value: { messageQueueTable: queueTableOf(parsed.value, 'messageQueueTable', offsetOf), consumerTable } };
}
