// Requests that wait for another actor's answer, by token; a closed connection's are forgotten without a look at all the others.
import type { HeaderCodec } from '../../protocol/frame.ts';
import type { Header } from '../../protocol/header.ts';
import type { ClientConnection } from './client-connection.ts';

/** What every answer needs; paths add their own. */
export interface Ask {
  readonly client: ClientConnection;
  readonly opaque: number;
  readonly codec: HeaderCodec;
  readonly oneway: boolean;
}

export function askOf(client: ClientConnection, header: Header): Ask {
  return { client, opaque: header.opaque, codec: header.codec, oneway: header.isOneway };
}

export class PendingAsks<T extends Ask> {
  readonly #byToken = new Map<number, T>();
  readonly #byClient = new Map<ClientConnection, Set<number>>();
  #nextToken: number;

  /** @param firstToken differs from incarnation to incarnation, so that answers meant for a former one are not taken. */
  constructor(firstToken: number) {
    this.#nextToken = firstToken | 0;
  }

  get count(): number {
    return this.#byToken.size;
  }

  /** The token that the next `add` will give. */
  get nextToken(): number {
    return this.#nextToken;
  }

  add(ask: T): void {
    const token = this.#nextToken;
    this.#nextToken = (token + 1) | 0;
    this.#byToken.set(token, ask);
    const tokens = this.#byClient.get(ask.client);
    if (tokens === undefined) this.#byClient.set(ask.client, new Set([token]));
    else tokens.add(token);
    ask.client.pendingCount++;
  }

  /** Takes out what an answer belongs to; undefined when its connection has closed, or a former incarnation asked. */
  take(token: number): T | undefined {
    const ask = this.#byToken.get(token);
    if (ask === undefined) return undefined;
    this.#byToken.delete(token);
    const tokens = this.#byClient.get(ask.client);
    if (tokens?.delete(token) && tokens.size === 0) this.#byClient.delete(ask.client);
    ask.client.pendingCount--;
    return ask;
  }

  /** Takes out all that are meant. */
  takeAll(isMeant: (ask: T) => boolean): T[] {
    const tokens = [...this.#byToken].filter(([, ask]) => isMeant(ask)).map(([token]) => token);
    return tokens.map((token) => this.take(token) as T);
  }

  /** A token that no `add` will give: for a question that no client waits for. */
  skipToken(): number {
    const token = this.#nextToken;
    this.#nextToken = (token + 1) | 0;
    return token;
  }

  /** Returns how many of the client's asks were forgotten. */
  forget(client: ClientConnection): number {
    const tokens = this.#byClient.get(client);
    if (tokens === undefined) return 0;
    for (const token of tokens) this.#byToken.delete(token);
    this.#byClient.delete(client);
    client.pendingCount -= tokens.size;
    return tokens.size;
  }
}
