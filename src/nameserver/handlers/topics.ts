// Requests about topics as a whole: lists by kind, removal, and rows put by hand.
import { TopicSysFlags } from '../../core/topic-config.ts';
import { encodeTopicList } from '../../protocol/bodies/topic-list.ts';
import { decodeTopicRoute, type QueueData } from '../../protocol/bodies/topic-route.ts';
import { RequestCodes, ResponseCodes } from '../../protocol/codes.ts';
import { defineExt, optional, text } from '../../protocol/ext.ts';
import type { RouteTable } from '../route-table.ts';
import { type Answer, type Handler, type HandlerTable, refused, success, withFields } from './handler.ts';

const topicExt = defineExt({ topic: text });
const deleteExt = defineExt({ topic: text, clusterName: optional(text) });
const clusterExt = defineExt({ cluster: text });

function list(topicList: readonly string[], brokerAddr?: string): Answer {
  return { code: ResponseCodes.SUCCESS, body: encodeTopicList({ topicList, brokerAddr }) };
}

/** A list of topics that a setting can switch off. */
function listWhere(test: (row: QueueData) => boolean): Handler {
  return (_request, { routes, settings }) => (settings.values.enableTopicList ? list(routes.rows.topicsWhere(test)) : refused('disable'));
}

/** Topics that every broker has: those named like clusters and brokers. One address tells where to ask for more. */
function systemTopics({ brokers }: RouteTable): Answer {
  const names: string[] = [];
  let address: string | undefined;
  for (const [cluster, brokerNames] of brokers.clusters) {
    names.push(cluster, ...brokerNames);
    for (const name of brokerNames) address ??= brokers.get(name)?.brokerAddrs.values().next().value;
  }
  return list(names, address);
}

const isUnit = (row: QueueData): boolean => (row.topicSysFlag & TopicSysFlags.unit) !== 0;
const isUnitSub = (row: QueueData): boolean => (row.topicSysFlag & TopicSysFlags.unitSub) !== 0;

export const topicHandlers: HandlerTable = {
  [RequestCodes.GET_ALL_TOPIC_LIST_FROM_NAMESERVER]: (_request, { routes, settings }) =>
    settings.values.enableAllTopicList ? list([...routes.rows.topics]) : refused('disable'),

  [RequestCodes.GET_TOPICS_BY_CLUSTER]: withFields(clusterExt, ({ cluster }, _request, { routes, settings }) => {
    if (!settings.values.enableTopicList) return refused('disable');
    const names = routes.brokers.namesOf(cluster);
    return list(names === undefined ? [] : routes.rows.topicsWhere((row) => names.has(row.brokerName)));
  }),

  [RequestCodes.GET_SYSTEM_TOPIC_LIST_FROM_NS]: (_request, { routes }) => systemTopics(routes),
  [RequestCodes.GET_UNIT_TOPIC_LIST]: listWhere(isUnit),
  [RequestCodes.GET_HAS_UNIT_SUB_TOPIC_LIST]: listWhere(isUnitSub),
  [RequestCodes.GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST]: listWhere((row) => isUnitSub(row) && !isUnit(row)),

  [RequestCodes.DELETE_TOPIC_IN_NAMESRV]: withFields(deleteExt, ({ topic, clusterName }, _request, { routes }) => {
    routes.deleteTopic(topic, clusterName);
    return success;
  }),

  [RequestCodes.REGISTER_TOPIC_IN_NAMESRV]: withFields(topicExt, ({ topic }, { body }, { routes }) => {
    const decoded = decodeTopicRoute(body);
    if (!decoded.ok) return refused(decoded.fault);
    routes.registerTopic(topic, decoded.value.queueDatas);
    return success;
  }),
};
