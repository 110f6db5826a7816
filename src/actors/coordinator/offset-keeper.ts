// Keeps how far groups have read, where new ones start, and writes both to disk: joins with the change, offsets every few seconds.
import { JoinTable } from '../../core/join-table.ts';
import { OffsetResets, type ResetKind, type StoredReset } from '../../core/offset-resets.ts';
import { NO_OFFSET, OffsetTable } from '../../core/offset-table.ts';
import { startOffset } from '../../core/start-offset.ts';
import { queueCountOf } from '../../core/topic-config.ts';
import { retryTopicOf } from '../../message/names.ts';
import type { StoredResets } from '../../store/resets-file.ts';
import type { ActorContext } from '../context.ts';
import type { TopicKeeper } from './topic-keeper.ts';

/** reset: the committer does not know yet that the offset was reset. full: too many queues of one topic. */
export type CommitResult = 'done' | 'reset' | 'full';

export class OffsetKeeper {
  readonly table: OffsetTable;
  readonly resets: OffsetResets;
  /** Counts resets: whoever asked for one is told only once it is on disk. */
  changeCount = 0;
  readonly joins: JoinTable;
  readonly #context: ActorContext;
  readonly #topics: TopicKeeper;

  constructor(context: ActorContext, topics: TopicKeeper) {
    const { settings, clock } = context;
    this.#context = context;
    this.#topics = topics;
    this.table = new OffsetTable(clock.wallMs(), settings.maxQueueCount);
    this.joins = new JoinTable(settings.maxQueueCount);
    this.resets = new OffsetResets(settings.maxQueueCount);
  }

  /** Notes that a group subscribes to a topic: what is stored from now on is what it has not missed. */
  noteJoin(group: string, topic: string, consumeFromWhere: string): void {
    if (topic === retryTopicOf(group)) return;
    this.joins.note(group, topic, consumeFromWhere, this.#context.clock.wallMs(), () => this.#endsOf(topic));
  }

  /** The stored offset, or else where a new group starts; NO_OFFSET where the client is to decide. */
  query(group: string, topic: string, queueId: number, zeroIfNotFound: boolean): number {
    const stored = this.table.get(group, topic, queueId);
    if (stored >= 0) return stored;
    const config = this.#topics.table.get(topic);
    if (!zeroIfNotFound || config === undefined || queueId < 0 || queueId >= queueCountOf(config)) return NO_OFFSET;
    return startOffset({
      queueId,
      begin: this.#topics.beginOf(topic, queueId),
      end: this.#topics.endOf(topic, queueId),
      join: this.joins.get(group, topic),
      ownRetryTopic: topic === retryTopicOf(group),
      rule: this.#context.settings.newGroupOffset,
    });
  }

  /**
   * -1 is what some clients commit before they have read anything: it says nothing.
   * @param link the connection that it came over; -1 where that is not known (any more).
   */
  commit(group: string, topic: string, queueId: number, offset: number, link: number): CommitResult {
    const { clock } = this.#context;
    if (offset < 0) return 'done';
    if (!this.resets.mayCommit(group, topic, queueId, offset, link, clock.steadyMs())) return 'reset';
    return this.table.put(group, topic, queueId, offset, clock.wallMs()) ? 'done' : 'full';
  }

  /** Sets the group's offsets, by queue, whatever its members commit until they know; false where there is no room for so many. */
  reset(group: string, topic: string, offsets: ReadonlyMap<number, number>, kind: ResetKind, offline: boolean): boolean {
    const { clock } = this.#context;
    if (!this.resets.hasRoom(offsets.size)) return false;
    for (const [queueId, offset] of offsets) {
      if (!this.table.put(group, topic, queueId, offset, clock.wallMs())) return false;
      this.resets.reset({ group, topic, queueId, offset, kind, offline }, clock.steadyMs());
      this.changeCount++;
    }
    return true;
  }

  /** Resets that nobody is known to know of hold also after a restart, whatever was committed in the last seconds before it. */
  loadResets(stored: StoredResets): void {
    const found: StoredReset[] = [];
    for (const [key, offsets] of stored) {
      const at = key.indexOf('@');
      const topic = key.slice(0, at);
      if (!this.#topics.table.has(topic)) continue;
      for (const [queueId, offset] of offsets) {
        const reset = { group: key.slice(at + 1), topic, queueId, offset: Math.min(offset, this.#topics.endOf(topic, queueId)) };
        this.table.put(reset.group, topic, queueId, reset.offset, this.#context.clock.wallMs());
        found.push(reset);
      }
    }
    this.resets.load(found);
  }

  /** The store has no committed offsets. */
  warnOfNone(): void {
    const { boot, queueEnds, log } = this.#context;
    if (!boot.queues.some(({ key }) => queueEnds.get(key) > 0)) return;
    log.warn(
      'the store holds messages but no committed offsets: all groups begin as new ones; restore config/consumerOffset.json if there were any',
    );
  }

  storedResets(): StoredResets {
    const rows = new Map<string, Map<number, number>>();
    for (const { group, topic, queueId, offset } of this.resets.stored()) {
      const key = `${topic}@${group}`;
      rows.set(key, (rows.get(key) ?? new Map<number, number>()).set(queueId, offset));
    }
    return rows;
  }

  topicRemoved(topic: string): void {
    this.table.dropTopic(topic);
    this.joins.dropTopic(topic);
    this.resets.dropTopic(topic);
  }

  groupRemoved(group: string): void {
    this.joins.dropGroup(group);
    this.table.dropGroup(group);
    this.resets.dropGroup(group);
  }

  #endsOf(topic: string): number[] {
    const config = this.#topics.table.get(topic);
    if (config === undefined) return [];
    return Array.from({ length: queueCountOf(config) }, (_, queueId) => this.#topics.endOf(topic, queueId));
  }
}
