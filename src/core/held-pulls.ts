// Pulls that wait for a message: by queue for wake-up, by connection for cancelling, by due time for answering in time.

export interface HeldPull {
  readonly token: number;
  /** Index of the ingress that asked, or behind them of the scheduler, with which `connectionId` is unique. */
  readonly ingress: number;
  readonly connectionId: number;
  readonly queueKey: number;
  readonly offset: number;
  readonly maxCount: number;
  /** Tag hash codes it takes; null takes every message. */
  readonly codes: readonly number[] | null;
  readonly dueMs: number;
  /** A message it takes has arrived. */
  ready: boolean;
  /** Index in the due heap; -1 once it is out. */
  heapAt: number;
}

export class HeldPulls {
  readonly #byQueue = new Map<number, HeldPull[]>();
  readonly #byConnection = new Map<string, Set<HeldPull>>();
  /** Binary heap, soonest due first. */
  readonly #heap: HeldPull[] = [];
  readonly #countMax: number;
  readonly #ingressCount: number;
  #clientCount = 0;

  /** @param countMax of those that ingresses asked for. @param ingressCount askers from this index on are no ingresses. */
  constructor(countMax: number, ingressCount = Number.POSITIVE_INFINITY) {
    this.#countMax = countMax;
    this.#ingressCount = ingressCount;
  }

  /** Of clients; `count` has those of the scheduler as well. */
  get clientCount(): number {
    return this.#clientCount;
  }

  get count(): number {
    return this.#heap.length;
  }

  /** False when the table is full: the pull is to be answered at once. */
  tryAdd(pull: HeldPull): boolean {
    if (pull.ingress < this.#ingressCount) {
      if (this.#clientCount >= this.#countMax) return false;
      this.#clientCount++;
    }
    const queue = this.#byQueue.get(pull.queueKey);
    if (queue === undefined) this.#byQueue.set(pull.queueKey, [pull]);
    else queue.push(pull);
    const id = connectionKey(pull.ingress, pull.connectionId);
    const connection = this.#byConnection.get(id);
    if (connection === undefined) this.#byConnection.set(id, new Set([pull]));
    else connection.add(pull);
    pull.heapAt = this.#heap.length;
    this.#heap.push(pull);
    this.#up(pull.heapAt);
    return true;
  }

  /** Notes a message with this tag code in a queue; true when it makes a held pull ready. */
  arrived(queueKey: number, tagsCode: number): boolean {
    const queue = this.#byQueue.get(queueKey);
    if (queue === undefined) return false;
    let ready = false;
    for (const pull of queue) {
      if (pull.ready || (pull.codes !== null && !pull.codes.includes(tagsCode))) continue;
      pull.ready = true;
      ready = true;
    }
    return ready;
  }

  /** Takes the ready pulls of a queue out. */
  takeReady(queueKey: number): HeldPull[] {
    const ready = (this.#byQueue.get(queueKey) ?? []).filter((pull) => pull.ready);
    for (const pull of ready) this.#remove(pull);
    return ready;
  }

  /** Takes one pull out whose time is over; undefined when none is. */
  takeDue(nowMs: number): HeldPull | undefined {
    const first = this.#heap[0];
    if (first === undefined || first.dueMs > nowMs) return undefined;
    this.#remove(first);
    return first;
  }

  nextDueMs(): number {
    return this.#heap[0]?.dueMs ?? Number.POSITIVE_INFINITY;
  }

  /** Forgets the pulls of a closed connection. */
  cancelConnection(ingress: number, connectionId: number): number {
    const pulls = this.#byConnection.get(connectionKey(ingress, connectionId));
    if (pulls === undefined) return 0;
    const all = [...pulls];
    for (const pull of all) this.#remove(pull);
    return all.length;
  }

  /** Takes all pulls of a queue out: it is being removed. */
  takeQueue(queueKey: number): HeldPull[] {
    const all = [...(this.#byQueue.get(queueKey) ?? [])];
    for (const pull of all) this.#remove(pull);
    return all;
  }

  takeAll(): HeldPull[] {
    const all = [...this.#heap];
    for (const pull of all) this.#remove(pull);
    return all;
  }

  #remove(pull: HeldPull): void {
    if (pull.ingress < this.#ingressCount) this.#clientCount--;
    const queue = this.#byQueue.get(pull.queueKey);
    if (queue !== undefined) {
      queue.splice(queue.indexOf(pull), 1);
      if (queue.length === 0) this.#byQueue.delete(pull.queueKey);
    }
    const id = connectionKey(pull.ingress, pull.connectionId);
    const connection = this.#byConnection.get(id);
    if (connection?.delete(pull) && connection.size === 0) this.#byConnection.delete(id);
    this.#removeFromHeap(pull);
  }

  #removeFromHeap(pull: HeldPull): void {
    const at = pull.heapAt;
    const last = this.#heap.pop() as HeldPull;
    pull.heapAt = -1;
    if (last === pull) return;
    this.#heap[at] = last;
    last.heapAt = at;
    this.#up(at);
    this.#down(last.heapAt);
  }

  #up(at: number): void {
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.#due(parent) <= this.#due(at)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  #down(at: number): void {
    for (;;) {
      const left = 2 * at + 1;
      if (left >= this.#heap.length) return;
      const right = left + 1;
      const child = right < this.#heap.length && this.#due(right) < this.#due(left) ? right : left;
      if (this.#due(at) <= this.#due(child)) return;
      this.#swap(at, child);
      at = child;
    }
  }

  #due(at: number): number {
    return (this.#heap[at] as HeldPull).dueMs;
  }

  #swap(a: number, b: number): void {
    const x = this.#heap[a] as HeldPull;
    const y = this.#heap[b] as HeldPull;
    this.#heap[a] = y;
    this.#heap[b] = x;
    x.heapAt = b;
    y.heapAt = a;
  }
}

function connectionKey(ingress: number, connectionId: number): string {
  return `${ingress}:${connectionId}`;
}
