// Requests of the broker to its clients that wait for an answer: who asked, of which connection, and until when.
//
// Each call ends exactly once: by its answer, by the end of its connection, or when its time is over. What comes later finds nothing.

export interface ClientCall<W> {
  readonly opaque: number;
  readonly link: number;
  readonly deadlineMs: number;
  /** Whatever the asker needs to go on. */
  readonly waiter: W;
}

const OPAQUE_BOUND = 2 ** 31;

export class ClientCalls<W> {
  readonly #calls = new Map<number, ClientCall<W>>();
  readonly #byLink = new Map<number, Set<number>>();
  readonly #countMax: number;
  #lastOpaque = 0;
  /** No call ends earlier; it may be too early, never too late. */
  #nextMs = Number.POSITIVE_INFINITY;

  constructor(countMax: number) {
    this.#countMax = countMax;
  }

  get size(): number {
    return this.#calls.size;
  }

  get isFull(): boolean {
    return this.#calls.size >= this.#countMax;
  }

  /** When `takeExpired` may have something. */
  nextMs(): number {
    return this.#nextMs;
  }

  /** A number for a request that nobody waits for, or that is opened with it. */
  nextOpaque(): number {
    do this.#lastOpaque = (this.#lastOpaque + 1) % OPAQUE_BOUND;
    while (this.#calls.has(this.#lastOpaque));
    return this.#lastOpaque;
  }

  /** The request's number; -1 while too many are under way. */
  open(link: number, deadlineMs: number, waiter: W): number {
    if (this.isFull) return -1;
    const opaque = this.nextOpaque();
    this.#calls.set(opaque, { opaque, link, deadlineMs, waiter });
    const ofLink = this.#byLink.get(link);
    if (ofLink === undefined) this.#byLink.set(link, new Set([opaque]));
    else ofLink.add(opaque);
    this.#nextMs = Math.min(this.#nextMs, deadlineMs);
    return opaque;
  }

  /** The call that an answer belongs to; undefined where it comes too late, twice, or over a connection that was not asked. */
  answered(link: number, opaque: number): W | undefined {
    const call = this.#calls.get(opaque);
    if (call === undefined || call.link !== link) return undefined;
    this.#remove(call);
    return call.waiter;
  }

  linkClosed(link: number): W[] {
    const opaques = this.#byLink.get(link);
    if (opaques === undefined) return [];
    return [...opaques].map((opaque) => {
      const call = this.#calls.get(opaque) as ClientCall<W>;
      this.#remove(call);
      return call.waiter;
    });
  }

  /** Those whose time is over. */
  takeExpired(steadyMs: number): W[] {
    if (steadyMs < this.#nextMs) return [];
    const expired: ClientCall<W>[] = [];
    this.#nextMs = Number.POSITIVE_INFINITY;
    for (const call of this.#calls.values()) {
      if (call.deadlineMs <= steadyMs) expired.push(call);
      else this.#nextMs = Math.min(this.#nextMs, call.deadlineMs);
    }
    for (const call of expired) this.#remove(call);
    return expired.map((call) => call.waiter);
  }

  #remove(call: ClientCall<W>): void {
    this.#calls.delete(call.opaque);
    const ofLink = this.#byLink.get(call.link);
    ofLink?.delete(call.opaque);
    if (ofLink?.size === 0) this.#byLink.delete(call.link);
    if (this.#calls.size === 0) this.#nextMs = Number.POSITIVE_INFINITY;
  }
}
