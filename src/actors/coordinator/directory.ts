// Tells dispatch and ingress actors of topics and groups: collected while requests are handled, sent once the change is on disk.
import type { ActorContext } from '../context.ts';
import { type GroupChange, Messages, type QueueEntry, type TopicChange } from '../messages.ts';
import type { Outbox } from '../outbox.ts';

/** Keys in one message: the ring to dispatch must hold several. */
const KEYS_PER_MESSAGE = 4096;

export class Directory {
  readonly #ingresses: readonly Outbox[];
  readonly #dispatchers: readonly Outbox[];
  #added: QueueEntry[] = [];
  #removed: number[] = [];
  readonly #topics = new Map<string, TopicChange>();
  readonly #groups = new Map<string, GroupChange>();
  /** Indexes of those that get everything, since they were restarted. */
  readonly #restarted = new Set<number>();

  constructor(context: ActorContext) {
    this.#ingresses = context.namesOf('ingress').map((name) => context.outbox(name));
    this.#dispatchers = context.namesOf('dispatch').map((name) => context.outbox(name));
  }

  get isEmpty(): boolean {
    return this.#added.length + this.#removed.length + this.#topics.size + this.#groups.size === 0;
  }

  queuesAdded(queues: readonly QueueEntry[]): void {
    for (const queue of queues) this.#added.push(queue);
  }

  queuesRemoved(keys: readonly number[]): void {
    for (const key of keys) this.#removed.push(key);
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

  /** Dispatch hears of new queues before any ingress can use them. Returns the ingresses that were told everything. */
  tell(): number[] {
    for (const outbox of this.#dispatchers) {
      for (let at = 0; at < this.#added.length; at += KEYS_PER_MESSAGE) {
        outbox.sendJson(Messages.queuesAdded, { queues: this.#added.slice(at, at + KEYS_PER_MESSAGE) });
      }
      for (let at = 0; at < this.#removed.length; at += KEYS_PER_MESSAGE) {
        outbox.sendJson(Messages.queuesRemoved, { keys: this.#removed.slice(at, at + KEYS_PER_MESSAGE) });
      }
    }
    this.#ingresses.forEach((outbox, ingress) => {
      const restarted = this.#restarted.has(ingress);
      if (restarted) outbox.send(Messages.directoryBegins, []);
      for (const change of this.#topics.values()) outbox.sendJson(Messages.topicChanged, change);
      for (const change of this.#groups.values()) outbox.sendJson(Messages.groupChanged, change);
      if (restarted) outbox.send(Messages.directoryEnds, []);
    });
    const restarted = [...this.#restarted];
    this.#restarted.clear();
    this.#added = [];
    this.#removed = [];
    this.#topics.clear();
    this.#groups.clear();
    return restarted;
  }
}
