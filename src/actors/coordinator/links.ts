// The open client connections, numbered in the order in which the coordinator heard of them: the larger number is the newer one.

export interface Link {
  readonly id: number;
  /** Which ingress owns the socket; its connection ids mean nothing to the others. */
  readonly ingress: number;
  readonly connectionId: number;
  readonly host: string;
  readonly port: number;
}

const CONNECTION_ID_BOUND = 2 ** 32;

export class Links {
  readonly #byConnection = new Map<number, Link>();
  readonly #byId = new Map<number, Link>();
  #nextId = 1;

  get size(): number {
    return this.#byId.size;
  }

  open(ingress: number, connectionId: number, host: string, port: number): Link {
    const link = { id: this.#nextId++, ingress, connectionId, host, port };
    this.#byConnection.set(ingress * CONNECTION_ID_BOUND + connectionId, link);
    this.#byId.set(link.id, link);
    return link;
  }

  /** Undefined once the connection is closed, whatever else still arrives from it. */
  find(ingress: number, connectionId: number): Link | undefined {
    return this.#byConnection.get(ingress * CONNECTION_ID_BOUND + connectionId);
  }

  byId(id: number): Link | undefined {
    return this.#byId.get(id);
  }

  /** The connections of an ingress, which has failed. */
  ofIngress(ingress: number): Link[] {
    return [...this.#byId.values()].filter((link) => link.ingress === ingress);
  }

  close(ingress: number, connectionId: number): Link | undefined {
    const link = this.find(ingress, connectionId);
    if (link === undefined) return undefined;
    this.#byConnection.delete(ingress * CONNECTION_ID_BOUND + connectionId);
    this.#byId.delete(link.id);
    return link;
  }
}

export function addressOf(link: Link): string {
  return `${link.host}:${link.port}`;
}
