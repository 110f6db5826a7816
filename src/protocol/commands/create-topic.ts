// UPDATE_AND_CREATE_TOPIC (17), and UPDATE_AND_CREATE_TOPIC_LIST (18), whose body is a list of topics.
import { bool, type Decoded, defineExt, type ExtOf, int32, optional, text } from '../ext.ts';

//   request  topic! s, defaultTopic s, readQueueNums! i32, writeQueueNums! i32, perm! i32, topicFilterType s, topicSysFlag i32,
//            order b, attributes s, force b
//   answer   0 without fields
//   attributes = "" | change *("," change)      change = "+" name "=" value | "-" name

const request = {
  topic: text,
  defaultTopic: optional(text),
  readQueueNums: int32,
  writeQueueNums: int32,
  perm: int32,
  topicFilterType: optional(text),
  topicSysFlag: optional(int32),
  order: optional(bool),
  attributes: optional(text),
  force: optional(bool),
};
export type CreateTopicRequest = ExtOf<typeof request>;
export const { decode: decodeCreateTopicRequest, encode: encodeCreateTopicRequest } = defineExt(request);
export { decodeTopicConfigList, encodeTopicConfigList } from '../bodies/topic-config.ts';

/** What is to become of attributes: a value by name, null for one that is to go. */
export type AttributeChanges = ReadonlyMap<string, string | null>;

export function decodeAttributeChanges(attributes: string): Decoded<AttributeChanges> {
  const changes = new Map<string, string | null>();
  for (const change of attributes.split(',')) {
    if (change === '') continue;
    const equals = change.indexOf('=');
    const name = change.slice(1, equals < 0 ? undefined : equals);
    if (name === '') return { ok: false, fault: `attribute has no name attribute=${change}` };
    if (change.startsWith('+') && equals > 0) changes.set(name, change.slice(equals + 1));
    else if (change.startsWith('-') && equals < 0) changes.set(name, null);
    else return { ok: false, fault: `attribute is not as allowed attribute=${change} allowed=+name=value, -name` };
  }
  return { ok: true, value: changes };
}

export function encodeAttributeChanges(changes: AttributeChanges): string {
  return [...changes].map(([name, value]) => (value === null ? `-${name}` : `+${name}=${value}`)).join(',');
}
