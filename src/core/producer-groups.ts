// Which connections produce under which group: who can be asked about a transaction, or be sent a reply.
import type { ClientInfo } from './consumer-groups.ts';
import { PRODUCER_COUNT_MAX } from './member-limits.ts';

export class ProducerGroups {
  readonly #groups = new Map<string, Map<number, ClientInfo>>();
  readonly #groupsOfLink = new Map<number, Set<string>>();
  /** Connections of each client, with the number of groups it produces under on each. */
  readonly #linksOfClient = new Map<string, Map<number, number>>();
  readonly #countMax: number;
  #pairCount = 0;

  constructor(countMax = PRODUCER_COUNT_MAX) {
    this.#countMax = countMax;
  }

  get size(): number {
    return this.#groups.size;
  }

  get linkCount(): number {
    return this.#groupsOfLink.size;
  }

  get(group: string): ReadonlyMap<number, ClientInfo> | undefined {
    return this.#groups.get(group);
  }

  all(): Iterable<[string, ReadonlyMap<number, ClientInfo>]> {
    return this.#groups;
  }

  groupsOf(link: number): readonly string[] {
    return [...(this.#groupsOfLink.get(link) ?? [])];
  }

  /** Whether a client produces over this connection. */
  has(link: number): boolean {
    return this.#groupsOfLink.has(link);
  }

  /** The newest connection over which a client of this id produces; -1 where there is none. */
  linkOf(clientId: string): number {
    let newest = -1;
    for (const link of this.#linksOfClient.get(clientId)?.keys() ?? []) newest = Math.max(newest, link);
    return newest;
  }

  #count(clientId: string, link: number, by: 1 | -1): void {
    const links = this.#linksOfClient.get(clientId) ?? new Map<number, number>();
    const count = (links.get(link) ?? 0) + by;
    if (count > 0) links.set(link, count);
    else links.delete(link);
    if (links.size > 0) this.#linksOfClient.set(clientId, links);
    else this.#linksOfClient.delete(clientId);
  }

  /** False where there are too many already. */
  beat(group: string, link: number, client: ClientInfo): boolean {
    const clients = this.#groups.get(group) ?? new Map<number, ClientInfo>();
    const before = clients.get(link);
    if (before === undefined && this.#pairCount >= this.#countMax) return false;
    if (before === undefined) this.#pairCount++;
    if (before?.clientId !== client.clientId) {
      if (before !== undefined) this.#count(before.clientId, link, -1);
      this.#count(client.clientId, link, 1);
    }
    this.#groups.set(group, clients.set(link, client));
    const groups = this.#groupsOfLink.get(link) ?? new Set();
    this.#groupsOfLink.set(link, groups.add(group));
    return true;
  }

  leave(group: string, link: number): boolean {
    const clients = this.#groups.get(group);
    const client = clients?.get(link);
    if (clients === undefined || client === undefined) return false;
    clients.delete(link);
    this.#pairCount--;
    this.#count(client.clientId, link, -1);
    if (clients.size === 0) this.#groups.delete(group);
    const groups = this.#groupsOfLink.get(link);
    groups?.delete(group);
    if (groups?.size === 0) this.#groupsOfLink.delete(link);
    return true;
  }
}
