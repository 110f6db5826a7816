// The name server's tables and the rules of registering, leaving and expiring; time is passed in, nothing is sent.
import { sameVersion } from '../core/data-version.ts';
import type { DataVersion } from '../protocol/bodies/data-version.ts';
import type { BrokerRegistration, RegisteredTopic } from '../protocol/bodies/register-broker.ts';
import type { QueueData } from '../protocol/bodies/topic-route.ts';
import { type BrokerEntry, BrokerTable, lowestId, MASTER_ID } from './broker-table.ts';
import { type LiveBroker, LiveBrokers } from './live-brokers.ts';
import { TopicRows, withoutWrite } from './topic-rows.ts';

/** Silence after which a broker is gone, unless it named a time of its own. */
export const BROKER_EXPIRY_MS = 120_000;

export interface Registration {
  readonly cluster: string;
  readonly brokerName: string;
  readonly brokerId: number;
  readonly address: string;
  readonly haServerAddr: string;
  readonly zoneName?: string | undefined;
  readonly timeoutMs?: number | undefined;
  /** undefined: a broker too old to know of acting masters. */
  readonly enableActingMaster?: boolean | undefined;
  readonly body: BrokerRegistration;
}

export type RegisterResult =
  | { readonly ok: true; readonly masterAddr?: string; readonly haServerAddr?: string }
  /** The table has one topic only and is a broker's first: it must send all of them. */
  | { readonly ok: false };

export interface RouteRules {
  /** A registration removes the topics that it does not list. */
  readonly deleteTopicWithBrokerRegistration: boolean;
}

export class RouteTable {
  readonly brokers = new BrokerTable();
  readonly rows = new TopicRows();
  readonly live = new LiveBrokers();
  /** Filter servers by broker address. */
  readonly filterServers = new Map<string, readonly string[]>();
  /** Static topics: by topic what each broker name said of its queues. */
  readonly queueMappings = new Map<string, Map<string, unknown>>();

  /** One registration; the rules apply in the order in which they stand here. */
  register(r: Registration, rules: RouteRules, steadyMs: number, connectionId: number): RegisterResult {
    const before = this.live.get(r.cluster, r.address);
    // The same process under a new name: it left the old one without a word.
    if (before !== undefined && before.brokerName !== r.brokerName) this.unregister(before);
    const known = this.brokers.get(r.brokerName);
    if (known !== undefined) {
      dropOtherIds(known, r);
      if (known.cluster !== r.cluster) this.#forgetAddress(known.cluster, r.address);
    }
    const otherAddress = known?.brokerAddrs.get(r.brokerId);
    if (otherAddress !== undefined && otherAddress !== r.address && this.#isOutdated(r, otherAddress)) {
      this.live.delete(r.cluster, r.address);
      return { ok: true };
    }
    if (otherAddress === undefined && r.body.topics.length === 1) {
      if (known !== undefined && known.brokerAddrs.size === 0) this.#dropName(r.brokerName);
      return { ok: false };
    }
    const entry = this.brokers.enter(r.cluster, r.brokerName);
    entry.enableActingMaster = r.enableActingMaster ?? false;
    entry.zoneName = r.zoneName;
    entry.brokerAddrs.set(r.brokerId, r.address);
    if (otherAddress !== undefined && otherAddress !== r.address) this.#forgetAddress(r.cluster, otherAddress);
    this.#takeTopics(r, entry, otherAddress === undefined, rules);
    const { cluster, address, brokerName, brokerId, haServerAddr } = r;
    const timeoutMs = r.timeoutMs ?? BROKER_EXPIRY_MS;
    const { dataVersion, filterServers } = r.body;
    this.live.put({ cluster, address, brokerName, brokerId, haServerAddr, dataVersion, timeoutMs, lastSeenMs: steadyMs, connectionId });
    if (filterServers.length > 0) this.filterServers.set(address, filterServers);
    else this.filterServers.delete(address);
    return this.#masterOf(r, entry);
  }

  /** Leaving, in good order or not. */
  unregister(broker: { cluster: string; address: string; brokerName: string; brokerId: number }): void {
    this.#forgetAddress(broker.cluster, broker.address);
    const entry = this.brokers.get(broker.brokerName);
    if (entry === undefined || entry.brokerAddrs.get(broker.brokerId) !== broker.address) return;
    entry.brokerAddrs.delete(broker.brokerId);
    if (entry.brokerAddrs.size === 0) this.#dropName(broker.brokerName);
    else if (entry.enableActingMaster && !entry.brokerAddrs.has(MASTER_ID)) this.rows.changePerm(broker.brokerName, withoutWrite);
  }

  /** A closed connection takes the brokers with it that were last heard of over it. */
  connectionClosed(connectionId: number): LiveBroker[] {
    const lost = this.live.ofConnection(connectionId);
    for (const broker of lost) this.unregister(broker);
    return lost;
  }

  expire(steadyMs: number): LiveBroker[] {
    const lost = this.live.silentSince(steadyMs);
    for (const broker of lost) this.unregister(broker);
    return lost;
  }

  /** What is known of a broker's topics; its life is noted where they are unchanged. */
  compareVersion(
    cluster: string,
    address: string,
    version: DataVersion,
    steadyMs: number,
    connectionId: number,
  ): DataVersion | 'same' | undefined {
    const broker = this.live.get(cluster, address);
    if (broker === undefined) return undefined;
    if (!sameVersion(broker.dataVersion, version)) return broker.dataVersion;
    this.live.touch(cluster, address, steadyMs, connectionId);
    return 'same';
  }

  deleteTopic(topic: string, cluster?: string): void {
    if (cluster === undefined) {
      this.rows.deleteTopic(topic);
      this.queueMappings.delete(topic);
      return;
    }
    for (const brokerName of this.brokers.namesOf(cluster) ?? []) this.rows.delete(topic, brokerName);
  }

  /** Rows put by hand; those of unknown brokers are left out. */
  registerTopic(topic: string, rows: readonly QueueData[]): void {
    for (const row of rows) if (this.brokers.get(row.brokerName) !== undefined) this.rows.put(topic, row);
  }

  #takeTopics(r: Registration, entry: BrokerEntry, first: boolean, rules: RouteRules): void {
    const isMaster = r.brokerId === MASTER_ID;
    const isPrimeSlave = !isMaster && r.enableActingMaster !== undefined && r.brokerId === lowestId(entry);
    if (!isMaster && !isPrimeSlave) return;
    const { topics, dataVersion, queueMappings } = r.body;
    const before = this.live.get(r.cluster, r.address);
    const changed = first || before === undefined || !sameVersion(before.dataVersion, dataVersion);
    if (rules.deleteTopicWithBrokerRegistration && queueMappings.size === 0) {
      const kept = new Set(topics.map((topic) => topic.topicName));
      for (const topic of this.rows.others(r.brokerName, kept)) this.rows.delete(topic, r.brokerName);
    }
    const readOnly = isPrimeSlave && entry.enableActingMaster;
    for (const topic of topics) {
      if (changed || !this.rows.has(topic.topicName, r.brokerName)) this.rows.put(topic.topicName, rowOf(topic, r.brokerName, readOnly));
    }
    if (!changed) return;
    for (const [topic, mapping] of queueMappings) {
      const byBroker = this.queueMappings.get(topic) ?? new Map<string, unknown>();
      this.queueMappings.set(topic, byBroker.set(r.brokerName, mapping));
    }
  }

  #isOutdated(r: Registration, otherAddress: string): boolean {
    const other = this.live.get(r.cluster, otherAddress);
    return other !== undefined && other.dataVersion.stateVersion > r.body.dataVersion.stateVersion;
  }

  #masterOf(r: Registration, entry: BrokerEntry): RegisterResult {
    if (r.brokerId === MASTER_ID) return { ok: true };
    const masterAddr = entry.brokerAddrs.get(MASTER_ID);
    const master = masterAddr === undefined ? undefined : this.live.get(r.cluster, masterAddr);
    if (masterAddr === undefined || master === undefined) return { ok: true };
    return { ok: true, masterAddr, haServerAddr: master.haServerAddr };
  }

  #forgetAddress(cluster: string, address: string): void {
    this.live.delete(cluster, address);
    this.filterServers.delete(address);
  }

  #dropName(brokerName: string): void {
    this.brokers.delete(brokerName);
    this.rows.deleteBroker(brokerName);
    for (const [topic, byBroker] of this.queueMappings) {
      if (byBroker.delete(brokerName) && byBroker.size === 0) this.queueMappings.delete(topic);
    }
  }
}

/** A slave that became master, or the other way round, is known by its new id only. */
function dropOtherIds(entry: BrokerEntry, r: Registration): void {
  for (const [id, address] of entry.brokerAddrs) if (address === r.address && id !== r.brokerId) entry.brokerAddrs.delete(id);
}

function rowOf(topic: RegisteredTopic, brokerName: string, readOnly: boolean): QueueData {
  const { readQueueNums, writeQueueNums, topicSysFlag } = topic;
  return { brokerName, readQueueNums, writeQueueNums, perm: readOnly ? withoutWrite(topic.perm) : topic.perm, topicSysFlag };
}
