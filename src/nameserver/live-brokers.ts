// Which brokers are alive: when each was last heard of, for how long that counts, and over which connection it came.
import type { DataVersion } from '../protocol/bodies/data-version.ts';

export interface LiveBroker {
  readonly cluster: string;
  readonly address: string;
  readonly brokerName: string;
  readonly brokerId: number;
  readonly haServerAddr: string;
  readonly dataVersion: DataVersion;
  /** How long one sign of life counts. */
  readonly timeoutMs: number;
  lastSeenMs: number;
  /** The connection that the last sign of life came over. */
  connectionId: number;
}

export class LiveBrokers {
  readonly #byKey = new Map<string, LiveBroker>();
  /** Keys by connection: usually one, several where brokers share a process. */
  readonly #byConnection = new Map<number, Set<string>>();

  get count(): number {
    return this.#byKey.size;
  }

  get(cluster: string, address: string): LiveBroker | undefined {
    return this.#byKey.get(keyOf(cluster, address));
  }

  put(broker: LiveBroker): void {
    this.delete(broker.cluster, broker.address);
    const key = keyOf(broker.cluster, broker.address);
    this.#byKey.set(key, broker);
    this.#attach(key, broker.connectionId);
  }

  /** False where the broker is not known: it has to register first. */
  touch(cluster: string, address: string, steadyMs: number, connectionId: number): boolean {
    const key = keyOf(cluster, address);
    const broker = this.#byKey.get(key);
    if (broker === undefined) return false;
    broker.lastSeenMs = steadyMs;
    if (broker.connectionId !== connectionId) {
      this.#detach(key, broker.connectionId);
      broker.connectionId = connectionId;
      this.#attach(key, connectionId);
    }
    return true;
  }

  delete(cluster: string, address: string): LiveBroker | undefined {
    const key = keyOf(cluster, address);
    const broker = this.#byKey.get(key);
    if (broker === undefined) return undefined;
    this.#byKey.delete(key);
    this.#detach(key, broker.connectionId);
    return broker;
  }

  ofConnection(connectionId: number): LiveBroker[] {
    const found: LiveBroker[] = [];
    for (const key of this.#byConnection.get(connectionId) ?? []) {
      const broker = this.#byKey.get(key);
      if (broker !== undefined) found.push(broker);
    }
    return found;
  }

  silentSince(steadyMs: number): LiveBroker[] {
    const found: LiveBroker[] = [];
    for (const broker of this.#byKey.values()) if (broker.lastSeenMs + broker.timeoutMs < steadyMs) found.push(broker);
    return found;
  }

  #attach(key: string, connectionId: number): void {
    const keys = this.#byConnection.get(connectionId);
    if (keys === undefined) this.#byConnection.set(connectionId, new Set([key]));
    else keys.add(key);
  }

  #detach(key: string, connectionId: number): void {
    const keys = this.#byConnection.get(connectionId);
    if (keys === undefined) return;
    keys.delete(key);
    if (keys.size === 0) this.#byConnection.delete(connectionId);
  }
}

function keyOf(cluster: string, address: string): string {
  return `${cluster}\n${address}`;
}
