// Consumer groups as administration sends and gets them: one, a list, or the whole table with its version.
import { compactJson } from '../../base/json-writer.ts';
import type { Decoded } from '../ext.ts';
import { type DataVersion, dataVersionJson, dataVersionOf } from './data-version.ts';
import { boolOf, entriesOf, intOf, isObject, listOf, member, parseBody, textOf, textOfValue } from './json-body.ts';

export interface SubscriptionGroupData {
  readonly groupName: string;
  readonly consumeEnable: boolean;
  readonly consumeFromMinEnable: boolean;
  readonly consumeBroadcastEnable: boolean;
  readonly consumeMessageOrderly: boolean;
  readonly retryQueueNums: number;
  readonly retryMaxTimes: number;
  /** Kept as it came. */
  readonly groupRetryPolicy: unknown;
  readonly brokerId: number;
  readonly whichBrokerWhenConsumeSlowly: number;
  readonly notifyConsumerIdsChangedEnable: boolean;
  readonly groupSysFlag: number;
  readonly consumeTimeoutMinute: number;
  /** Kept as it came. */
  readonly subscriptionDataSet?: readonly unknown[];
  readonly attributes: Readonly<Record<string, string>>;
}

/** Members in alphabetical order, as stock brokers write them. */
export function subscriptionGroupJson(group: SubscriptionGroupData): Record<string, unknown> {
  return {
    attributes: group.attributes,
    brokerId: group.brokerId,
    consumeBroadcastEnable: group.consumeBroadcastEnable,
    consumeEnable: group.consumeEnable,
    consumeFromMinEnable: group.consumeFromMinEnable,
    consumeMessageOrderly: group.consumeMessageOrderly,
    consumeTimeoutMinute: group.consumeTimeoutMinute,
    groupName: group.groupName,
    groupRetryPolicy: group.groupRetryPolicy,
    groupSysFlag: group.groupSysFlag,
    notifyConsumerIdsChangedEnable: group.notifyConsumerIdsChangedEnable,
    retryMaxTimes: group.retryMaxTimes,
    retryQueueNums: group.retryQueueNums,
    subscriptionDataSet: group.subscriptionDataSet,
    whichBrokerWhenConsumeSlowly: group.whichBrokerWhenConsumeSlowly,
  };
}

/** Missing fields get the defaults of stock brokers. */
export function subscriptionGroupOf(json: unknown, name = ''): SubscriptionGroupData {
  const flag = (field: string, missing: boolean): boolean => (member(json, field) === undefined ? missing : boolOf(json, field));
  const policy = member(json, 'groupRetryPolicy');
  const subscriptions = member(json, 'subscriptionDataSet');
  return {
    groupName: textOf(json, 'groupName', name),
    consumeEnable: flag('consumeEnable', true),
    consumeFromMinEnable: flag('consumeFromMinEnable', true),
    consumeBroadcastEnable: flag('consumeBroadcastEnable', true),
    consumeMessageOrderly: flag('consumeMessageOrderly', false),
    retryQueueNums: intOf(json, 'retryQueueNums', 1),
    retryMaxTimes: intOf(json, 'retryMaxTimes', 16),
    groupRetryPolicy: isObject(policy) ? policy : { type: 'CUSTOMIZED' },
    brokerId: intOf(json, 'brokerId', 0),
    whichBrokerWhenConsumeSlowly: intOf(json, 'whichBrokerWhenConsumeSlowly', 1),
    notifyConsumerIdsChangedEnable: flag('notifyConsumerIdsChangedEnable', true),
    groupSysFlag: intOf(json, 'groupSysFlag', 0),
    consumeTimeoutMinute: intOf(json, 'consumeTimeoutMinute', 15),
    ...(Array.isArray(subscriptions) ? { subscriptionDataSet: subscriptions } : {}),
    attributes: Object.fromEntries(entriesOf(json, 'attributes').map(([key, value]) => [key, textOfValue(value)])),
  };
}

export function encodeSubscriptionGroup(group: SubscriptionGroupData): Buffer {
  return Buffer.from(compactJson(subscriptionGroupJson(group)));
}

export function decodeSubscriptionGroup(body: Uint8Array): Decoded<SubscriptionGroupData> {
  const parsed = parseBody(body);
  if (!parsed.ok) return parsed;
  return named(subscriptionGroupOf(parsed.value));
}

function named(group: SubscriptionGroupData): Decoded<SubscriptionGroupData> {
  return group.groupName === '' ? { ok: false, fault: 'group has no groupName' } : { ok: true, value: group };
}

export function encodeSubscriptionGroupList(groups: readonly SubscriptionGroupData[]): Buffer {
  return Buffer.from(compactJson({ groupConfigList: groups.map(subscriptionGroupJson) }));
}

export function decodeSubscriptionGroupList(body: Uint8Array): Decoded<SubscriptionGroupData[]> {
  const parsed = parseBody(body);
  if (!parsed.ok) return parsed;
  if (!Array.isArray(member(parsed.value, 'groupConfigList'))) return { ok: false, fault: 'body has no groupConfigList' };
  const groups: SubscriptionGroupData[] = [];
  for (const item of listOf(parsed.value, 'groupConfigList')) {
    const group = named(subscriptionGroupOf(item));
    if (!group.ok) return group;
    groups.push(group.value);
  }
  return { ok: true, value: groups };
}

export interface SubscriptionGroupTable {
  readonly groups: readonly SubscriptionGroupData[];
  /** Bits of what a group may not do with a topic: group, topic, bits. */
  readonly forbidden: ReadonlyMap<string, ReadonlyMap<string, number>>;
  readonly dataVersion: DataVersion;
}

export function encodeSubscriptionGroupTable(table: SubscriptionGroupTable): Buffer {
  const groups = new Map(table.groups.map((group) => [group.groupName, subscriptionGroupJson(group)]));
  const dataVersion = dataVersionJson(table.dataVersion);
  return Buffer.from(compactJson({ dataVersion, forbiddenTable: table.forbidden, subscriptionGroupTable: groups }));
}

export function decodeSubscriptionGroupTable(body: Uint8Array): Decoded<SubscriptionGroupTable> {
  const parsed = parseBody(body);
  if (!parsed.ok) return parsed;
  if (!isObject(parsed.value)) return { ok: false, fault: 'body is not a table of groups' };
  const groups = entriesOf(parsed.value, 'subscriptionGroupTable').map(([name, json]) => subscriptionGroupOf(json, name));
  const forbidden = new Map(
    entriesOf(parsed.value, 'forbiddenTable').map(([group, topics]) => [
      group,
      new Map(Object.keys(isObject(topics) ? topics : {}).map((topic) => [topic, intOf(topics, topic, 0)])),
    ]),
  );
  return { ok: true, value: { groups, forbidden, dataVersion: dataVersionOf(member(parsed.value, 'dataVersion')) } };
}
