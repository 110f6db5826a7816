// UPDATE_AND_GET_GROUP_FORBIDDEN (353): whether a group may read a topic; it is changed only where `readable` is there.
import { compactJson } from '../../base/json-writer.ts';
import { bool, defineExt, type ExtOf, optional, text } from '../ext.ts';

//   request  group! s, topic! s, readable b
//   answer   0 with {"group":…,"readable":…,"topic":…} as body

const request = { group: text, topic: text, readable: optional(bool) };
export type GroupForbiddenRequest = ExtOf<typeof request>;
export const { decode: decodeGroupForbiddenRequest, encode: encodeGroupForbiddenRequest } = defineExt(request);

export function encodeGroupForbidden(group: string, topic: string, readable: boolean): Buffer {
  return Buffer.from(compactJson({ group, readable, topic }));
}
