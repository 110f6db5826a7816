// What a consumer group is made of, its defaults, and how it is read leniently.
import { boolOf, entriesOf, intOf, isObject, type JsonObject, member, textOf } from '../protocol/bodies/json-body.ts';

export interface GroupConfig {
  readonly groupName: string;
  readonly consumeEnable: boolean;
  readonly consumeFromMinEnable: boolean;
  readonly consumeBroadcastEnable: boolean;
  readonly consumeMessageOrderly: boolean;
  readonly retryQueueNums: number;
  readonly retryMaxTimes: number;
  /** Kept as it came: only POP and the proxy look inside. */
  readonly groupRetryPolicy: unknown;
  readonly brokerId: number;
  readonly whichBrokerWhenConsumeSlowly: number;
  readonly notifyConsumerIdsChangedEnable: boolean;
  readonly groupSysFlag: number;
  readonly consumeTimeoutMinute: number;
  readonly subscriptionDataSet?: readonly unknown[];
  readonly attributes: Readonly<Record<string, string>>;
}

export function groupConfig(groupName: string): GroupConfig {
  return {
    groupName,
    consumeEnable: true,
    consumeFromMinEnable: true,
    consumeBroadcastEnable: true,
    consumeMessageOrderly: false,
    retryQueueNums: 1,
    retryMaxTimes: 16,
    groupRetryPolicy: { type: 'CUSTOMIZED' },
    brokerId: 0,
    whichBrokerWhenConsumeSlowly: 1,
    notifyConsumerIdsChangedEnable: true,
    groupSysFlag: 0,
    consumeTimeoutMinute: 15,
    attributes: {},
  };
}

/** Missing fields get their defaults. Null where `json` is no object. */
export function groupConfigOf(json: unknown, name = ''): GroupConfig | null {
  if (!isObject(json)) return null;
  const d = groupConfig(textOf(json, 'groupName', name));
  const subscriptions = member(json, 'subscriptionDataSet');
  const policy = member(json, 'groupRetryPolicy');
  return {
    groupName: d.groupName,
    consumeEnable: flagOf(json, 'consumeEnable', d.consumeEnable),
    consumeFromMinEnable: flagOf(json, 'consumeFromMinEnable', d.consumeFromMinEnable),
    consumeBroadcastEnable: flagOf(json, 'consumeBroadcastEnable', d.consumeBroadcastEnable),
    consumeMessageOrderly: flagOf(json, 'consumeMessageOrderly', d.consumeMessageOrderly),
    retryQueueNums: intOf(json, 'retryQueueNums', d.retryQueueNums),
    retryMaxTimes: intOf(json, 'retryMaxTimes', d.retryMaxTimes),
    groupRetryPolicy: isObject(policy) ? policy : d.groupRetryPolicy,
    brokerId: intOf(json, 'brokerId', d.brokerId),
    whichBrokerWhenConsumeSlowly: intOf(json, 'whichBrokerWhenConsumeSlowly', d.whichBrokerWhenConsumeSlowly),
    notifyConsumerIdsChangedEnable: flagOf(json, 'notifyConsumerIdsChangedEnable', d.notifyConsumerIdsChangedEnable),
    groupSysFlag: intOf(json, 'groupSysFlag', d.groupSysFlag),
    consumeTimeoutMinute: intOf(json, 'consumeTimeoutMinute', d.consumeTimeoutMinute),
    ...(Array.isArray(subscriptions) ? { subscriptionDataSet: subscriptions } : {}),
    attributes: Object.fromEntries(entriesOf(json, 'attributes').map(([key, value]) => [key, String(value)])),
  };
}

function flagOf(json: JsonObject, name: string, missing: boolean): boolean {
  return member(json, name) === undefined ? missing : boolOf(json, name);
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
