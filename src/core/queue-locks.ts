// Which member of a group may consume which queue in order: locks that are renewed, expire, and end with their owner.
//
//   held    its owner has it, and renewed it in the last 60 s
//   kept    the broker lost its owner, by a restart or a fault of its own: for 30 s it is no one else's; once renewed it is held again
import { ExpiryQueue } from './expiry-queue.ts';
import { type OwnedQueue, type QueueOwners, queuesOf } from './queue-owners.ts';

/** Stock consumers renew every 20 s, and stop to trust a lock that was not renewed for 30 s. */
export const QUEUE_LOCK_LIFE_MS = 60_000;
/** That trust: Java's ProcessQueue.REBALANCE_LOCK_MAX_LIVE_TIME, Go's _RebalanceLockMaxTime. An owner that we lost works on for so long. */
export const QUEUE_LOCK_TRUST_MS = 30_000;
/** Of all groups together; further queues are not locked. */
export const QUEUE_LOCK_COUNT_MAX = 500_000;

export interface LockOwner {
  readonly group: string;
  readonly clientId: string;
  /** The connection that asked last: the locks of a client that is no member end with it. */
  readonly link: number;
}

/** Connections are numbered from 1 on: the owner of a lock that is kept has none. */
const NO_LINK = 0;

interface Lock extends OwnedQueue {
  readonly queue: string;
  link: number;
  /** Another client asked for it in vain. */
  wanted: boolean;
}

interface Group {
  readonly locks: Map<string, Lock>;
  /** How many queues of each topic are locked. */
  readonly topics: Map<string, number>;
}

export class QueueLocks {
  readonly #groups = new Map<string, Group>();
  readonly #ofLink = new Map<number, Set<Lock>>();
  readonly #expiry: ExpiryQueue<Lock>;
  readonly #kept: ExpiryQueue<Lock>;
  readonly #countMax: number;
  /** Groups that have locks on other topics than when that was last asked for. */
  readonly #changed = new Set<string>();
  /** Groups of which a queue is free that somebody asked for in vain. */
  readonly #freed = new Set<string>();
  /** Queues have other owners than when that was last stored. */
  #dirty = false;

  constructor(lifeMs = QUEUE_LOCK_LIFE_MS, countMax = QUEUE_LOCK_COUNT_MAX, trustMs = QUEUE_LOCK_TRUST_MS) {
    this.#expiry = new ExpiryQueue(lifeMs);
    this.#kept = new ExpiryQueue(trustMs);
    this.#countMax = countMax;
  }

  get size(): number {
    return this.#expiry.size + this.#kept.size;
  }

  /** Of these the locks whose owners the broker lost. */
  get keptCount(): number {
    return this.#kept.size;
  }

  get dirty(): boolean {
    return this.#dirty;
  }

  markSaved(): void {
    this.#dirty = false;
  }

  *all(): Iterable<OwnedQueue> {
    for (const group of this.#groups.values()) yield* group.locks.values();
  }

  /**
   * Owners of before the start: they may still be at work.
   * @param isHere a group or a queue that is gone meanwhile has no owner.
   */
  load(owners: QueueOwners, isHere: (group: string, topic: string, queueId: number) => boolean, steadyMs: number): void {
    let left = false;
    for (const { group, clientId, topic, queueId } of queuesOf(owners)) {
      const isTaken = this.#find(group, topic, queueId) !== undefined;
      if (isTaken || this.size >= this.#countMax || !isHere(group, topic, queueId)) left = true;
      else this.#kept.touch(this.#begin({ group, clientId, link: NO_LINK }, topic, queueId), steadyMs);
    }
    this.#dirty = left;
  }

  /** A connection is gone by the broker's own fault: its client knows of nothing, and works on. */
  keepLink(link: number, steadyMs: number): void {
    for (const lock of [...(this.#ofLink.get(link) ?? [])]) {
      this.#detach(lock);
      lock.link = NO_LINK;
      this.#expiry.forget(lock);
      this.#kept.touch(lock, steadyMs);
    }
  }

  /** An owner that was lost is a member again. What it does not read any more it does not hold. */
  returned(group: string, clientId: string, reads: (topic: string) => boolean): void {
    if (this.#kept.size === 0) return;
    for (const lock of [...(this.#groups.get(group)?.locks.values() ?? [])]) {
      if (lock.link === NO_LINK && lock.clientId === clientId && !reads(lock.topic)) this.#end(lock);
    }
  }

  /** Connections with locks. */
  get linkCount(): number {
    return this.#ofLink.size;
  }

  nextMs(): number {
    return Math.min(this.#expiry.nextMs(), this.#kept.nextMs());
  }

  /** Ends the locks that were not renewed in time; returns how many. */
  expire(steadyMs: number): number {
    if (steadyMs < this.nextMs()) return 0;
    const expired = [...this.#expiry.takeExpired(steadyMs), ...this.#kept.takeExpired(steadyMs)];
    for (const lock of expired) this.#end(lock);
    return expired.length;
  }

  /** Takes or renews a lock; false where another client holds it, or there are too many. */
  tryLock(owner: LockOwner, topic: string, queueId: number, steadyMs: number): boolean {
    this.expire(steadyMs);
    const held = this.#find(owner.group, topic, queueId);
    if (held !== undefined && held.clientId !== owner.clientId) {
      held.wanted = true;
      return false;
    }
    if (held === undefined && this.size >= this.#countMax) return false;
    const lock = held ?? this.#begin(owner, topic, queueId);
    if (lock.link !== owner.link) {
      this.#detach(lock);
      lock.link = owner.link;
      this.#attach(lock);
    }
    this.#kept.forget(lock);
    this.#expiry.touch(lock, steadyMs);
    return true;
  }

  /** False where this client does not hold the lock. */
  unlock(group: string, clientId: string, topic: string, queueId: number): boolean {
    const lock = this.#find(group, topic, queueId);
    if (lock === undefined || lock.clientId !== clientId) return false;
    this.#end(lock);
    return true;
  }

  /** A member left its group. */
  releaseClient(group: string, clientId: string): void {
    for (const lock of [...(this.#groups.get(group)?.locks.values() ?? [])]) if (lock.clientId === clientId) this.#end(lock);
  }

  /** A connection closed: what it locked ends, but for clients that live on as members by another one. */
  releaseLink(link: number, isMember: (group: string, clientId: string) => boolean): void {
    for (const lock of [...(this.#ofLink.get(link) ?? [])]) if (!isMember(lock.group, lock.clientId)) this.#end(lock);
  }

  dropTopic(topic: string): void {
    for (const group of [...this.#groups.values()]) {
      if (!group.topics.has(topic)) continue;
      for (const lock of [...group.locks.values()]) if (lock.topic === topic) this.#end(lock);
    }
  }

  dropGroup(group: string): void {
    for (const lock of [...(this.#groups.get(group)?.locks.values() ?? [])]) this.#end(lock);
  }

  /** Topics of which the group has a queue locked: it consumes them in order. */
  topicsOf(group: string): string[] {
    return [...(this.#groups.get(group)?.topics.keys() ?? [])];
  }

  /** Groups of which `topicsOf` answers otherwise than at the last call. */
  takeChanged(): string[] {
    if (this.#changed.size === 0) return [];
    const changed = [...this.#changed];
    this.#changed.clear();
    return changed;
  }

  /**
   * Groups with a member that waits for a queue which is free now, since the last call. Clients before 5.0 would ask again only with their
   * next round, after up to 20 s.
   */
  takeFreed(): string[] {
    if (this.#freed.size === 0) return [];
    const freed = [...this.#freed];
    this.#freed.clear();
    return freed;
  }

  #find(group: string, topic: string, queueId: number): Lock | undefined {
    return this.#groups.get(group)?.locks.get(queueKey(topic, queueId));
  }

  #begin({ group: name, clientId, link }: LockOwner, topic: string, queueId: number): Lock {
    const group = this.#groups.get(name) ?? { locks: new Map<string, Lock>(), topics: new Map<string, number>() };
    this.#groups.set(name, group);
    const lock: Lock = { group: name, topic, queueId, queue: queueKey(topic, queueId), clientId, link, wanted: false };
    this.#dirty = true;
    group.locks.set(lock.queue, lock);
    const count = group.topics.get(topic) ?? 0;
    group.topics.set(topic, count + 1);
    if (count === 0) this.#changed.add(name);
    this.#attach(lock);
    return lock;
  }

  #end(lock: Lock): void {
    const group = this.#groups.get(lock.group) as Group;
    group.locks.delete(lock.queue);
    const count = (group.topics.get(lock.topic) as number) - 1;
    if (count > 0) group.topics.set(lock.topic, count);
    else {
      group.topics.delete(lock.topic);
      this.#changed.add(lock.group);
    }
    if (group.locks.size === 0) this.#groups.delete(lock.group);
    if (lock.wanted) this.#freed.add(lock.group);
    this.#dirty = true;
    this.#detach(lock);
    this.#expiry.forget(lock);
    this.#kept.forget(lock);
  }

  #attach(lock: Lock): void {
    if (lock.link === NO_LINK) return;
    const locks = this.#ofLink.get(lock.link) ?? new Set();
    this.#ofLink.set(lock.link, locks.add(lock));
  }

  #detach(lock: Lock): void {
    const locks = this.#ofLink.get(lock.link);
    locks?.delete(lock);
    if (locks?.size === 0) this.#ofLink.delete(lock.link);
  }
}

function queueKey(topic: string, queueId: number): string {
  return `${queueId} ${topic}`;
}
