// Keeps the owners of queue locks on disk: after a start no second member gets a queue on which the first one may still work.
import { AssertionError } from '../../base/assert.ts';
import { errorText } from '../../base/errors.ts';
import { RateLimit } from '../../base/rate-limit.ts';
import type { GroupTable } from '../../core/group-table.ts';
import { QUEUE_LOCK_TRUST_MS, QueueLocks } from '../../core/queue-locks.ts';
import { ownersOf, QUEUE_OWNERS_SIZE_MAX, type QueueOwners } from '../../core/queue-owners.ts';
import { queueCountOf } from '../../core/topic-config.ts';
import type { TopicTable } from '../../core/topic-table.ts';
import type { LocksFile } from '../../store/locks-file.ts';
import type { ActorContext } from '../context.ts';

/** A member locks its queues one by one: they are written together. */
const SAVE_DELAY_MS = 100;
/** The file is not written more often; so much of the changes is the most that a kill can cost. */
const SAVE_INTERVAL_MS = 1000;
const LOG_INTERVAL_MS = 10_000;

export class LockKeeper {
  readonly table = new QueueLocks();
  readonly #context: ActorContext;
  readonly #file: LocksFile;
  readonly #warnLimit = new RateLimit(LOG_INTERVAL_MS);
  #dueMs = Number.POSITIVE_INFINITY;
  #savedAtMs = Number.NEGATIVE_INFINITY;

  constructor(context: ActorContext, file: LocksFile) {
    this.#context = context;
    this.#file = file;
  }

  /** Owners of before the start keep their queues for as long as they may trust their locks. */
  load(topics: TopicTable, groups: GroupTable): void {
    const owners = this.#read();
    if (owners === null) return;
    const isHere = (group: string, topic: string, queueId: number): boolean => {
      const config = topics.get(topic);
      return groups.has(group) && config !== undefined && queueId >= 0 && queueId < queueCountOf(config);
    };
    const { clock, log } = this.#context;
    this.table.load(owners, isHere, clock.steadyMs());
    const count = this.table.keptCount;
    if (count > 0) log.info('queues are kept for the clients that had locked them', { count, keptMs: QUEUE_LOCK_TRUST_MS });
  }

  nextMs(): number {
    return this.#dueMs;
  }

  /** Writes what changed, a little later and not too often. Returns how much there was. */
  tick(steadyMs: number): number {
    if (!this.table.dirty) return 0;
    if (this.#dueMs === Number.POSITIVE_INFINITY) this.#dueMs = Math.max(steadyMs + SAVE_DELAY_MS, this.#savedAtMs + SAVE_INTERVAL_MS);
    if (steadyMs < this.#dueMs) return 0;
    this.save();
    return 1;
  }

  /** Where it fails it is tried again; what that costs is the order of a group over a restart, so nobody is refused for it. */
  save(): void {
    if (!this.table.dirty) return;
    const now = this.#context.clock.steadyMs();
    try {
      const { owners, leftOutCount } = ownersOf(this.table.all());
      this.#file.save(owners);
      this.table.markSaved();
      this.#savedAtMs = now;
      this.#dueMs = Number.POSITIVE_INFINITY;
      if (leftOutCount > 0) this.#warn('too many queue locks to keep over a restart', { leftOutCount, sizeMax: QUEUE_OWNERS_SIZE_MAX });
    } catch (error) {
      if (error instanceof AssertionError) throw error;
      this.#dueMs = now + SAVE_INTERVAL_MS;
      this.#warn('the owners of queue locks could not be written; it is tried again', { error: errorText(error) });
    }
  }

  #read(): QueueOwners | null {
    try {
      return this.#file.load();
    } catch (error) {
      if (error instanceof AssertionError) throw error;
      this.#context.log.warn('the owners of queue locks cannot be read: the first member that asks for a queue gets it', {
        error: errorText(error),
      });
      return null;
    }
  }

  #warn(message: string, fields: Record<string, unknown>): void {
    const suppressed = this.#warnLimit.admit(this.#context.clock.steadyMs());
    if (suppressed >= 0) this.#context.log.warn(message, { ...fields, suppressed });
  }
}
