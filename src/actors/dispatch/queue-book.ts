// Which queues this dispatcher has: by key for the feed, by name for records that are read again from the log.
import type { ConsumeQueues } from '../../store/consume-queues.ts';
import type { ActorContext } from '../context.ts';
import type { QueueEntry, QueuesAdded, QueuesRemoved } from '../messages.ts';

export class QueueBook {
  readonly #context: ActorContext;
  readonly #queues: ConsumeQueues;
  readonly #dispatchCount: number;
  readonly #keys = new Map<string, number>();

  constructor(context: ActorContext, queues: ConsumeQueues) {
    this.#context = context;
    this.#queues = queues;
    this.#dispatchCount = context.namesOf('dispatch').length;
  }

  owns(key: number): boolean {
    return key % this.#dispatchCount === this.#context.index;
  }

  /** The key of a queue of this dispatcher by name; -1 for others. */
  readonly keyOf = (topic: string, queueId: number): number => this.#keys.get(`${queueId}@${topic}`) ?? -1;

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
      if (this.#keys.get(`${queue.queueId}@${queue.topic}`) === key) this.#keys.delete(`${queue.queueId}@${queue.topic}`);
      this.#queues.remove(key);
    }
  }

  #add(entry: QueueEntry): void {
    if (!this.owns(entry.key)) return;
    const queue = this.#queues.open(entry.key, entry.topic, entry.queueId);
    this.#keys.set(`${entry.queueId}@${entry.topic}`, entry.key);
    this.#context.queueBegins.set(entry.key, queue.offsetMin);
  }
}
