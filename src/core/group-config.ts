// What a consumer group is by default, and which groups every broker has.
import { compactJson } from '../base/json-writer.ts';
import { type SubscriptionGroupData, subscriptionGroupOf } from '../protocol/bodies/subscription-group.ts';

export type GroupConfig = SubscriptionGroupData;

/** A group with the defaults of stock brokers. */
export function groupConfig(groupName: string): GroupConfig {
  return subscriptionGroupOf({ groupName });
}

/** Letters of what a group keeps as it came, of the text that it is in its file. */
const KEPT_SIZE_MAX = 64 * 1024;
const NUMBER_MAX = 2 ** 31 - 1;

/** Why a group cannot be so; null where it can. Stock clients read its numbers as 32 bits. */
export function groupConfigFault(config: GroupConfig): string | null {
  const { groupName, attributes, groupRetryPolicy, subscriptionDataSet = null } = config;
  const names = Object.keys(attributes);
  if (names.length > 0) return `group attributes are not known group=${groupName} attributes=${names.join(', ')} allowed=none`;
  for (const name of ['retryQueueNums', 'retryMaxTimes', 'groupSysFlag', 'consumeTimeoutMinute'] as const) {
    const value = config[name];
    if (value > NUMBER_MAX || value < -NUMBER_MAX - 1)
      return `${name} is out of range group=${groupName} ${name}=${value} max=${NUMBER_MAX}`;
  }
  const size = compactJson([groupRetryPolicy, subscriptionDataSet]).length;
  if (size <= KEPT_SIZE_MAX) return null;
  return `groupRetryPolicy and subscriptionDataSet are too long group=${groupName} size=${size} max=${KEPT_SIZE_MAX}`;
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
