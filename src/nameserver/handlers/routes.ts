// Requests of clients: 105 the route of a topic, 106 all brokers.
import { encodeClusterInfo } from '../../protocol/bodies/cluster-info.ts';
import { encodeTopicRoute } from '../../protocol/bodies/topic-route.ts';
import { RequestCodes, ResponseCodes } from '../../protocol/codes.ts';
import { boolOf } from '../../protocol/ext.ts';
import type { Header } from '../../protocol/header.ts';
import { Versions } from '../../protocol/versions.ts';
import { brokerDataOf } from '../broker-table.ts';
import { ORDER_NAMESPACE } from '../kv-config.ts';
import { routeOf } from '../route-answer.ts';
import { type Answer, type HandlerTable, type NameRequest, type NameState, refused } from './handler.ts';

const FAQ = '\nSee https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details.';

function zoneOf(header: Header): string | undefined {
  if (!boolOf(header, '__ZONE_MODE')) return undefined;
  const zone = header.field('__ZONE_NAME')?.trim();
  return zone === '' ? undefined : zone;
}

function route(request: NameRequest, state: NameState): Answer {
  if (state.isWarmingUp()) return refused('name server not ready');
  const { header } = request;
  const topic = header.field('topic');
  const { supportActingMaster, orderMessageEnable } = state.settings.values;
  const orderTopicConf = orderMessageEnable && topic !== undefined ? state.kv.get(ORDER_NAMESPACE, topic) : undefined;
  const found =
    topic === undefined ? undefined : routeOf(state.routes, topic, { zone: zoneOf(header), supportActingMaster, orderTopicConf });
  if (found === undefined) {
    return { code: ResponseCodes.TOPIC_NOT_EXIST, remark: `No topic route info in name server for the topic: ${topic ?? 'null'}${FAQ}` };
  }
  const strict = header.version >= Versions.V4_9_4 || boolOf(header, 'acceptStandardJsonOnly');
  return { code: ResponseCodes.SUCCESS, body: encodeTopicRoute(found, strict ? 'strict' : 'java') };
}

function clusterInfo(_request: NameRequest, { routes: { brokers } }: NameState): Answer {
  const brokerAddrTable = new Map<string, ReturnType<typeof brokerDataOf>>();
  for (const name of brokers.names) {
    const entry = brokers.get(name);
    if (entry !== undefined) brokerAddrTable.set(name, brokerDataOf(entry));
  }
  const clusterAddrTable = new Map([...brokers.clusters].map(([cluster, names]) => [cluster, [...names]]));
  return { code: ResponseCodes.SUCCESS, body: encodeClusterInfo({ brokerAddrTable, clusterAddrTable }) };
}

export const routeHandlers: HandlerTable = {
  [RequestCodes.GET_ROUTEINFO_BY_TOPIC]: route,
  [RequestCodes.GET_BROKER_CLUSTER_INFO]: clusterInfo,
};
