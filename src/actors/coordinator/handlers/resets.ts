// Requests of tools that move a group: to a time, to an offset, to where another group is.
import { NO_OFFSET } from '../../../core/offset-table.ts';
import { encodeOffsetList, encodeOffsetTable, type MessageQueue } from '../../../protocol/bodies/message-queue.ts';
import { RequestCodes, ResponseCodes } from '../../../protocol/codes.ts';
import { type CloneGroupOffsetRequest, decodeCloneGroupOffsetRequest } from '../../../protocol/commands/clone-group-offset.ts';
import { decodeResetOffsetRequest, encodeResetOffsetRequest, type ResetOffsetRequest } from '../../../protocol/commands/reset-offset.ts';
import { languageName, Versions } from '../../../protocol/versions.ts';
import { LookUps } from '../../messages.ts';
import type { Desk } from '../desk.ts';
import { decoding, done, type HandlerRow, LATER, type Reply, type Request, refuse, withBody } from '../request.ts';
import { tooOld } from './relays.ts';

export const resetHandlers: readonly HandlerRow[] = [
  [RequestCodes.INVOKE_BROKER_TO_RESET_OFFSET, decoding(decodeResetOffsetRequest, onReset)],
  [RequestCodes.CLONE_GROUP_OFFSET, decoding(decodeCloneGroupOffsetRequest, onClone)],
];

const ALL_QUEUES = -1;

/** Where each queue's target is known at once the request is answered at once; times are looked up first. */
function onReset(desk: Desk, wish: ResetOffsetRequest, request: Request): Reply | typeof LATER {
  const refusal = resetFault(desk, wish);
  if (refusal !== null) return refusal;
  const queueIds = queuesOf(desk, wish);
  if (wish.timestamp >= 0 && !namesOffset(wish)) {
    const lookUps = queueIds.map((queueId) => ({
      key: desk.topics.keys.keyOf(wish.topic, queueId),
      kind: LookUps.firstAtOrAfter,
      argument: Math.min(wish.timestamp, Number.MAX_SAFE_INTEGER),
    }));
    desk.lookUps.ask(lookUps, (values) => desk.answerLater(request, afterLookUp(desk, wish, request, queueIds, values), true));
    return LATER;
  }
  const { topic, offset = NO_OFFSET } = wish;
  return apply(desk, wish, request, queueIds, (queueId) => (namesOffset(wish) ? offset : desk.topics.endOf(topic, queueId)));
}

function namesOffset({ queueId = ALL_QUEUES, offset = NO_OFFSET }: ResetOffsetRequest): boolean {
  return queueId >= 0 && offset !== NO_OFFSET;
}

function resetFault(desk: Desk, wish: ResetOffsetRequest): Reply | null {
  const { topic, group, queueId = ALL_QUEUES, offset = NO_OFFSET } = wish;
  const config = desk.topics.table.get(topic);
  if (config === undefined) return refuse(ResponseCodes.TOPIC_NOT_EXIST, `Topic ${topic} does not exist`);
  if (!desk.groups.table.has(group)) return refuse(ResponseCodes.SUBSCRIPTION_GROUP_NOT_EXIST, `Group ${group} does not exist`);
  if (queueId >= config.readQueueNums) {
    const remark = `queueId is out of range queueId=${queueId} allowed=-1 to ${config.readQueueNums - 1} topic=${topic}`;
    return refuse(ResponseCodes.INVALID_PARAMETER, remark);
  }
  if (!namesOffset(wish)) return null;
  const min = desk.topics.beginOf(topic, queueId);
  const max = desk.topics.endOf(topic, queueId);
  if (offset >= min && offset <= max + 1) return null;
  return refuse(ResponseCodes.SYSTEM_ERROR, `Target offset ${offset} not in consume queue range [${min}-${max}]`);
}

function queuesOf(desk: Desk, { topic, queueId = ALL_QUEUES }: ResetOffsetRequest): number[] {
  if (queueId >= 0) return [queueId];
  return Array.from({ length: desk.topics.table.get(topic)?.readQueueNums ?? 0 }, (_, index) => index);
}

function afterLookUp(desk: Desk, wish: ResetOffsetRequest, request: Request, queueIds: number[], values: readonly number[] | null): Reply {
  if (values === null) return refuse(ResponseCodes.SYSTEM_ERROR, 'offsets at that time could not be looked up; try again');
  // Topic, group and queues may have gone meanwhile.
  return resetFault(desk, wish) ?? apply(desk, wish, request, queueIds, (queueId) => values[queueIds.indexOf(queueId)] ?? NO_OFFSET);
}

function apply(desk: Desk, wish: ResetOffsetRequest, request: Request, queueIds: number[], targetOf: (queueId: number) => number): Reply {
  const { topic } = wish;
  const offsets = new Map<number, number>();
  for (const queueId of queueIds) {
    // Between the look-up and now retention may have taken more; nobody can go on beyond the end.
    const target = Math.max(desk.topics.beginOf(topic, queueId), targetOf(queueId));
    offsets.set(queueId, Math.min(target, desk.topics.endOf(topic, queueId)));
  }
  return desk.context.settings.useServerSideResetOffset || namesOffset(wish)
    ? resetByPulls(desk, wish, request, offsets)
    : resetByMembers(desk, wish, request, offsets);
}

/** Members learn of it by their next pulls; the group need not be online. */
function resetByPulls(desk: Desk, { group, topic, timestamp }: ResetOffsetRequest, request: Request, offsets: Map<number, number>): Reply {
  if (!desk.resetOffsets(group, topic, offsets, 'pull')) return tooMany(desk);
  logReset(desk, group, topic, timestamp, offsets, request);
  return withBody(encodeOffsetTable(tableOf(desk, topic, offsets)));
}

/** Members are told by a request: the way of brokers before 5.0. Without `isForce` nobody moves forwards. */
function resetByMembers(desk: Desk, wish: ResetOffsetRequest, request: Request, offsets: Map<number, number>): Reply {
  const { group, topic, timestamp, isForce } = wish;
  const members = [...(desk.consumers.get(group)?.members.values() ?? [])];
  if (members.length === 0) {
    const remark = `Consumer not online, so can not reset offset, Group: ${group} Topic: ${topic} Timestamp: ${timestamp}`;
    return refuse(ResponseCodes.CONSUMER_NOT_ONLINE, remark);
  }
  const old = members.find(({ version }) => version < Versions.V3_0_7_SNAPSHOT);
  if (old !== undefined) return tooOld(old);
  if (!isForce) {
    for (const [queueId, offset] of offsets) {
      const committed = desk.offsets.table.get(group, topic, queueId);
      if (committed >= 0) offsets.set(queueId, Math.min(offset, committed));
    }
  }
  if (!desk.resetOffsets(group, topic, offsets, 'client')) return tooMany(desk);
  logReset(desk, group, topic, timestamp, offsets, request);
  const table = tableOf(desk, topic, offsets);
  const body = languageName(request.header.language) === 'CPP' ? encodeOffsetList(table) : encodeOffsetTable(table);
  const ext = encodeResetOffsetRequest({ topic, group, timestamp, isForce, queueId: wish.queueId ?? ALL_QUEUES });
  for (const { link } of members) {
    const found = desk.links.byId(link);
    if (found !== undefined) desk.calls.tell(found, RequestCodes.RESET_CONSUMER_CLIENT_OFFSET, ext, body);
  }
  return withBody(encodeOffsetTable(table));
}

function tooMany(desk: Desk): Reply {
  const { size } = desk.offsets.resets;
  return refuse(
    ResponseCodes.SYSTEM_ERROR,
    `too many resets are under way resets=${size} max=${desk.context.settings.maxQueueCount}; try again`,
  );
}

function tableOf(desk: Desk, topic: string, offsets: ReadonlyMap<number, number>): [MessageQueue, number][] {
  const { brokerName } = desk.context.settings;
  return [...offsets].map(([queueId, offset]) => [{ topic, brokerName, queueId }, offset]);
}

function logReset(
  desk: Desk,
  group: string,
  topic: string,
  timestamp: number,
  offsets: ReadonlyMap<number, number>,
  { link }: Request,
): void {
  const by = link === undefined ? '' : `${link.host}:${link.port}`;
  desk.context.log.info('offsets of a group are reset', { group, topic, timestamp, queues: offsets.size, by });
}

/** A group with members is moved as by a reset: else what they commit next would undo it. */
function onClone(desk: Desk, { srcGroup, destGroup, topic = '', offline = false }: CloneGroupOffsetRequest): Reply {
  if (!desk.groups.table.has(destGroup)) {
    return refuse(ResponseCodes.SUBSCRIPTION_GROUP_NOT_EXIST, `Group ${destGroup} does not exist`);
  }
  const topics = topic.trim() === '' ? desk.offsets.table.topicsOf(srcGroup) : [topic];
  const source = desk.consumers.get(srcGroup);
  for (const each of topics) {
    if (!desk.topics.table.has(each)) continue;
    if (!offline && source !== undefined && source.merged.size > 0 && !source.merged.has(each)) continue;
    const offsets = desk.offsets.table.row(srcGroup, each);
    if (offsets === undefined) continue;
    if (!desk.setOffsets(destGroup, each, new Map(offsets))) return tooMany(desk);
  }
  return done;
}
