// What a consumer reads of a topic, as heartbeats and tools say it.
import { javaHash } from '../../base/bytes.ts';
import { RawJson } from '../../base/json-writer.ts';
import type { Decoded } from '../ext.ts';
import { boolOf, isObject, textListOf, textOf } from './json-body.ts';

export interface SubscriptionData {
  readonly topic: string;
  /** `*`, tags joined by `||`, or an SQL expression. */
  readonly expression: string;
  /** TAG or SQL92; some clients leave TAG out. */
  readonly type: string;
  readonly tags: readonly string[];
  /** Java's hashes of the tags; some clients write them as text. */
  readonly codes: readonly number[];
  /** As text: some clients count in nanoseconds, beyond what a number holds exactly. */
  readonly version: string;
  readonly classFilter: boolean;
}

const VERSION_TEXT = /^-?\d{1,19}$/;

export function subscriptionDataOf(json: unknown): Decoded<SubscriptionData> {
  if (!isObject(json)) return { ok: false, fault: 'subscription is no object' };
  const topic = textOf(json, 'topic', '');
  if (topic === '') return { ok: false, fault: 'subscription has no topic' };
  const version = textOf(json, 'subVersion', '0');
  if (!VERSION_TEXT.test(version)) return { ok: false, fault: `subVersion is no whole number subVersion=${version} topic=${topic}` };
  const tags = textListOf(json, 'tagsSet');
  const codes = textListOf(json, 'codeSet').map(Number).filter(Number.isSafeInteger);
  const type = textOf(json, 'expressionType', '');
  return {
    ok: true,
    value: {
      topic,
      expression: textOf(json, 'subString', '*'),
      type: type === '' ? 'TAG' : type,
      tags,
      codes: codes.length >= tags.length ? codes : tags.map(javaHash),
      version,
      classFilter: boolOf(json, 'classFilterMode'),
    },
  };
}

/** For the JSON writers; the version keeps its digits. */
export function subscriptionDataJson(data: SubscriptionData): Record<string, unknown> {
  return {
    classFilterMode: data.classFilter,
    codeSet: data.codes,
    expressionType: data.type,
    subString: data.expression,
    subVersion: new RawJson(data.version),
    tagsSet: data.tags,
    topic: data.topic,
  };
}
