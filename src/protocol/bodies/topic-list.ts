// The body that lists topics, for tools.
import { compactJson } from '../../base/json-writer.ts';
import type { Decoded } from '../ext.ts';
import { isObject, member, parseBody, textListOf } from './json-body.ts';

export interface TopicList {
  readonly topicList: readonly string[];
  /** A broker to ask further, in the list of system topics. */
  readonly brokerAddr?: string | undefined;
}

export function encodeTopicList(list: TopicList): Buffer {
  return Buffer.from(compactJson({ brokerAddr: list.brokerAddr, topicList: list.topicList }));
}

export function decodeTopicList(body: Uint8Array): Decoded<TopicList> {
  const parsed = parseBody(body);
  if (!parsed.ok) return parsed;
  if (!isObject(parsed.value)) return { ok: false, fault: 'body is not a topic list' };
  const brokerAddr = member(parsed.value, 'brokerAddr');
  const topicList = textListOf(parsed.value, 'topicList');
  return { ok: true, value: typeof brokerAddr === 'string' ? { topicList, brokerAddr } : { topicList } };
}
