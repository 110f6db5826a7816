// Which connections produce under which group: who can be asked about a transaction, or be sent a reply.
import type { ClientInfo } from './consumer-groups.ts';

export class ProducerGroups {
  readonly #groups = new Map<string, Map<number, ClientInfo>>();
  readonly #groupsOfLink = new Map<number, Set<string>>();

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

  beat(group: string, link: number, client: ClientInfo): void {
    const clients = this.#groups.get(group) ?? new Map<number, ClientInfo>();
    this.#groups.set(group, clients.set(link, client));
    const groups = this.#groupsOfLink.get(link) ?? new Set();
    this.#groupsOfLink.set(link, groups.add(group));
  }

  leave(group: string, link: number): boolean {
    const clients = this.#groups.get(group);
    if (clients === undefined || !clients.delete(link)) return false;
    if (clients.size === 0) this.#groups.delete(group);
    const groups = this.#groupsOfLink.get(link);
    groups?.delete(group);
    if (groups?.size === 0) this.#groupsOfLink.delete(link);
    return true;
  }
}
