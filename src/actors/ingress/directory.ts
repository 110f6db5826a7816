// What the coordinator has told this ingress of topics and groups: enough to judge and route sends and pulls without asking.
import { topicKeyHash } from '../../message/index-key.ts';
import { isDlqTopic, isRetryTopic } from '../../message/names.ts';
import type { DirectoryGroup, DirectoryLiveGroup, DirectorySubscription, DirectoryTopic, GroupChange, TopicChange } from '../messages.ts';

/** A topic with what sends need of it worked out once. A class, since objects spread from what came as JSON do not all have one shape. */
export class RoutedTopic implements DirectoryTopic {
  readonly name: string;
  readonly nameBytes: Buffer;
  /** What the index keys of its messages begin with: see message/index-key.ts. */
  readonly keyHash: number;
  readonly isRetry: boolean;
  readonly isDlq: boolean;
  readonly readQueueCount: number;
  readonly writeQueueCount: number;
  readonly perm: number;
  readonly sysFlag: number;
  readonly order: boolean;
  readonly from: number;
  readonly keys: readonly number[];

  constructor(name: string, config: DirectoryTopic) {
    this.name = name;
    this.nameBytes = Buffer.from(name, 'utf8');
    this.keyHash = topicKeyHash(this.nameBytes, 0, this.nameBytes.length);
    this.isRetry = isRetryTopic(name);
    this.isDlq = isDlqTopic(name);
    this.readQueueCount = config.readQueueCount;
    this.writeQueueCount = config.writeQueueCount;
    this.perm = config.perm;
    this.sysFlag = config.sysFlag;
    this.order = config.order;
    this.from = config.from;
    this.keys = config.keys;
  }
}

/** Groups asked for and not heard of yet; beyond it they are asked for again. */
const WISHED_COUNT_MAX = 10_000;

export class Directory {
  readonly #wished = new Set<string>();
  readonly #topics = new Map<string, RoutedTopic>();
  readonly #groups = new Map<string, DirectoryGroup>();

  topic(name: string): RoutedTopic | undefined {
    return this.#topics.get(name);
  }

  group(name: string): DirectoryGroup | undefined {
    return this.#groups.get(name);
  }

  /** True the first time: the coordinator is to make this group. */
  wish(group: string): boolean {
    if (this.#wished.has(group)) return false;
    if (this.#wished.size >= WISHED_COUNT_MAX) this.#wished.clear();
    this.#wished.add(group);
    return true;
  }

  get topicCount(): number {
    return this.#topics.size;
  }

  /** The key of a queue that exists for reading or writing; -1 for none. */
  queueKey(topic: string, queueId: number): number {
    return this.#topics.get(topic)?.keys[queueId] ?? -1;
  }

  onTopic(change: TopicChange | null): void {
    if (change === null) return;
    if (change.config === null) this.#topics.delete(change.topic);
    else this.#topics.set(change.topic, new RoutedTopic(change.topic, change.config));
  }

  onGroup(change: GroupChange | null): void {
    if (change === null) return;
    if (change.state === null) this.#groups.delete(change.group);
    else this.#groups.set(change.group, change.state);
    this.#wished.delete(change.group);
  }
}

export function subscriptionOf(live: DirectoryLiveGroup, topic: string): DirectorySubscription | undefined {
  return live.subscriptions.find((subscription) => subscription.topic === topic);
}

/** Topics of which the member reads other messages than before. */
export function topicsReadAnew(before: DirectoryLiveGroup, now: DirectoryLiveGroup): ReadonlySet<string> {
  const topics = new Set<string>();
  for (const { topic, type, expression } of now.subscriptions) {
    const old = subscriptionOf(before, topic);
    if (old !== undefined && (old.expression !== expression || old.type !== type)) topics.add(topic);
  }
  return topics;
}
