// The brokers by name and by cluster: which ids a name has at which addresses.
import type { BrokerData } from '../protocol/bodies/topic-route.ts';

export interface BrokerEntry {
  cluster: string;
  readonly brokerName: string;
  readonly brokerAddrs: Map<number, string>;
  enableActingMaster: boolean;
  zoneName: string | undefined;
}

export const MASTER_ID = 0;

export class BrokerTable {
  readonly #byName = new Map<string, BrokerEntry>();
  readonly #clusters = new Map<string, Set<string>>();

  get names(): IterableIterator<string> {
    return this.#byName.keys();
  }

  get clusters(): ReadonlyMap<string, ReadonlySet<string>> {
    return this.#clusters;
  }

  get(brokerName: string): BrokerEntry | undefined {
    return this.#byName.get(brokerName);
  }

  namesOf(cluster: string): ReadonlySet<string> | undefined {
    return this.#clusters.get(cluster);
  }

  /** The entry of a name, made where there is none. A name belongs to one cluster: the one it registered with last. */
  enter(cluster: string, brokerName: string): BrokerEntry {
    let entry = this.#byName.get(brokerName);
    if (entry === undefined) {
      entry = { cluster, brokerName, brokerAddrs: new Map(), enableActingMaster: false, zoneName: undefined };
      this.#byName.set(brokerName, entry);
    } else if (entry.cluster !== cluster) {
      this.#leaveCluster(entry.cluster, brokerName);
      entry.cluster = cluster;
    }
    const names = this.#clusters.get(cluster);
    if (names === undefined) this.#clusters.set(cluster, new Set([brokerName]));
    else names.add(brokerName);
    return entry;
  }

  delete(brokerName: string): void {
    const entry = this.#byName.get(brokerName);
    if (entry === undefined) return;
    this.#byName.delete(brokerName);
    this.#leaveCluster(entry.cluster, brokerName);
  }

  #leaveCluster(cluster: string, brokerName: string): void {
    const names = this.#clusters.get(cluster);
    names?.delete(brokerName);
    if (names?.size === 0) this.#clusters.delete(cluster);
  }
}

export function lowestId(entry: { readonly brokerAddrs: ReadonlyMap<number, string> }): number {
  return Math.min(...entry.brokerAddrs.keys());
}

/** A copy to answer with: ids in order, the master first. */
export function brokerDataOf(entry: BrokerEntry): BrokerData {
  return {
    cluster: entry.cluster,
    brokerName: entry.brokerName,
    brokerAddrs: new Map([...entry.brokerAddrs].sort(([a], [b]) => a - b)),
    enableActingMaster: entry.enableActingMaster,
    zoneName: entry.zoneName,
  };
}
