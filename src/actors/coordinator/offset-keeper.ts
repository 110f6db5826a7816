// Keeps how far groups have read, where new ones start, and writes both to disk: joins with the change, offsets every few seconds.
import { JoinTable } from '../../core/join-table.ts';
import { NO_OFFSET, OffsetTable } from '../../core/offset-table.ts';
import { startOffset } from '../../core/start-offset.ts';
import { queueCountOf } from '../../core/topic-config.ts';
import { retryTopicOf } from '../../message/names.ts';
import type { ActorContext } from '../context.ts';
import type { TopicKeeper } from './topic-keeper.ts';

export class OffsetKeeper {
  readonly table: OffsetTable;
  readonly joins: JoinTable;
  readonly #context: ActorContext;
  readonly #topics: TopicKeeper;

  constructor(context: ActorContext, topics: TopicKeeper) {
    const { settings, clock } = context;
    this.#context = context;
    this.#topics = topics;
    this.table = new OffsetTable(clock.wallMs(), settings.maxQueueCount);
    this.joins = new JoinTable(settings.maxQueueCount);
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

  /** -1 is what some clients commit before they have read anything: it says nothing. False: too many queues of one topic. */
  commit(group: string, topic: string, queueId: number, offset: number): boolean {
    if (offset < 0) return true;
    return this.table.put(group, topic, queueId, offset, this.#context.clock.wallMs());
  }

  topicRemoved(topic: string): void {
    this.table.dropTopic(topic);
    this.joins.dropTopic(topic);
  }

  groupRemoved(group: string): void {
    this.joins.dropGroup(group);
    this.table.dropGroup(group);
  }

  #endsOf(topic: string): number[] {
    const config = this.#topics.table.get(topic);
    if (config === undefined) return [];
    return Array.from({ length: queueCountOf(config) }, (_, queueId) => this.#topics.endOf(topic, queueId));
  }
}
