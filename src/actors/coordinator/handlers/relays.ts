// Requests of tools that a consumer answers itself: its state, its stacks, the offsets it holds, one message consumed now.
import type { Member } from '../../../core/consumer-groups.ts';
import { decodeConsumerStatus, encodeConsumerStatus, type MessageQueue } from '../../../protocol/bodies/message-queue.ts';
import { RequestCodes, ResponseCodes } from '../../../protocol/codes.ts';
import { decodeConsumeDirectlyRequest } from '../../../protocol/commands/consume-directly.ts';
import { decodeConsumerRunningInfoRequest } from '../../../protocol/commands/consumer-running-info.ts';
import {
  type ConsumerStatusRequest,
  decodeConsumerStatusRequest,
  encodeConsumerStatusRequest,
} from '../../../protocol/commands/consumer-status.ts';
import type { ExtFields } from '../../../protocol/header.ts';
import { Versions } from '../../../protocol/versions.ts';
import type { CallOutcome } from '../client-caller.ts';
import type { Desk } from '../desk.ts';
import type { Link } from '../links.ts';
import { decoding, type HandlerRow, LATER, type Reply, type Request, refuse, withBody } from '../request.ts';

export const relayHandlers: readonly HandlerRow[] = [
  [
    RequestCodes.GET_CONSUMER_RUNNING_INFO,
    decoding(decodeConsumerRunningInfoRequest, (desk, { consumerGroup, clientId }, request) =>
      relay(desk, request, consumerGroup, clientId, request.header.fields()),
    ),
  ],
  [RequestCodes.CONSUME_MESSAGE_DIRECTLY, decoding(decodeConsumeDirectlyRequest, onConsumeDirectly)],
  [RequestCodes.INVOKE_BROKER_TO_GET_CONSUMER_STATUS, decoding(decodeConsumerStatusRequest, onStatus)],
];

/** How long a tool's question may take a consumer. */
const RELAY_TIMEOUT_MS = 10_000;
const STATUS_TIMEOUT_MS = 5_000;

/** The ingress has put the record that `msgId` names into the request. */
function onConsumeDirectly(
  desk: Desk,
  { consumerGroup, clientId, topic }: { consumerGroup: string; clientId?: string | undefined; topic?: string | undefined },
  request: Request,
): Reply | typeof LATER {
  const ext: ExtFields = { ...request.header.fields(), brokerName: desk.context.settings.brokerName };
  const topicConfig = topic === undefined ? undefined : desk.topics.table.get(topic);
  if (topicConfig !== undefined) ext['topicSysFlag'] = topicConfig.topicSysFlag;
  const group = desk.groups.table.get(consumerGroup);
  if (group !== undefined) ext['groupSysFlag'] = group.groupSysFlag;
  return relay(desk, request, consumerGroup, clientId ?? '', ext);
}

function relay(desk: Desk, request: Request, group: string, clientId: string, ext: ExtFields): Reply | typeof LATER {
  const member = membersOf(desk, group).find((candidate) => candidate.clientId === clientId);
  const link = member === undefined ? undefined : desk.links.byId(member.link);
  if (member === undefined || link === undefined) {
    return refuse(ResponseCodes.SYSTEM_ERROR, `The Consumer <${group}> <${clientId}> not online`);
  }
  if (member.version < Versions.V3_1_8_SNAPSHOT) {
    return refuse(
      ResponseCodes.SYSTEM_ERROR,
      `The Consumer <${clientId}> Version <${member.version}> too low to finish, please upgrade it to V3_1_8_SNAPSHOT`,
    );
  }
  const body = request.body.length === 0 ? undefined : request.body;
  desk.calls.call(link, request.header.code, ext, body, RELAY_TIMEOUT_MS, (outcome) =>
    desk.answerLater(request, replyOf(outcome, group, clientId)),
  );
  return LATER;
}

/** What the consumer says goes back as it is. */
function replyOf(outcome: CallOutcome, group: string, clientId: string): Reply {
  const consumer = `consumer <${group}> <${clientId}>`;
  switch (outcome.kind) {
    case 'answered':
      return outcome;
    case 'timedOut':
      return refuse(ResponseCodes.CONSUME_MSG_TIMEOUT, `${consumer} Timeout: no answer within ${RELAY_TIMEOUT_MS} ms`);
    case 'gone':
      return refuse(ResponseCodes.SYSTEM_ERROR, `invoke ${consumer} Exception: its connection closed before it answered`);
    case 'busy':
      return refuse(ResponseCodes.SYSTEM_BUSY, `invoke ${consumer} Exception: too many requests to clients are under way; try again`);
  }
}

/** Asks all members, or the one meant, and answers once each has answered or had its time. */
function onStatus(desk: Desk, asked: ConsumerStatusRequest, request: Request): Reply | typeof LATER {
  const { topic, group, clientAddr = '' } = asked;
  const members = membersOf(desk, group);
  if (members.length === 0) return refuse(ResponseCodes.CONSUMER_NOT_ONLINE, `No Any Consumer online in the consumer group: [${group}]`);
  const old = members.find(({ version }) => version < Versions.V3_0_7_SNAPSHOT);
  if (old !== undefined) return tooOld(old);
  const meant = clientAddr.trim() === '' ? members : members.filter(({ clientId }) => clientId === clientAddr);
  const open = meant.flatMap(({ link, clientId }): [Link, string][] => {
    const found = desk.links.byId(link);
    return found === undefined ? [] : [[found, clientId]];
  });
  const consumerTable = new Map<string, (readonly [MessageQueue, number])[]>();
  const finish = (): Reply => withBody(encodeConsumerStatus({ messageQueueTable: [], consumerTable }));
  if (open.length === 0) return finish();
  let missing = open.length;
  const ext = encodeConsumerStatusRequest({ topic, group });
  for (const [link, clientId] of open) {
    desk.calls.call(link, RequestCodes.GET_CONSUMER_STATUS_FROM_CLIENT, ext, undefined, STATUS_TIMEOUT_MS, (outcome) => {
      if (outcome.kind === 'answered' && outcome.code === ResponseCodes.SUCCESS && outcome.body.length > 0) {
        const status = decodeConsumerStatus(outcome.body);
        if (status.ok) consumerTable.set(clientId, [...status.value.messageQueueTable]);
      }
      if (--missing === 0) desk.answerLater(request, finish());
    });
  }
  return LATER;
}

function membersOf(desk: Desk, group: string): Member[] {
  return [...(desk.consumers.get(group)?.members.values() ?? [])];
}

/** Consumers from before resets. */
export function tooOld(member: Member): Reply {
  return refuse(
    ResponseCodes.SYSTEM_ERROR,
    `the client does not support this feature. version=${member.version} clientId=${member.clientId}`,
  );
}
