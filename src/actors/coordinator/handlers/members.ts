// Requests of clients about themselves: heartbeats, leaving, who else is there, whether a subscription can be served.
import type { ClientInfo } from '../../../core/consumer-groups.ts';
import { HEARTBEAT_SIZE_MAX, heartbeatFault, MEMBERS_SIZE_MAX, PRODUCER_COUNT_MAX, shown } from '../../../core/member-limits.ts';
import { CLIENT_DECIDES } from '../../../core/start-offset.ts';
import { memberShapeOf } from '../../../core/subscription.ts';
import { groupFault, topicFault } from '../../../message/names.ts';
import { RequestCodes, ResponseCodes } from '../../../protocol/codes.ts';
import { decodeCheckClient } from '../../../protocol/commands/check-client-config.ts';
import { decodeConsumerListRequest, encodeConsumerIds } from '../../../protocol/commands/consumer-list.ts';
import { type ConsumerData, decodeHeartbeat, encodeHeartbeatAnswer, type HeartbeatData } from '../../../protocol/commands/heartbeat.ts';
import { decodeUnregisterClientRequest, type UnregisterClientRequest } from '../../../protocol/commands/unregister-client.ts';
import type { Header } from '../../../protocol/header.ts';
import { languageCode, languageName } from '../../../protocol/versions.ts';
import type { Desk } from '../desk.ts';
import type { Link } from '../links.ts';
import { badRequest, decoding, done, type HandlerRow, type Reply, type Request, refuse, withBody } from '../request.ts';

export const memberHandlers: readonly HandlerRow[] = [
  [RequestCodes.HEART_BEAT, onHeartbeat],
  [RequestCodes.UNREGISTER_CLIENT, decoding(decodeUnregisterClientRequest, onUnregister)],
  [RequestCodes.GET_CONSUMER_LIST_BY_GROUP, decoding(decodeConsumerListRequest, (desk, r) => onMembers(desk, r.consumerGroup))],
  [RequestCodes.CHECK_CLIENT_CONFIG, onCheck],
];

/** To clients that send whole heartbeats only; others are told whether the next one must be whole. */
const wholeHeartbeat = encodeHeartbeatAnswer({ IS_SUPPORT_HEART_BEAT_V2: true, IS_SUB_CHANGE: true });
const shortHeartbeat = encodeHeartbeatAnswer({ IS_SUPPORT_HEART_BEAT_V2: true, IS_SUB_CHANGE: false });

/** What came of the groups of one heartbeat. */
interface Outcome {
  readonly warnings: string[];
  /** Every group is held with this fingerprint, so that a short heartbeat will do. */
  complete: boolean;
}

function onHeartbeat(desk: Desk, request: Request): Reply {
  const { link, header, body } = request;
  if (body.length > HEARTBEAT_SIZE_MAX) return badRequest(`heartbeat is too large size=${body.length} max=${HEARTBEAT_SIZE_MAX} bytes`);
  const decoded = decodeHeartbeat(body);
  if (!decoded.ok) return badRequest(`heartbeat body: ${decoded.fault}`);
  const beat = decoded.value;
  const fault = heartbeatFault(beat);
  if (fault !== null) return badRequest(fault);
  // A connection that is closed already has no members, in whatever order that became known.
  if (link === undefined) return { ...done, ext: wholeHeartbeat };
  const client = clientOf(desk, header, beat);
  const outcome: Outcome = { warnings: [], complete: beat.fingerprint !== 0 };
  for (const consumer of beat.consumers) {
    const refused = beatConsumer(desk, link, client, beat, consumer, outcome);
    if (refused !== null) return refused;
  }
  if (desk.context.settings.enableRegisterProducer) {
    for (const group of beat.producerGroups) {
      if (groupFault(group) === null && !desk.membership.producerBeat(group, link, client)) return tooManyProducers(group);
    }
  }
  const { warnings, complete } = outcome;
  return { ...done, ext: complete ? shortHeartbeat : wholeHeartbeat, remark: warnings.length === 0 ? undefined : warnings.join('; ') };
}

function tooManyProducers(group: string): Reply {
  return refuse(ResponseCodes.SYSTEM_ERROR, `too many producers are connected group=${group} max=${PRODUCER_COUNT_MAX}; close some`);
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
  outcome: Outcome,
): Reply | null {
  const { group, consumeType, messageModel, consumeFromWhere } = consumer;
  const { settings } = desk.context;
  const refuseMember = (why: string): null => {
    desk.membership.passedOver(group, client.clientId, link, why);
    return passOver(outcome, why);
  };
  if (settings.rejectPullConsumerEnable && consumeType === 'CONSUME_ACTIVELY') {
    return refuseMember(`consumers that pull by themselves are refused group=${group} (rejectPullConsumerEnable)`);
  }
  const held = desk.consumers.get(group)?.members.get(link.id);
  // Nothing is known of what it reads, as after a restart of the broker: the client is asked for all of it, and is no member until then.
  if (beat.withoutSub && held?.fingerprint !== beat.fingerprint) return passOver(outcome, `group ${group} needs a whole heartbeat`);
  const subscriptions = beat.withoutSub ? [] : consumer.subscriptions.filter((s) => topicFault(s.topic) === null);
  if (settings.strictSubscription && !beat.withoutSub) {
    const shape = memberShapeOf(subscriptions, messageModel, consumeType);
    const other = desk.consumers.differing(group, client.clientId, shape);
    if (other !== null) return refuse(ResponseCodes.SYSTEM_ERROR, strictText(group, shape, other));
  }
  const order = subscriptions.some((s) => desk.topics.table.get(s.topic)?.order === true);
  const ensured = desk.groups.ensure(group, { unit: consumer.unitMode, order });
  if (ensured.code !== ResponseCodes.SUCCESS) return refuseMember(ensured.remark ?? '');
  const { fingerprint } = beat;
  const said = { consumeType, messageModel, consumeFromWhere, subscriptions: beat.withoutSub ? null : subscriptions, fingerprint };
  const member = { ...client, link: link.id, group, ...said };
  if (!desk.consumers.hasRoom(member)) {
    const remark = `members of all groups say too much of themselves group=${group} max=${MEMBERS_SIZE_MAX} bytes; subscribe to fewer topics and tags`;
    return refuse(ResponseCodes.SYSTEM_ERROR, remark);
  }
  const effect = desk.membership.consumerBeat(member, link);
  if (effect.refused) return passOver(outcome, `another connection has client id ${client.clientId} in group ${group}`);
  const start = consumeType === 'CONSUME_ACTIVELY' ? CLIENT_DECIDES : consumeFromWhere;
  for (const s of subscriptions) desk.offsets.noteJoin(group, s.topic, start);
  if (effect.mismatch !== null) {
    const { own, other } = effect.mismatch;
    outcome.warnings.push(`members of group ${group} subscribe to different things own=${shown(own)} others=${shown(other)}`);
  }
  return null;
}

function passOver(outcome: Outcome, warning: string): null {
  outcome.warnings.push(warning);
  outcome.complete = false;
  return null;
}

function strictText(group: string, own: string, other: string): string {
  return `subscription differs from that of the group's other members group=${group} own=${shown(own)} others=${shown(other)}; make them alike or turn strictSubscription off`;
}

function onUnregister(desk: Desk, { clientID, producerGroup, consumerGroup }: UnregisterClientRequest, { link }: Request): Reply {
  if (link === undefined) return done;
  if (producerGroup !== undefined) desk.membership.leaveProducer(producerGroup, link.id);
  if (consumerGroup !== undefined) desk.membership.unregisterConsumer(consumerGroup, link.id, clientID);
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
