// What a consumer group is by default, and which groups every broker has.
import { type SubscriptionGroupData, subscriptionGroupOf } from '../protocol/bodies/subscription-group.ts';

export type GroupConfig = SubscriptionGroupData;

/** A group with the defaults of stock brokers. */
export function groupConfig(groupName: string): GroupConfig {
  return subscriptionGroupOf({ groupName });
}

/** Both are plain JSON in the same order of fields. */
export function sameGroupConfig(a: GroupConfig, b: GroupConfig): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Groups that every broker has. */
export const builtInGroups: readonly GroupConfig[] = [
  'TOOLS_CONSUMER',
  'FILTERSRV_CONSUMER',
  'SELF_TEST_C_GROUP',
  'CID_ONS-HTTP-PROXY',
  'CID_ONSAPI_PULL',
  'CID_ONSAPI_PERMISSION',
  'CID_ONSAPI_OWNER',
  'CID_RMQ_SYS_TRANS',
].map(groupConfig);

const builtInNames: ReadonlySet<string> = new Set(builtInGroups.map((config) => config.groupName));

export function isBuiltInGroup(group: string): boolean {
  return builtInNames.has(group);
}

/** Groups that a heartbeat alone does not make. */
export function isSystemGroup(group: string): boolean {
  return group.startsWith('CID_RMQ_SYS_');
}
