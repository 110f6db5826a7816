// Keeps who is connected in which role: heartbeats, leavings, expiry, and the notices to groups whose members changed.
import { RateLimit } from '../../base/rate-limit.ts';
import type { ClientInfo, ConsumerBeat, ConsumerGroups, GroupEffect, Member } from '../../core/consumer-groups.ts';
import { ExpiryQueue } from '../../core/expiry-queue.ts';
import { shown } from '../../core/member-limits.ts';
import { NoticeBook } from '../../core/notice-book.ts';
import { ProducerGroups } from '../../core/producer-groups.ts';
import type { LockOwner, QueueLocks } from '../../core/queue-locks.ts';
import { CounterIds } from '../../runtime/counters.ts';
import type { ActorContext } from '../context.ts';
import { addressOf, type Link, type Links } from './links.ts';

const WARN_INTERVAL_MS = 10_000;
const NOTICE_DELAY_MS = 15_000;

export interface MembershipEvents {
  /** An ingress must hear of the group. */
  groupChanged(group: string): void;
  /** The member's own ingress must hear of it; null: it is none any more. */
  memberChanged(group: string, link: Link, member: Member | null): void;
  /** Its members are to be told that there are others now. */
  notify(group: string, link: Link): void;
  closeConnection(link: Link): void;
  /** The group says that its members want no notices. */
  wantsNotices(group: string): boolean;
}

export class Membership {
  readonly consumers: ConsumerGroups;
  readonly producers = new ProducerGroups();
  readonly locks: QueueLocks;
  readonly #context: ActorContext;
  readonly #links: Links;
  readonly #events: MembershipEvents;
  readonly #notices: NoticeBook;
  readonly #duplicateLimit = new RateLimit(WARN_INTERVAL_MS);
  readonly #mismatchLimit = new RateLimit(WARN_INTERVAL_MS);
  readonly #passedOverLimit = new RateLimit(WARN_INTERVAL_MS);
  /** Keys: `c` or `p`, link, group. */
  readonly #expiry: ExpiryQueue<string>;

  constructor(context: ActorContext, consumers: ConsumerGroups, locks: QueueLocks, links: Links, events: MembershipEvents) {
    const { settings } = context;
    this.consumers = consumers;
    this.locks = locks;
    this.#context = context;
    this.#links = links;
    this.#events = events;
    this.#notices = new NoticeBook(settings.realTimeNotifyConsumerChange ? settings.notifyCoalesceMs : NOTICE_DELAY_MS);
    this.#expiry = new ExpiryQueue(settings.channelExpiredTimeout);
  }

  /** Sizes of all tables, for the counters and the tests of leaks. */
  get sizes(): Record<string, number> {
    return {
      consumerGroups: this.consumers.size,
      consumerLinks: this.consumers.linkCount,
      producerGroups: this.producers.size,
      producerLinks: this.producers.linkCount,
      expiries: this.#expiry.size,
      notices: this.#notices.size,
      locks: this.locks.size,
      lockLinks: this.locks.linkCount,
    };
  }

  nextMs(): number {
    return Math.min(this.#expiry.nextMs(), this.#notices.nextMs(), this.locks.nextMs());
  }

  consumerBeat(beat: ConsumerBeat, link: Link): GroupEffect {
    const { clock } = this.#context;
    const effect = this.consumers.beat(beat);
    const { group } = beat;
    if (effect.refused || effect.replacedLink >= 0) this.#onDuplicate(effect, beat, link);
    if (effect.refused) return effect;
    if (effect.replacedLink >= 0) {
      this.#expiry.forget(expiryKey('c', effect.replacedLink, group));
      const replaced = this.#links.byId(effect.replacedLink);
      if (replaced !== undefined) this.#events.memberChanged(group, replaced, null);
    }
    this.#expiry.touch(expiryKey('c', beat.link, group), clock.steadyMs());
    if (effect.member) {
      const member = this.consumers.get(group)?.members.get(link.id) ?? null;
      this.#events.memberChanged(group, link, member);
      if (member !== null) this.#returned(group, member);
    }
    if (effect.mismatch !== null) this.#onMismatch(group, link, beat.clientId, effect.mismatch);
    this.#apply(group, effect);
    return effect;
  }

  /** False where there are too many producers. */
  producerBeat(group: string, link: Link, client: ClientInfo): boolean {
    if (!this.producers.beat(group, link.id, client)) return false;
    this.#expiry.touch(expiryKey('p', link.id, group), this.#context.clock.steadyMs());
    return true;
  }

  /** A client says that it leaves, perhaps by a new connection, on which it is no member yet. */
  unregisterConsumer(group: string, link: number, clientId: string): void {
    this.leaveConsumer(group, link);
    if (this.consumers.linkOf(group, clientId) >= 0) return;
    this.locks.releaseClient(group, clientId);
    this.tellLocks();
  }

  /** @param keepsLocks it did not leave by itself. */
  leaveConsumer(group: string, link: number, keepsLocks = false): void {
    this.#expiry.forget(expiryKey('c', link, group));
    const member = this.consumers.get(group)?.members.get(link);
    const effect = this.consumers.leave(group, link);
    if (member === undefined || effect === null) return;
    if (!keepsLocks) this.locks.releaseClient(group, member.clientId);
    const open = this.#links.byId(link);
    if (open !== undefined) this.#events.memberChanged(group, open, null);
    this.#apply(group, effect);
    this.tellLocks();
  }

  leaveProducer(group: string, link: number): void {
    this.#expiry.forget(expiryKey('p', link, group));
    this.producers.leave(group, link);
  }

  /**
   * Everything that lived on the connection ends with it.
   * @param lost it is the broker that ended it: locks wait for their owners.
   */
  linkClosed(link: number, lost = false): void {
    if (lost) this.locks.keepLink(link, this.#context.clock.steadyMs());
    for (const group of this.consumers.groupsOf(link)) this.leaveConsumer(group, link, lost);
    for (const group of this.producers.groupsOf(link)) this.leaveProducer(group, link);
    this.locks.releaseLink(link, (group, clientId) => this.consumers.linkOf(group, clientId) >= 0);
    this.tellLocks();
  }

  /** Of two connections with one client id only the newer one, which counts as the member, gets locks. */
  tryLock(owner: LockOwner, topic: string, queueId: number): boolean {
    if (this.consumers.linkOf(owner.group, owner.clientId) > owner.link) return false;
    return this.locks.tryLock(owner, topic, queueId, this.#context.clock.steadyMs());
  }

  topicRemoved(topic: string): void {
    this.locks.dropTopic(topic);
    this.tellLocks();
  }

  /** Whoever changed locks calls it: ingress must know which topics a group consumes in order, and members when a queue they want is free. */
  tellLocks(): void {
    for (const group of this.locks.takeChanged()) this.#events.groupChanged(group);
    for (const group of this.locks.takeFreed()) this.#askNotice(group);
  }

  /** Tells due notices and ends what has been silent for too long. Returns how much there was. */
  tick(steadyMs: number): number {
    const expired = this.#expiry.takeExpired(steadyMs);
    for (const key of expired) this.#expire(key);
    const due = this.#notices.takeDue(steadyMs);
    for (const group of due) this.#tellMembers(group);
    const unlocked = this.locks.expire(steadyMs);
    if (unlocked > 0) this.tellLocks();
    return expired.length + due.length + unlocked;
  }

  /** Its heartbeat is answered with success, as stock clients expect, so that only the log can tell why it gets nothing. */
  passedOver(group: string, clientId: string, link: Link, why: string): void {
    const { log, clock } = this.#context;
    const suppressed = this.#passedOverLimit.admit(clock.steadyMs());
    if (suppressed < 0) return;
    const fields = { group: shown(group), clientId, address: addressOf(link), why, suppressed };
    log.warn('a consumer is no member of its group and gets no messages', fields);
  }

  /** Of what a broadcasting member reads nothing is locked. */
  #returned(group: string, { clientId, messageModel, subscriptions }: Member): void {
    this.locks.returned(group, clientId, (topic) => messageModel !== 'BROADCASTING' && subscriptions.has(topic));
    this.tellLocks();
  }

  #onDuplicate(effect: GroupEffect, { group, clientId }: ConsumerBeat, link: Link): void {
    const { counters, log, clock } = this.#context;
    counters.add(CounterIds.duplicateClients, 1);
    const suppressed = this.#duplicateLimit.admit(clock.steadyMs());
    if (suppressed < 0) return;
    const rival = this.#links.byId(effect.replacedLink);
    log.warn('two connections of one group have the same client id; the newer one counts', {
      group,
      clientId,
      newer: effect.refused ? 'another' : addressOf(link),
      older: effect.refused ? addressOf(link) : rival === undefined ? 'closed' : addressOf(rival),
      suppressed,
    });
  }

  #onMismatch(group: string, link: Link, clientId: string, { own, other }: { own: string; other: string }): void {
    const { counters, log, clock } = this.#context;
    counters.add(CounterIds.subscriptionMismatches, 1);
    const suppressed = this.#mismatchLimit.admit(clock.steadyMs());
    if (suppressed < 0) return;
    const fields = { group, clientId, address: addressOf(link), reads: shown(own), others: shown(other), suppressed };
    log.warn('members of a group subscribe to different things; some messages will not be read', fields);
  }

  #expire(key: string): void {
    const { kind, link: id, group } = partsOf(key);
    const link = this.#links.byId(id);
    this.#context.log.info('client without heartbeat is dropped', { group, address: link === undefined ? 'closed' : addressOf(link) });
    if (kind === 'c') this.leaveConsumer(group, id);
    else this.leaveProducer(group, id);
    // A connection that still beats for other groups is alive.
    const silent = !this.consumers.has(id) && !this.producers.has(id);
    if (silent && link !== undefined) this.#events.closeConnection(link);
  }

  #apply(group: string, effect: GroupEffect): void {
    this.#context.counters.set(CounterIds.mismatchedGroups, this.consumers.mismatchedCount);
    if (effect.directory) this.#events.groupChanged(group);
    if (this.consumers.get(group) === undefined) this.#notices.forget(group);
    else if (effect.told) this.#askNotice(group);
  }

  #askNotice(group: string): void {
    const live = this.consumers.get(group);
    if (live === undefined || live.messageModel === 'BROADCASTING' || !this.#events.wantsNotices(group)) return;
    this.#notices.ask(group, this.#context.clock.steadyMs());
  }

  #tellMembers(group: string): void {
    const live = this.consumers.get(group);
    if (live === undefined || live.messageModel === 'BROADCASTING') return;
    for (const id of live.members.keys()) {
      const link = this.#links.byId(id);
      if (link !== undefined) this.#events.notify(group, link);
    }
  }
}

function expiryKey(kind: 'c' | 'p', link: number, group: string): string {
  return `${kind} ${link} ${group}`;
}

function partsOf(key: string): { kind: string; link: number; group: string } {
  const groupAt = key.indexOf(' ', 2) + 1;
  return { kind: key.slice(0, 1), link: Number(key.slice(2, groupAt - 1)), group: key.slice(groupAt) };
}
