// Requests of tools about who is connected, and who reads what.

import type { ClientInfo } from '../../../core/consumer-groups.ts';
import { encodeProducerTable, type ProducerInfo } from '../../../protocol/bodies/producer-table.ts';
import { encodeTopicList } from '../../../protocol/bodies/topic-list.ts';
import { RequestCodes, ResponseCodes } from '../../../protocol/codes.ts';
import {
  type ClientConnection,
  decodeConsumerConnectionRequest,
  encodeConsumerConnections,
} from '../../../protocol/commands/consumer-connection.ts';
import {
  decodeSubscriptionOfGroupRequest,
  decodeTopicsOfGroupRequest,
  decodeWhoConsumesRequest,
  encodeGroupList,
  encodeGroupSubscription,
} from '../../../protocol/commands/group-queries.ts';
import { decodeProducerConnectionRequest, encodeProducerConnections } from '../../../protocol/commands/producer-connection.ts';
import type { Desk } from '../desk.ts';
import { addressOf } from '../links.ts';
import { decoding, type HandlerRow, type Reply, refuse, withBody } from '../request.ts';

export const connectionHandlers: readonly HandlerRow[] = [
  [RequestCodes.GET_CONSUMER_CONNECTION_LIST, decoding(decodeConsumerConnectionRequest, (desk, r) => onConsumers(desk, r.consumerGroup))],
  [RequestCodes.GET_PRODUCER_CONNECTION_LIST, decoding(decodeProducerConnectionRequest, (desk, r) => onProducers(desk, r.producerGroup))],
  [RequestCodes.GET_ALL_PRODUCER_INFO, onAllProducers],
  [RequestCodes.QUERY_TOPIC_CONSUME_BY_WHO, decoding(decodeWhoConsumesRequest, (desk, r) => onWho(desk, r.topic))],
  [RequestCodes.QUERY_TOPICS_BY_CONSUMER, decoding(decodeTopicsOfGroupRequest, (desk, r) => onTopics(desk, r.group))],
  [
    RequestCodes.QUERY_SUBSCRIPTION_BY_CONSUMER,
    decoding(decodeSubscriptionOfGroupRequest, (desk, r) =>
      withBody(encodeGroupSubscription(r.group, r.topic, desk.consumers.get(r.group)?.merged.get(r.topic))),
    ),
  ],
];

function connectionsOf(desk: Desk, clients: ReadonlyMap<number, ClientInfo>): ClientConnection[] {
  return [...clients].map(([id, { clientId, language, version }]) => ({
    clientId,
    clientAddr: addressOfLink(desk, id),
    language,
    version,
  }));
}

function addressOfLink(desk: Desk, id: number): string {
  const link = desk.links.byId(id);
  return link === undefined ? '' : addressOf(link);
}

function onConsumers(desk: Desk, group: string): Reply {
  const live = desk.consumers.get(group);
  if (live === undefined) return refuse(ResponseCodes.CONSUMER_NOT_ONLINE, `the consumer group[${group}] not online`);
  const { members, merged, consumeType, messageModel, consumeFromWhere } = live;
  const connections = connectionsOf(desk, members);
  return withBody(
    encodeConsumerConnections({ connections, subscriptions: [...merged.values()], consumeType, messageModel, consumeFromWhere }),
  );
}

function onProducers(desk: Desk, group: string): Reply {
  const clients = desk.membership.producers.get(group);
  if (clients === undefined) return refuse(ResponseCodes.SYSTEM_ERROR, `the producer group[${group}] not exist`);
  return withBody(encodeProducerConnections(connectionsOf(desk, clients)));
}

function onAllProducers(desk: Desk): Reply {
  const data = new Map<string, ProducerInfo[]>();
  for (const [group, clients] of desk.membership.producers.all()) {
    data.set(
      group,
      [...clients].map(([id, { clientId, language, version, lastSeenMs }]) => ({
        clientId,
        remoteIP: `/${addressOfLink(desk, id)}`,
        language,
        version,
        lastUpdateTimestamp: lastSeenMs,
      })),
    );
  }
  return withBody(encodeProducerTable(data));
}

/** Those that are connected, and those that have read it. */
function onWho(desk: Desk, topic: string): Reply {
  const groups = new Set([...desk.consumers.readersOf(topic), ...desk.offsets.table.groupsOf(topic)]);
  return withBody(encodeGroupList([...groups]));
}

function onTopics(desk: Desk, group: string): Reply {
  const topics = new Set([...desk.offsets.table.topicsOf(group), ...(desk.consumers.get(group)?.merged.keys() ?? [])]);
  return withBody(encodeTopicList({ topicList: [...topics], brokerAddr: desk.registrar.address }));
}
