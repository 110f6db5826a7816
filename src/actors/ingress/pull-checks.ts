// Whether a pull may be served, with the code, text and fields for one that may not; in the order in which stock brokers judge.
import { groupFault } from '../../message/names.ts';
import { parseTagExpression } from '../../message/tags.ts';
import { ResponseCodes } from '../../protocol/codes.ts';
import type { PullRequest } from '../../protocol/commands/pull-message.ts';
import type { DirectoryGroup, DirectoryLiveGroup } from '../messages.ts';
import type { ClientConnection } from './client-connection.ts';
import type { Desk } from './desk.ts';
import { subscriptionOf } from './directory.ts';

export type PullVerdict =
  | { readonly ok: true; readonly queueKey: number; readonly codes: readonly number[] | null; readonly group: DirectoryGroup }
  | { readonly ok: false; readonly code: number; readonly remark: string; readonly ext?: Record<string, string | number> };

export type Refusal = PullVerdict & { readonly ok: false };

export const PERM_READ = 4;

/** `forbiddenType` values of the answer. */
const ForbiddenBy = { broker: 1, group: 2, topic: 3, broadcast: 4, subscription: 5 } as const;

/** A group that nobody has made yet reads as one with default settings where groups are made by themselves. */
export const unmadeGroup: DirectoryGroup = {
  consumeEnable: true,
  consumeBroadcastEnable: true,
  sysFlag: 0,
  retryMaxTimes: 16,
  retryQueueCount: 1,
  brokerId: 0,
  slowBrokerId: 1,
  forbiddenTopics: [],
  lockedTopics: [],
  live: null,
  resets: null,
};

/** A member's pull is judged by what it said itself; one of a connection that is no member by what all members said. */
export function judgePull(desk: Desk, request: PullRequest, client: ClientConnection): PullVerdict {
  const { settings } = desk.context;
  if ((settings.brokerPermission & PERM_READ) === 0)
    return forbidden(ForbiddenBy.broker, `the broker[${settings.brokerIP1}] pulling message is forbidden`);
  if (request.litePull && !settings.litePullMessageEnable) {
    return forbidden(ForbiddenBy.broker, `the broker[${settings.brokerIP1}] for lite pull consumer is forbidden`);
  }
  const group = desk.directory.group(request.group) ?? groupToBe(settings.autoCreateSubscriptionGroup, request.group);
  if (group === undefined)
    return refuse(ResponseCodes.SUBSCRIPTION_GROUP_NOT_EXIST, `subscription group [${request.group}] does not exist`);
  if (!group.consumeEnable) return groupForbidden(request.group);
  const topic = desk.directory.topic(request.topic);
  if (topic === undefined) return refuse(ResponseCodes.TOPIC_NOT_EXIST, `topic[${request.topic}] not exist, apply first please!`);
  if ((topic.perm & PERM_READ) === 0) return topicForbidden(request.topic);
  if (request.queueId < 0 || request.queueId >= topic.readQueueCount) {
    return refuse(
      ResponseCodes.INVALID_PARAMETER,
      `queueId[${request.queueId}] is illegal, topic:[${request.topic}] topicConfig.readQueueNums:[${topic.readQueueCount}] consumer:[${client.connection.remoteHost}:${client.connection.remotePort}]`,
    );
  }
  const live = client.memberships.get(request.group) ?? group.live;
  if (live?.broadcasting && !group.consumeBroadcastEnable) return broadcastForbidden(request.group);
  if (group.forbiddenTopics.includes(request.topic)) return pairForbidden(request.group, request.topic);
  const filter = request.hasSubscription ? ownFilter(request) : liveFilter(live, request);
  if ('ok' in filter) return filter;
  return { ok: true, queueKey: topic.keys[request.queueId] as number, codes: filter.codes, group };
}

/** Why a pull that waits may be served no longer, after its group or its topic changed; null where it may. */
export function judgeWaiting(desk: Desk, groupName: string, topicName: string, client: ClientConnection): Refusal | null {
  const group = desk.directory.group(groupName);
  const topic = desk.directory.topic(topicName);
  if (topic !== undefined && (topic.perm & PERM_READ) === 0) return topicForbidden(topicName);
  if (group === undefined) return null;
  if (!group.consumeEnable) return groupForbidden(groupName);
  const live = client.memberships.get(groupName) ?? group.live;
  if (live?.broadcasting && !group.consumeBroadcastEnable) return broadcastForbidden(groupName);
  return group.forbiddenTopics.includes(topicName) ? pairForbidden(groupName, topicName) : null;
}

function groupForbidden(group: string): Refusal {
  return forbidden(ForbiddenBy.group, `subscription group no permission, ${group}`);
}

function topicForbidden(topic: string): Refusal {
  return forbidden(ForbiddenBy.topic, `the topic[${topic}] pulling message is forbidden`);
}

function broadcastForbidden(group: string): Refusal {
  return forbidden(ForbiddenBy.broadcast, `the consumer group[${group}] can not consume by broadcast way`);
}

function pairForbidden(group: string, topic: string): Refusal {
  return forbidden(ForbiddenBy.subscription, `the consumer group[${group}] is forbidden for topic[${topic}]`);
}

/** A group with a name that nobody may give it is not made, so it does not exist either. */
function groupToBe(madeByItself: boolean, name: string): DirectoryGroup | undefined {
  return madeByItself && groupFault(name) === null ? unmadeGroup : undefined;
}

interface Filter {
  readonly codes: readonly number[] | null;
}

/** The expression that came with the pull counts alone. */
function ownFilter(request: PullRequest): Filter | Refusal {
  if (request.expressionType !== '' && request.expressionType !== 'TAG') return otherType(request.expressionType);
  const parsed = parseTagExpression(request.subscription);
  if (!parsed.ok) return refuse(ResponseCodes.SUBSCRIPTION_PARSE_FAILED, `parse the consumer's subscription failed: ${parsed.fault}`);
  return { codes: parsed.all ? null : parsed.codes };
}

/** What was said in heartbeats. */
function liveFilter(live: DirectoryLiveGroup | null, request: PullRequest): Filter | Refusal {
  if (live === null) return refuse(ResponseCodes.SUBSCRIPTION_NOT_EXIST, "the consumer's group info not exist");
  const subscription = subscriptionOf(live, request.topic);
  if (subscription === undefined) return refuse(ResponseCodes.SUBSCRIPTION_NOT_EXIST, "the consumer's subscription not exist");
  if (isOlder(subscription.version, request.subVersion)) {
    return refuse(ResponseCodes.SUBSCRIPTION_NOT_LATEST, "the consumer's subscription not latest");
  }
  if (subscription.type !== '' && subscription.type !== 'TAG') return otherType(subscription.type);
  return { codes: subscription.codes };
}

/** Decimal texts of 64 bits: nanoseconds of some clients are beyond a double. */
function isOlder(version: string, than: string): boolean {
  const difference = Number(version) - Number(than);
  if (Number.isFinite(difference) && Math.abs(difference) > 4096) return difference < 0;
  return version !== than && BigInt(version) < BigInt(than);
}

function otherType(type: string): Refusal {
  return refuse(
    ResponseCodes.SUBSCRIPTION_PARSE_FAILED,
    `parse the consumer's subscription failed: expression type ${type} is not served by this version, TAG is`,
  );
}

function forbidden(by: number, remark: string): Refusal {
  return {
    ok: false,
    code: ResponseCodes.NO_PERMISSION,
    remark,
    ext: { forbiddenType: by, suggestWhichBrokerId: 0, nextBeginOffset: 0, minOffset: 0, maxOffset: 0 },
  };
}

function refuse(code: number, remark: string): Refusal {
  return { ok: false, code, remark };
}
