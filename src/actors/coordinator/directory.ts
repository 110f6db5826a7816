// Tells dispatch, ingress and scheduler actors of topics and groups: collected while requests are handled, sent once the change is on disk.
import type { ActorContext } from '../context.ts';
import { type GroupChange, Messages, type QueueEntry, type TopicChange } from '../messages.ts';
import type { Outbox } from '../outbox.ts';

/** Keys in one message: the ring to dispatch must hold several. */
const KEYS_PER_MESSAGE = 4096;

/** Either queues that came or keys of queues that went. */
type QueueNews =
  | { readonly added: QueueEntry[]; readonly removed?: undefined }
  | { readonly removed: number[]; readonly added?: undefined };

export class Directory {
  readonly #ingresses: readonly Outbox[];
  readonly #dispatchers: readonly Outbox[];
  readonly #schedulers: readonly Outbox[];
  /** In the order of events: a topic that is made again has its old queues removed before. */
  #queueNews: QueueNews[] = [];
  readonly #topics = new Map<string, TopicChange>();
  readonly #groups = new Map<string, GroupChange>();
  /** Indexes of those that get everything, since they were restarted. */
  readonly #restarted = new Set<number>();
  #schedulerRestarted = false;
  /** The first telling holds everything, for all of them. */
  #isFirst = true;

  constructor(context: ActorContext) {
    this.#ingresses = context.namesOf('ingress').map((name) => context.outbox(name));
    this.#dispatchers = context.namesOf('dispatch').map((name) => context.outbox(name));
    this.#schedulers = context.namesOf('scheduler').map((name) => context.outbox(name));
  }

  get isEmpty(): boolean {
    return this.#queueNews.length + this.#topics.size + this.#groups.size === 0;
  }

  queuesAdded(queues: readonly QueueEntry[]): void {
    if (queues.length === 0) return;
    const last = this.#queueNews.at(-1);
    if (last?.added !== undefined) for (const queue of queues) last.added.push(queue);
    else this.#queueNews.push({ added: [...queues] });
  }

  queuesRemoved(keys: readonly number[]): void {
    if (keys.length === 0) return;
    const last = this.#queueNews.at(-1);
    if (last?.removed !== undefined) for (const key of keys) last.removed.push(key);
    else this.#queueNews.push({ removed: [...keys] });
  }

  topic(change: TopicChange): void {
    this.#topics.set(change.topic, change);
  }

  group(change: GroupChange): void {
    this.#groups.set(change.group, change);
  }

  /** The next telling holds everything: all topics and groups have been handed in by then. */
  restarted(ingress: number): void {
    this.#restarted.add(ingress);
  }

  /** The same of the scheduler, which hears of topics only. */
  schedulerRestarted(): void {
    this.#schedulerRestarted = true;
  }

  /** Dispatch hears of new queues before any ingress can use them. Returns the ingresses that were told everything. */
  tell(): number[] {
    for (const outbox of this.#dispatchers) for (const news of this.#queueNews) tellQueues(outbox, news);
    this.#ingresses.forEach((outbox, ingress) => {
      const whole = this.#isFirst || this.#restarted.has(ingress);
      this.#tellTopics(outbox, whole);
      for (const change of this.#groups.values()) outbox.sendJson(Messages.groupChanged, change);
      if (whole) outbox.send(Messages.directoryEnds, []);
    });
    for (const outbox of this.#schedulers) {
      const whole = this.#isFirst || this.#schedulerRestarted;
      this.#tellTopics(outbox, whole);
      if (whole) outbox.send(Messages.directoryEnds, []);
    }
    this.#schedulerRestarted = false;
    this.#isFirst = false;
    const restarted = [...this.#restarted];
    this.#restarted.clear();
    this.#queueNews = [];
    this.#topics.clear();
    this.#groups.clear();
    return restarted;
  }

  #tellTopics(outbox: Outbox, whole: boolean): void {
    if (whole) outbox.send(Messages.directoryBegins, []);
    for (const change of this.#topics.values()) outbox.sendJson(Messages.topicChanged, change);
  }
}

function tellQueues(outbox: Outbox, { added = [], removed = [] }: QueueNews): void {
  for (let at = 0; at < added.length; at += KEYS_PER_MESSAGE) {
    outbox.sendJson(Messages.queuesAdded, { queues: added.slice(at, at + KEYS_PER_MESSAGE) });
  }
  for (let at = 0; at < removed.length; at += KEYS_PER_MESSAGE) {
    outbox.sendJson(Messages.queuesRemoved, { keys: removed.slice(at, at + KEYS_PER_MESSAGE) });
  }
}
