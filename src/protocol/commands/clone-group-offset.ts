// CLONE_GROUP_OFFSET (314): a group takes over the offsets of another.
import { bool, defineExt, type ExtOf, optional, text } from '../ext.ts';

//   request  srcGroup! s, destGroup! s, topic s (absent: all that the source has offsets of), offline b
//   answer   0 without fields

const request = { srcGroup: text, destGroup: text, topic: optional(text), offline: optional(bool) };
export type CloneGroupOffsetRequest = ExtOf<typeof request>;
export const { decode: decodeCloneGroupOffsetRequest, encode: encodeCloneGroupOffsetRequest } = defineExt(request);
