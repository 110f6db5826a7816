// Resets of committed offsets that members may not know of yet: each has a number, its epoch, and a commit from before it changes nothing.
//
//   open ──pull──> told ──next pull of that connection──> known ──GUARD_MS──> forgotten
//     ^             │
//     └─────────────┘ the connection closed before it showed that it knows
//
// A commit counts only from a connection that knows of the reset. It knows once it has pulled the queue after it was told of it: frames of
// one connection keep their order, so what it sent before it was told is behind it by then. Once one connection knows, a later one is not
// moved any more; it knows once it pulls a second time. Whoever begins exactly at the new offset knows, too: a group without members at the
// time of the reset has nobody who could be anywhere else; and so does who was told and commits it.

/** So long after the first connection knows, commits of connections that have not pulled since are still refused. */
export const RESET_GUARD_MS = 60_000;

/** pull: the broker moves the next pull. client: members were told by a request; their next pull shows whether they have done it. */
export type ResetKind = 'pull' | 'client';
export type ResetState = 'open' | 'told' | 'known';

export interface OffsetReset {
  /** Larger than that of every reset before. */
  readonly epoch: number;
  readonly group: string;
  readonly topic: string;
  readonly queueId: number;
  readonly offset: number;
  readonly kind: ResetKind;
  /** The group had no members at that time. */
  readonly offline: boolean;
  readonly state: ResetState;
}

interface Row extends OffsetReset {
  state: ResetState;
  /** Connections that were told and have not pulled since. */
  readonly told: Set<number>;
  readonly knowing: Set<number>;
  /** When it is forgotten; Infinity while nobody is known to know. */
  endsAtMs: number;
}

export interface ResetWish {
  readonly group: string;
  readonly topic: string;
  readonly queueId: number;
  readonly offset: number;
  readonly kind: ResetKind;
  readonly offline: boolean;
}

/** A reset as it is kept on disk. */
export interface StoredReset {
  readonly group: string;
  readonly topic: string;
  readonly queueId: number;
  readonly offset: number;
}

export class OffsetResets {
  readonly #byEpoch = new Map<number, Row>();
  readonly #byQueue = new Map<string, Row>();
  readonly #countMax: number;
  /** Groups whose resets changed since `takeChanged`. */
  readonly #changed = new Set<string>();
  #lastEpoch = 0;
  #nextMs = Number.POSITIVE_INFINITY;
  #dirty = false;

  constructor(countMax: number) {
    this.#countMax = countMax;
  }

  get size(): number {
    return this.#byEpoch.size;
  }

  /** What is to be on disk has changed. */
  get dirty(): boolean {
    return this.#dirty;
  }

  markSaved(): void {
    this.#dirty = false;
  }

  nextMs(): number {
    return this.#nextMs;
  }

  /** Whether `count` more would fit. */
  hasRoom(count: number): boolean {
    return this.#byEpoch.size + count <= this.#countMax;
  }

  load(stored: readonly StoredReset[]): void {
    for (const reset of stored) this.reset({ ...reset, kind: 'pull', offline: false }, 0);
    this.#dirty = false;
  }

  /** The newest reset of a queue replaces those before. */
  reset(wish: ResetWish, steadyMs: number): OffsetReset {
    const key = keyOf(wish.group, wish.topic, wish.queueId);
    const old = this.#byQueue.get(key);
    if (old !== undefined) this.#remove(old);
    const endsAtMs = wish.kind === 'client' ? steadyMs + RESET_GUARD_MS : Number.POSITIVE_INFINITY;
    const row: Row = { ...wish, epoch: ++this.#lastEpoch, state: 'open', told: new Set(), knowing: new Set(), endsAtMs };
    this.#byQueue.set(key, row);
    this.#byEpoch.set(row.epoch, row);
    this.#nextMs = Math.min(this.#nextMs, endsAtMs);
    this.#dirty = true;
    this.#changed.add(wish.group);
    return row;
  }

  /** @param link -1 for a connection that is not known (any more). */
  mayCommit(group: string, topic: string, queueId: number, offset: number, link: number, steadyMs: number): boolean {
    if (this.#byQueue.size === 0) return true;
    const row = this.#byQueue.get(keyOf(group, topic, queueId));
    if (row === undefined || row.knowing.has(link)) return true;
    // Members persist the offset that they were moved to before they pull again.
    if (link < 0 || offset !== row.offset || (row.kind === 'pull' && !row.told.has(link))) return false;
    this.knows(row.epoch, link, steadyMs);
    return true;
  }

  /** A pull of this connection was answered with the new offset. */
  told(epoch: number, link: number): void {
    const row = this.#byEpoch.get(epoch);
    if (row === undefined || row.knowing.has(link)) return;
    row.told.add(link);
    if (row.state === 'open') this.#become(row, 'told');
  }

  /** This connection has shown that it knows. */
  knows(epoch: number, link: number, steadyMs: number): void {
    const row = this.#byEpoch.get(epoch);
    if (row === undefined) return;
    row.told.delete(link);
    row.knowing.add(link);
    if (row.state === 'known') return;
    row.endsAtMs = steadyMs + RESET_GUARD_MS;
    this.#nextMs = Math.min(this.#nextMs, row.endsAtMs);
    // A restart must not tell it again: it would undo what is committed from now on.
    this.#dirty = true;
    this.#become(row, 'known');
  }

  /** What it was told may never have arrived. */
  linkClosed(link: number): void {
    for (const row of this.#byEpoch.values()) {
      row.knowing.delete(link);
      if (row.told.delete(link) && row.told.size === 0 && row.state === 'told') this.#become(row, 'open');
    }
  }

  dropTopic(topic: string): void {
    this.#drop((row) => row.topic === topic);
  }

  dropGroup(group: string): void {
    this.#drop((row) => row.group === group);
  }

  /** Forgets those that every member had the time to learn of. */
  expire(steadyMs: number): void {
    if (steadyMs < this.#nextMs) return;
    this.#nextMs = Number.POSITIVE_INFINITY;
    for (const row of [...this.#byEpoch.values()]) {
      if (row.endsAtMs <= steadyMs) this.#remove(row);
      else this.#nextMs = Math.min(this.#nextMs, row.endsAtMs);
    }
  }

  ofGroup(group: string): OffsetReset[] {
    if (this.#byEpoch.size === 0) return [];
    return [...this.#byEpoch.values()].filter((row) => row.group === group);
  }

  /** What a restart must know: all but those that a member is known to know of, and those that members were asked to do themselves. */
  stored(): StoredReset[] {
    const rows = [...this.#byEpoch.values()].filter((row) => row.kind === 'pull' && row.state !== 'known');
    return rows.map(({ group, topic, queueId, offset }) => ({ group, topic, queueId, offset }));
  }

  get hasChanged(): boolean {
    return this.#changed.size > 0;
  }

  /** Groups whose resets the ingresses are to hear of. */
  takeChanged(): string[] {
    const groups = [...this.#changed];
    this.#changed.clear();
    return groups;
  }

  #become(row: Row, state: ResetState): void {
    row.state = state;
    this.#changed.add(row.group);
  }

  #drop(isGone: (row: Row) => boolean): void {
    for (const row of [...this.#byEpoch.values()]) if (isGone(row)) this.#remove(row);
  }

  #remove(row: Row): void {
    this.#byEpoch.delete(row.epoch);
    this.#byQueue.delete(keyOf(row.group, row.topic, row.queueId));
    this.#changed.add(row.group);
    this.#dirty = true;
  }
}

function keyOf(group: string, topic: string, queueId: number): string {
  return `${queueId}@${topic}@${group}`;
}
