// Requests about topics: make, change, remove, list.
import { alterAttributes } from '../../../core/topic-attributes.ts';
import type { TopicConfig } from '../../../core/topic-config.ts';
import { queueCountOf } from '../../../core/topic-config.ts';
import { popRetryTopicOf, topicFault } from '../../../message/names.ts';
import { encodeTopicList } from '../../../protocol/bodies/topic-list.ts';
import { RequestCodes, ResponseCodes } from '../../../protocol/codes.ts';
import {
  type AttributeChanges,
  type CreateTopicRequest,
  decodeAttributeChanges,
  decodeCreateTopicRequest,
  decodeTopicConfigList,
} from '../../../protocol/commands/create-topic.ts';
import { decodeDeleteTopicRequest } from '../../../protocol/commands/delete-topic.ts';
import {
  decodeAllTopicsRequest,
  decodeTopicConfigRequest,
  encodeAllTopicsAnswer,
  encodeTopicConfig,
  encodeTopicConfigTable,
} from '../../../protocol/commands/topic-config.ts';
import type { Desk } from '../desk.ts';
import { pageOf } from '../page.ts';
import { badRequest, decoding, done, type HandlerRow, type Reply, type Request, refuse, withBody } from '../request.ts';

export const topicHandlers: readonly HandlerRow[] = [
  [RequestCodes.UPDATE_AND_CREATE_TOPIC, onCreate],
  [RequestCodes.UPDATE_AND_CREATE_TOPIC_LIST, onCreateList],
  [RequestCodes.DELETE_TOPIC_IN_BROKER, onDelete],
  [RequestCodes.GET_ALL_TOPIC_CONFIG, decoding(decodeAllTopicsRequest, onAll)],
  [RequestCodes.GET_TOPIC_CONFIG, decoding(decodeTopicConfigRequest, (desk, { topic }) => onConfig(desk, topic))],
  [RequestCodes.GET_SYSTEM_TOPIC_LIST_FROM_BROKER, onSystemTopics],
];

function onCreate(desk: Desk, request: Request): Reply {
  const name = nameFault(desk, request.header.field('topic'));
  if (name !== null) return name;
  const decoded = decodeCreateTopicRequest(request.header);
  if (!decoded.ok) return badRequest(decoded.fault);
  const changes = decodeAttributeChanges(decoded.value.attributes ?? '');
  return changes.ok ? createOne(desk, configOf(decoded.value), changes.value) : badRequest(changes.fault);
}

function configOf(r: CreateTopicRequest): TopicConfig {
  return {
    topicName: r.topic,
    readQueueNums: r.readQueueNums,
    writeQueueNums: r.writeQueueNums,
    perm: r.perm,
    topicFilterType: r.topicFilterType ?? 'SINGLE_TAG',
    topicSysFlag: r.topicSysFlag ?? 0,
    order: r.order ?? false,
    attributes: {},
  };
}

/** All or none as far as names go; then one after the other. */
function onCreateList(desk: Desk, request: Request): Reply {
  const decoded = decodeTopicConfigList(request.body);
  if (!decoded.ok) return badRequest(`topic list body: ${decoded.fault}`);
  for (const config of decoded.value) {
    const fault = nameFault(desk, config.topicName);
    if (fault !== null) return fault;
  }
  for (const config of decoded.value) {
    const signed = Object.entries(config.attributes).map(([key, value]) =>
      /^[+-]/.test(key) ? signedText(key, value) : `+${key}=${value}`,
    );
    const changes = decodeAttributeChanges(signed.join(','));
    const reply = changes.ok ? createOne(desk, config, changes.value) : badRequest(changes.fault);
    if (reply.code !== ResponseCodes.SUCCESS) return reply;
  }
  return { ...done, afterRegistration: true };
}

function signedText(key: string, value: string): string {
  return key.startsWith('+') ? `${key}=${value}` : key;
}

function createOne(desk: Desk, config: TopicConfig, changes: AttributeChanges): Reply {
  const { settings, log } = desk.context;
  if (changes.get('message.type') === 'MIXED' && !settings.enableMixedMessageType) {
    return refuse(ResponseCodes.INVALID_PARAMETER, 'MIXED message type is not supported.');
  }
  const old = desk.topics.table.get(config.topicName);
  const attributes = alterAttributes(old?.attributes ?? null, changes);
  if (!attributes.ok) return badRequest(attributes.fault);
  const reply = desk.topics.put({ ...config, attributes: attributes.value });
  if (reply.code !== ResponseCodes.SUCCESS) return reply;
  if (old !== undefined && config.readQueueNums < old.readQueueNums) {
    log.warn('topic has fewer queues now; messages in the others cannot be read', {
      topic: config.topicName,
      before: old.readQueueNums,
      now: config.readQueueNums,
      hidden: messagesBeyond(desk, config.topicName, config.readQueueNums, queueCountOf(old)),
    });
  }
  if (config.readQueueNums < config.writeQueueNums && (old?.readQueueNums ?? -1) !== config.readQueueNums) {
    log.warn('topic takes messages into queues that nobody can read: make readQueueNums as large as writeQueueNums', {
      topic: config.topicName,
      readQueueNums: config.readQueueNums,
      writeQueueNums: config.writeQueueNums,
    });
  }
  return { ...done, afterRegistration: true };
}

function messagesBeyond(desk: Desk, topic: string, from: number, to: number): number {
  let count = 0;
  for (let queueId = from; queueId < to; queueId++) count += desk.topics.endOf(topic, queueId) - desk.topics.beginOf(topic, queueId);
  return count;
}

function onDelete(desk: Desk, request: Request): Reply {
  const decoded = decodeDeleteTopicRequest(request.header);
  const topic = decoded.ok ? decoded.value.topic : '';
  if (topic.trim() === '') return refuse(ResponseCodes.INVALID_PARAMETER, 'The specified topic is blank.');
  if (isReserved(desk, topic)) return conflict(topic);
  desk.removeTopic(topic);
  if (desk.context.settings.clearRetryTopicWhenDeleteTopic) {
    for (const { groupName } of desk.groups.table.all()) {
      desk.removeTopic(popRetryTopicOf(groupName, topic, 1));
      desk.removeTopic(popRetryTopicOf(groupName, topic, 2));
    }
  }
  return { ...done, afterRegistration: true };
}

function onAll(
  desk: Desk,
  page: { topicSeq?: number | undefined; maxTopicNum?: number | undefined; dataVersion?: string | undefined },
): Reply {
  const { table } = desk.topics;
  const { from, count } = pageOf(page.topicSeq, page.maxTopicNum, page.dataVersion, table.version, table.size);
  const body = encodeTopicConfigTable({
    topics: table.page(from, count),
    dataVersion: table.version,
    mappingDataVersion: { stateVersion: 0, counter: 0, timestamp: desk.context.boot.startedAtMs },
  });
  return withBody(body, encodeAllTopicsAnswer({ totalTopicNum: table.size }));
}

function onConfig(desk: Desk, topic: string): Reply {
  const config = desk.topics.table.get(topic);
  if (config === undefined) return refuse(ResponseCodes.TOPIC_NOT_EXIST, `No topic in this broker. topic: ${topic}`);
  return withBody(encodeTopicConfig(config));
}

function onSystemTopics(desk: Desk): Reply {
  return withBody(encodeTopicList({ topicList: desk.topics.reserved.list() }));
}

function nameFault(desk: Desk, topic: string | undefined): Reply | null {
  const fault = topicFault(topic);
  if (fault !== null) return refuse(ResponseCodes.INVALID_PARAMETER, fault);
  return isReserved(desk, topic as string) ? conflict(topic as string) : null;
}

function isReserved(desk: Desk, topic: string): boolean {
  return desk.context.settings.validateSystemTopicWhenUpdateTopic && desk.topics.reserved.has(topic);
}

function conflict(topic: string): Reply {
  return refuse(ResponseCodes.INVALID_PARAMETER, `The topic[${topic}] is conflict with system topic.`);
}
