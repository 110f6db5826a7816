// Requests of clients about themselves: heartbeats, leaving, who else is there, whether a subscription can be served.
import type { ClientInfo } from '../../../core/consumer-groups.ts';
import { CLIENT_DECIDES } from '../../../core/start-offset.ts';
import { shapeOf } from '../../../core/subscription.ts';
import { groupFault, topicFault } from '../../../message/names.ts';
import { RequestCodes, ResponseCodes } from '../../../protocol/codes.ts';
import { decodeCheckClient } from '../../../protocol/commands/check-client-config.ts';
import { decodeConsumerListRequest, encodeConsumerIds } from '../../../protocol/commands/consumer-list.ts';
import { type ConsumerData, decodeHeartbeat, encodeHeartbeatAnswer, type HeartbeatData } from '../../../protocol/commands/heartbeat.ts';
import { decodeUnregisterClientRequest } from '../../../protocol/commands/unregister-client.ts';
import type { Header } from '../../../protocol/header.ts';
import { languageCode, languageName } from '../../../protocol/versions.ts';
import type { Desk } from '../desk.ts';
import type { Link } from '../links.ts';
import { GROUPS_PER_LINK_MAX } from '../membership.ts';
import { badRequest, decoding, done, type HandlerRow, type Reply, type Request, refuse, withBody } from '../request.ts';

export const memberHandlers: readonly HandlerRow[] = [
  [RequestCodes.HEART_BEAT, onHeartbeat],
  [RequestCodes.UNREGISTER_CLIENT, decoding(decodeUnregisterClientRequest, onUnregister)],
  [RequestCodes.GET_CONSUMER_LIST_BY_GROUP, decoding(decodeConsumerListRequest, (desk, r) => onMembers(desk, r.consumerGroup))],
  [RequestCodes.CHECK_CLIENT_CONFIG, onCheck],
];

/** Clients stay with whole heartbeats: short ones would need a fingerprint per group, and members that differ would flap. */
const wholeHeartbeats = encodeHeartbeatAnswer({ IS_SUPPORT_HEART_BEAT_V2: false, IS_SUB_CHANGE: true });

function onHeartbeat(desk: Desk, request: Request): Reply {
  const decoded = decodeHeartbeat(request.body);
  if (!decoded.ok) return badRequest(`heartbeat body: ${decoded.fault}`);
  const beat = decoded.value;
  if (beat.consumers.length > GROUPS_PER_LINK_MAX || beat.producerGroups.length > GROUPS_PER_LINK_MAX) {
    return badRequest(
      `heartbeat names too many groups consumers=${beat.consumers.length} producers=${beat.producerGroups.length} max=${GROUPS_PER_LINK_MAX}`,
    );
  }
  const { link, header } = request;
  // A connection that is closed already has no members, in whatever order that became known.
  if (link === undefined) return { ...done, ext: wholeHeartbeats };
  const client = clientOf(desk, header, beat);
  const warnings: string[] = [];
  for (const consumer of beat.consumers) {
    const refused = beatConsumer(desk, link, client, beat, consumer, warnings);
    if (refused !== null) return refused;
  }
  if (desk.context.settings.enableRegisterProducer) {
    for (const group of beat.producerGroups) if (groupFault(group) === null) desk.membership.producerBeat(group, link, client);
  }
  return { ...done, ext: wholeHeartbeats, remark: warnings.length === 0 ? undefined : warnings.join('; ') };
}

function clientOf(desk: Desk, header: Header, beat: HeartbeatData): ClientInfo {
  const name = languageName(languageCode(header.language));
  return {
    clientId: beat.clientId,
    // Tools read it as one of the names they know.
    language: typeof name === 'string' ? name : 'OTHER',
    version: header.version,
    lastSeenMs: desk.context.clock.wallMs(),
  };
}

/** Null, or why the heartbeat is refused. A group that cannot be made is passed over, as stock clients expect. */
function beatConsumer(
  desk: Desk,
  link: Link,
  client: ClientInfo,
  beat: HeartbeatData,
  consumer: ConsumerData,
  warnings: string[],
): Reply | null {
  const { group } = consumer;
  const subscriptions = consumer.subscriptions.filter((s) => topicFault(s.topic) === null);
  if (desk.context.settings.strictSubscription && !beat.withoutSub) {
    const other = desk.consumers.differing(group, client.clientId, subscriptions);
    if (other !== null) {
      return refuse(
        ResponseCodes.SYSTEM_ERROR,
        `subscription differs from that of the group's other members group=${group} own=${shapeOf(subscriptions)} others=${other}; make them alike or turn strictSubscription off`,
      );
    }
  }
  const order = subscriptions.some((s) => desk.topics.table.get(s.topic)?.order === true);
  const ensured = desk.groups.ensure(group, { unit: consumer.unitMode, order });
  if (ensured.code !== ResponseCodes.SUCCESS) {
    desk.context.log.debug('heartbeat of a group that cannot be made', { group, remark: ensured.remark });
    warnings.push(ensured.remark ?? '');
    return null;
  }
  const { consumeType, messageModel, consumeFromWhere } = consumer;
  const effect = desk.membership.consumerBeat(
    { ...client, link: link.id, group, consumeType, messageModel, consumeFromWhere, subscriptions: beat.withoutSub ? null : subscriptions },
    link,
  );
  if (effect.refused) warnings.push(`another connection has client id ${client.clientId} in group ${group}`);
  else {
    const start = consumeType === 'CONSUME_ACTIVELY' ? CLIENT_DECIDES : consumeFromWhere;
    for (const s of subscriptions) desk.offsets.noteJoin(group, s.topic, start);
  }
  if (effect.mismatch !== null) {
    warnings.push(`members of group ${group} subscribe to different things own=${effect.mismatch.own} others=${effect.mismatch.other}`);
  }
  return null;
}

function onUnregister(
  desk: Desk,
  { producerGroup, consumerGroup }: { producerGroup?: string | undefined; consumerGroup?: string | undefined },
  { link }: Request,
): Reply {
  if (link === undefined) return done;
  if (producerGroup !== undefined) desk.membership.leaveProducer(producerGroup, link.id);
  if (consumerGroup !== undefined) desk.membership.leaveConsumer(consumerGroup, link.id);
  return done;
}

function onMembers(desk: Desk, group: string): Reply {
  const live = desk.consumers.get(group);
  if (live === undefined) return refuse(ResponseCodes.SYSTEM_ERROR, `no consumer for this group, ${group}`);
  return withBody(encodeConsumerIds([...live.members.values()].map((member) => member.clientId)));
}

function onCheck(_desk: Desk, request: Request): Reply {
  const decoded = decodeCheckClient(request.body);
  if (!decoded.ok) return badRequest(`client check body: ${decoded.fault}`);
  const { type, topic } = decoded.value.subscription;
  if (type === 'TAG') return done;
  if (type === 'SQL92') {
    return refuse(ResponseCodes.SYSTEM_ERROR, `SQL92 expressions are not served yet topic=${topic}; subscribe by tags`);
  }
  return refuse(ResponseCodes.SUBSCRIPTION_PARSE_FAILED, `expression type is unknown expressionType=${type} allowed=TAG topic=${topic}`);
}
