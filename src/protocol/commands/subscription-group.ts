// Consumer groups of a broker: to set one (200) or several (225), get one (352) or all (201), and delete one (207).
import { bool, defineExt, type ExtOf, int32, optional, text } from '../ext.ts';

//   200      no fields; body: the group          225   no fields; body: a list of groups
//   352      group! s; answer 0 with the group as body
//   201      groupSeq i32 (the first), maxGroupNum i32, dataVersion s; answer: totalGroupNum! i32, body: the table
//   207      groupName! s, cleanOffset b

const request = { group: text };
export type SubscriptionGroupRequest = ExtOf<typeof request>;
export const { decode: decodeSubscriptionGroupRequest, encode: encodeSubscriptionGroupRequest } = defineExt(request);

const allRequest = { groupSeq: optional(int32), maxGroupNum: optional(int32), dataVersion: optional(text) };
export type AllGroupsRequest = ExtOf<typeof allRequest>;
export const { decode: decodeAllGroupsRequest, encode: encodeAllGroupsRequest } = defineExt(allRequest);

const allAnswer = { totalGroupNum: optional(int32) };
export type AllGroupsAnswer = ExtOf<typeof allAnswer>;
export const { decode: decodeAllGroupsAnswer, encode: encodeAllGroupsAnswer } = defineExt(allAnswer);

const deleteRequest = { groupName: text, cleanOffset: optional(bool) };
export type DeleteGroupRequest = ExtOf<typeof deleteRequest>;
export const { decode: decodeDeleteGroupRequest, encode: encodeDeleteGroupRequest } = defineExt(deleteRequest);

export type { SubscriptionGroupData, SubscriptionGroupTable } from '../bodies/subscription-group.ts';
export {
  decodeSubscriptionGroup,
  decodeSubscriptionGroupList,
  decodeSubscriptionGroupTable,
  encodeSubscriptionGroup,
  encodeSubscriptionGroupList,
  encodeSubscriptionGroupTable,
} from '../bodies/subscription-group.ts';
