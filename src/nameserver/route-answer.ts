// What a client is told of a topic: the rows and brokers of the tables, shown by zone and with an acting master where asked for.
import { Perms } from '../core/topic-config.ts';
import type { BrokerData, QueueData, TopicRoute } from '../protocol/bodies/topic-route.ts';
import { brokerDataOf, lowestId, MASTER_ID } from './broker-table.ts';
import type { RouteTable } from './route-table.ts';

const SYNC_MEMBER_PREFIX = 'rmq_sys_SYNC_BROKER_MEMBER_';

export interface RouteView {
  /** Only brokers of this zone, and those without a master. */
  readonly zone?: string | undefined;
  readonly supportActingMaster: boolean;
  readonly orderTopicConf?: string | undefined;
}

/** undefined where the topic is unknown or none of its brokers is there. */
export function routeOf(table: RouteTable, topic: string, view: RouteView): TopicRoute | undefined {
  const rows = table.rows.of(topic);
  if (rows === undefined) return undefined;
  const queueDatas: QueueData[] = [];
  const brokerDatas: BrokerData[] = [];
  const filterServerTable = new Map<string, readonly string[]>();
  let found = false;
  for (const [brokerName, row] of rows) {
    const entry = table.brokers.get(brokerName);
    if (entry === undefined) continue;
    found = true;
    const data = brokerDataOf(entry);
    if (!isInZone(data, view.zone)) continue;
    const acting = view.supportActingMaster && !topic.startsWith(SYNC_MEMBER_PREFIX) && (row.perm & Perms.write) === 0;
    queueDatas.push(row);
    brokerDatas.push(acting ? withActingMaster(data) : data);
    for (const address of data.brokerAddrs.values()) {
      const servers = table.filterServers.get(address);
      if (servers !== undefined) filterServerTable.set(address, servers);
    }
  }
  if (!found) return undefined;
  return {
    orderTopicConf: view.orderTopicConf,
    queueDatas,
    brokerDatas,
    filterServerTable,
    topicQueueMappingByBroker: table.queueMappings.get(topic),
  };
}

/** The lowest slave stands in for a missing master, so that clients read and commit there. */
function withActingMaster(data: BrokerData): BrokerData {
  if (!data.enableActingMaster || data.brokerAddrs.size === 0 || data.brokerAddrs.has(MASTER_ID)) return data;
  const id = lowestId(data);
  const brokerAddrs = new Map([[MASTER_ID, data.brokerAddrs.get(id) as string], ...data.brokerAddrs]);
  brokerAddrs.delete(id);
  return { ...data, brokerAddrs };
}

function isInZone(data: BrokerData, zone: string | undefined): boolean {
  if (zone === undefined || !data.brokerAddrs.has(MASTER_ID)) return true;
  return data.zoneName?.toLowerCase() === zone.toLowerCase();
}
