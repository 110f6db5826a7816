// Which queues this dispatcher has: by key for the feed, by name for records that are read again from the log.
import type { ConsumeQueues } from '../../store/consume-queues.ts';
import type { ActorContext } from '../context.ts';
import type { QueueEntry, QueuesAdded, QueuesRemoved } from '../messages.ts';

interface Named {
  readonly key: number;
  readonly from: number;
}

export class QueueBook {
  readonly #context: ActorContext;
  readonly #queues: ConsumeQueues;
  readonly #dispatchCount: number;
  readonly #keys = new Map<string, Named>();

  constructor(context: ActorContext, queues: ConsumeQueues) {
    this.#context = context;
    this.#queues = queues;
    this.#dispatchCount = context.namesOf('dispatch').length;
  }

  owns(key: number): boolean {
    return key % this.#dispatchCount === this.#context.index;
  }

  /** The key of the queue of this dispatcher that a record at a position belongs to; -1 for others. */
  readonly keyOf = (topic: string, queueId: number, position: number): number => {
    const named = this.#keys.get(`${queueId}@${topic}`);
    return named === undefined || position < named.from ? -1 : named.key;
  };

  open(entries: readonly QueueEntry[]): void {
    for (const entry of entries) this.#add(entry);
  }

  onAdded(message: QueuesAdded | null): void {
    if (message !== null) this.open(message.queues);
  }

  onRemoved(message: QueuesRemoved | null, dropHeld: (key: number) => void): void {
    for (const key of message?.keys ?? []) {
      const queue = this.#queues.get(key);
      if (queue === undefined) continue;
      dropHeld(key);
      if (this.#keys.get(`${queue.queueId}@${queue.topic}`)?.key === key) this.#keys.delete(`${queue.queueId}@${queue.topic}`);
      this.#queues.remove(key);
    }
  }

  #add(entry: QueueEntry): void {
    if (!this.owns(entry.key)) return;
    const queue = this.#queues.open(entry.key, entry.topic, entry.queueId);
    this.#keys.set(`${entry.queueId}@${entry.topic}`, { key: entry.key, from: entry.from ?? 0 });
    this.#context.queueBegins.set(entry.key, queue.offsetMin);
  }
}
