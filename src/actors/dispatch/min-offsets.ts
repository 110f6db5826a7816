// Follows the log's start: the queues' min offsets move up at once, and queue files of which nothing is left go one after the other.
import { errorText } from '../../base/errors.ts';
import type { ConsumeQueue } from '../../store/consume-queue.ts';
import type { ConsumeQueues } from '../../store/consume-queues.ts';
import type { ActorContext } from '../context.ts';
import { Positions } from '../context.ts';

/** Queues looked at in one cycle: each may cost some reads. Pulls and look-ups bring theirs up to date by themselves. */
const QUEUE_COUNT_MAX = 64;

export class MinOffsets {
  readonly #context: ActorContext;
  readonly #queues: ConsumeQueues;
  /** Those with files to delete. */
  readonly #expired = new Set<ConsumeQueue>();
  #logMin: number;
  #walk: Iterator<[number, ConsumeQueue]> | null = null;
  #nextDeleteMs = 0;

  constructor(context: ActorContext, queues: ConsumeQueues) {
    this.#context = context;
    this.#queues = queues;
    this.#logMin = context.positions.get(Positions.logMin);
  }

  deadlineMs(): number {
    return this.#expired.size > 0 ? this.#nextDeleteMs : Number.POSITIVE_INFINITY;
  }

  /** Returns how much it did. */
  follow(nowMs: number): number {
    const logMin = this.#context.positions.get(Positions.logMin);
    if (logMin !== this.#logMin) {
      this.#logMin = logMin;
      this.#queues.beginAt(logMin);
      this.#walk = this.#queues.all();
    }
    const count = this.#walk === null ? 0 : this.#raise(this.#walk);
    return count + (this.#expired.size > 0 && nowMs >= this.#nextDeleteMs ? this.#deleteOne(nowMs) : 0);
  }

  #raise(walk: Iterator<[number, ConsumeQueue]>): number {
    for (let count = 0; count < QUEUE_COUNT_MAX; count++) {
      const next = walk.next();
      if (next.done) {
        this.#walk = null;
        return count;
      }
      const [key, queue] = next.value;
      queue.raiseMin(this.#logMin);
      this.#context.queueBegins.set(key, queue.offsetMin);
      if (queue.hasExpiredFile) this.#expired.add(queue);
    }
    return QUEUE_COUNT_MAX;
  }

  #deleteOne(nowMs: number): number {
    this.#nextDeleteMs = nowMs + this.#context.settings.deleteConsumeQueueFilesInterval;
    const [queue] = this.#expired as Iterable<ConsumeQueue>;
    if (queue === undefined) return 0;
    try {
      // A queue that was removed meanwhile has no files.
      if (queue.hasExpiredFile) queue.deleteExpiredFile();
    } catch (error) {
      this.#expired.delete(queue);
      const { topic, queueId } = queue;
      this.#context.log.warn('a queue file could not be deleted; it stays until the log begins later', {
        topic,
        queueId,
        error: errorText(error),
      });
    }
    if (!queue.hasExpiredFile) this.#expired.delete(queue);
    return 1;
  }
}
