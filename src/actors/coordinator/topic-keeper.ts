// Creates, changes and removes topics: the table, the queues' numbers, and who must hear of it.
import { ErrorCodes, RingmqError } from '../../base/errors.ts';
import { autoTopic, retryTopic } from '../../core/auto-topic.ts';
import { DelayHistory } from '../../core/delay-levels.ts';
import { KeyTable } from '../../core/key-table.ts';
import { ReservedTopics, startTopics } from '../../core/start-topics.ts';
import { Perms, queueCountOf, type TopicConfig, topicConfig, topicConfigFault } from '../../core/topic-config.ts';
import { TopicTable, type TopicTableState } from '../../core/topic-table.ts';
import { groupOfRetryTopic, retryTopicOf, SystemTopics, topicFault } from '../../message/names.ts';
import { ResponseCodes } from '../../protocol/codes.ts';
import type { ActorContext } from '../context.ts';
import type { DirectoryTopic, EnsureTopic } from '../messages.ts';
import type { Directory } from './directory.ts';
import { done, type Reply, refuse } from './request.ts';

const FAQ = '\nSee https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details.';

export class TopicKeeper {
  readonly table: TopicTable;
  readonly keys: KeyTable;
  readonly reserved: ReservedTopics;
  readonly #context: ActorContext;
  readonly #directory: Directory;
  readonly #start: readonly TopicConfig[];
  /** Changed since the last save: names, for the name servers. */
  readonly #changed = new Set<string>();
  #dirty = false;
  /** Counts changes, so that a caller can see whether there was one. */
  changeCount = 0;

  constructor(context: ActorContext, directory: Directory) {
    const { settings, boot, clock } = context;
    this.#context = context;
    this.#directory = directory;
    this.#start = startTopics({
      ...settings,
      clusterName: settings.brokerClusterName,
      traceTopicName: settings.msgTraceTopicName,
    });
    this.table = new TopicTable(clock.wallMs());
    this.reserved = new ReservedTopics(this.#start);
    this.keys = new KeyTable(boot.queues, boot.nextKey, settings.maxQueueCount);
  }

  get dirty(): boolean {
    return this.#dirty;
  }

  /**
   * Lays the file over the start topics and numbers queues that start did not find.
   * @param isOld the file is missing or is the one before the newest: topics are made of queues that it does not know.
   */
  load(file: TopicTableState | null, isOld: boolean): void {
    const { clock, settings } = this.#context;
    const state = isOld ? this.#rebuilt(file) : file;
    this.#dirty = this.table.load(this.#start, state, settings.autoCreateTopicEnable, clock.wallMs()) || isOld;
    this.#ensureLevels();
    for (const config of this.table.all()) {
      const missing = this.keys.missing(config.topicName, queueCountOf(config));
      if (missing > this.keys.room) {
        throw new RingmqError(ErrorCodes.config, 'the store has more queues than the setting maxQueueCount allows; raise it', {
          maxQueueCount: settings.maxQueueCount,
          topic: config.topicName,
        });
      }
      this.#directory.queuesAdded(this.keys.extend(config.topicName, queueCountOf(config)));
    }
    this.tellAll();
  }

  /** Each delay level has its queue, also one of a former list for whose messages there is no level any more. */
  #ensureLevels(): void {
    const { boot, clock } = this.#context;
    const count = new DelayHistory(boot.delayLists).levelCount;
    const config = this.table.get(SystemTopics.schedule);
    if (config === undefined || queueCountOf(config) >= count) return;
    if (this.table.put({ ...config, readQueueNums: count, writeQueueNums: count }, clock.wallMs())) this.#dirty = true;
  }

  /** Every queue of the store belongs to a topic: else what it holds could not be read, and would go with the next topic of its name. */
  #rebuilt(file: TopicTableState | null): TopicTableState {
    const counts = new Map<string, number>();
    for (const { topic, queueId } of this.#context.boot.queues) counts.set(topic, Math.max(counts.get(topic) ?? 0, queueId + 1));
    for (const { topicName } of [...this.#start, ...(file?.topics ?? [])]) counts.delete(topicName);
    if (counts.size > 0) {
      const { log } = this.#context;
      log.error('the store has queues of topics that config/topics.json lost; they are made again: check their permissions', {
        topics: [...counts.keys()].join(' '),
      });
    }
    const rebuilt = [...counts].map(([topic, count]) => topicConfig(topic, count, Perms.readWrite));
    return { dataVersion: file?.dataVersion ?? null, topics: [...(file?.topics ?? []), ...rebuilt] };
  }

  tellAll(): void {
    for (const config of this.table.all()) this.#tell(config);
  }

  /** Makes or changes a topic; nothing happens where it is so already. */
  put(config: TopicConfig): Reply {
    const fault = topicFault(config.topicName) ?? topicConfigFault(config);
    if (fault !== null) return refuse(ResponseCodes.INVALID_PARAMETER, fault);
    const { topicName } = config;
    // A topic that is not there has no messages, whatever a former life of it left in the log.
    if (!this.table.has(topicName)) this.#directory.queuesRemoved(this.keys.remove(topicName));
    const missing = this.keys.missing(topicName, queueCountOf(config));
    if (missing > this.keys.room) {
      return refuse(
        ResponseCodes.SYSTEM_ERROR,
        `too many queues topic=${topicName} new=${missing} free=${this.keys.room} maxQueueCount=${this.#context.settings.maxQueueCount}; remove topics or raise the setting maxQueueCount`,
      );
    }
    if (!this.table.put(config, this.#context.clock.wallMs())) return done;
    this.#directory.queuesAdded(this.keys.extend(topicName, queueCountOf(config)));
    this.#tell(config);
    this.#note(topicName);
    return done;
  }

  /** Its queues go, too: a topic of the same name starts empty. Their keys; null where there is no such topic. */
  remove(topic: string): readonly number[] | null {
    if (!this.table.remove(topic, this.#context.clock.wallMs())) return null;
    const keys = this.keys.remove(topic);
    this.#directory.queuesRemoved(keys);
    this.#directory.topic({ topic, config: null });
    this.#note(topic);
    return keys;
  }

  /** The retry topic of a group; one that exists stays as it is. */
  ensureRetry(group: string, queueCount: number, unit: boolean, order: boolean): Reply {
    const topic = retryTopicOf(group);
    return this.table.has(topic) ? done : this.put(retryTopic(topic, Math.max(1, queueCount), unit, order));
  }

  /** The group has another count of retry queues: those that get no more messages are still read. */
  resizeRetry(group: string, queueCount: number): Reply {
    const config = this.table.get(retryTopicOf(group));
    const writeQueueNums = Math.max(1, queueCount);
    if (config === undefined) return this.ensureRetry(group, queueCount, false, false);
    return this.put({ ...config, writeQueueNums, readQueueNums: Math.max(config.readQueueNums, writeQueueNums) });
  }

  /** For a send to a topic that an ingress does not know. `ensureGroup` makes the group of a retry topic and that topic with it. */
  ensure(wish: EnsureTopic, ensureGroup: (group: string) => Reply): Reply {
    const { topic } = wish;
    const group = groupOfRetryTopic(topic);
    if (group === null && this.table.has(topic)) return done;
    const fault = topicFault(topic);
    if (fault !== null) return refuse(ResponseCodes.INVALID_PARAMETER, fault);
    // The topics of a group that was removed stay.
    if (group !== null) {
      const made = ensureGroup(group);
      if (made.code !== ResponseCodes.SUCCESS) return made;
    }
    if (this.table.has(topic)) return done;
    const config = autoTopic(wish, this.table.get(wish.defaultTopic), 1);
    if (config === null) return refuse(ResponseCodes.TOPIC_NOT_EXIST, `topic[${topic}] not exist, apply first please!${FAQ}`);
    return this.put(config);
  }

  /** A name server keeps an order configuration for these. */
  markOrdered(topics: Iterable<string>): void {
    for (const topic of topics) {
      const config = this.table.get(topic);
      if (config !== undefined && !config.order) this.put({ ...config, order: true });
    }
  }

  state(): TopicTableState {
    return { dataVersion: this.table.version, topics: [...this.table.all()] };
  }

  /** The table is on disk; returns what changed since the last time, for the name servers. */
  saved(): string[] {
    this.#dirty = false;
    const changed = [...this.#changed];
    this.#changed.clear();
    return changed;
  }

  /** Offset of the next message of a queue; 0 for one that does not exist. */
  endOf(topic: string, queueId: number): number {
    const key = this.keys.keyOf(topic, queueId);
    return key < 0 ? 0 : this.#context.queueEnds.get(key);
  }

  beginOf(topic: string, queueId: number): number {
    const key = this.keys.keyOf(topic, queueId);
    return key < 0 ? 0 : this.#context.queueBegins.get(key);
  }

  #note(topic: string): void {
    this.#dirty = true;
    this.#changed.add(topic);
    this.changeCount++;
  }

  #tell(config: TopicConfig): void {
    const entry: DirectoryTopic = {
      readQueueCount: config.readQueueNums,
      writeQueueCount: config.writeQueueNums,
      perm: config.perm,
      sysFlag: config.topicSysFlag,
      order: config.order,
      keys: this.keys.keysOf(config.topicName, queueCountOf(config)),
    };
    this.#directory.topic({ topic: config.topicName, config: entry });
  }
}
