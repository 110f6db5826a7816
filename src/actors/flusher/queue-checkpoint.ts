// Keeps what a start after an unclean end reads about the queues: the mark of what is in files, and the checkpoint of what is on the disk.
import { errorText } from '../../base/errors.ts';
import { WrittenMark } from '../../store/abort-marker.ts';
import { ChangedQueueFiles } from '../../store/changed-queue-files.ts';
import type { Checkpoint } from '../../store/checkpoint.ts';
import { storeFolders } from '../../store/store-folders.ts';
import type { ActorContext } from '../context.ts';
import { Positions, writtenSlot } from '../context.ts';

/** From here on one sync of the whole file system is cheaper, where no send waits for this thread. */
const ONE_BY_ONE_MAX = 64;
/** Files in one cycle, and topics that are looked through: the log's own syncs wait that long. */
const FILES_PER_CYCLE = 4;
const TOPICS_PER_CYCLE = 64;

/** One pass over the queue files: what has to be synced is collected, then synced, and only then the checkpoint moves. */
interface Round {
  readonly beganAtMs: number;
  readonly position: number;
  readonly timeMs: number;
  readonly topics: string[];
  readonly collected: Map<string, number>;
  pending: Iterator<[string, number]> | null;
}

export class QueueCheckpoint {
  readonly #context: ActorContext;
  readonly #checkpoint: Checkpoint;
  readonly #mark: WrittenMark;
  readonly #changed: ChangedQueueFiles;
  readonly #slots: readonly number[];
  readonly #sendsWait: boolean;
  #marked = 0;
  #markAtMs = 0;
  #roundAtMs = 0;
  #round: Round | null = null;
  /** Position of the newest record that the checkpoint vouches for. */
  #vouchedFor = 0;
  #failed = false;

  constructor(context: ActorContext, checkpoint: Checkpoint) {
    const { files, settings } = context;
    this.#context = context;
    this.#checkpoint = checkpoint;
    this.#mark = new WrittenMark(files, settings.storePathRootDir);
    this.#changed = new ChangedQueueFiles(files, storeFolders(settings.storePathRootDir).consumeQueue);
    const count = context.namesOf('dispatch').length;
    this.#slots = Array.from({ length: count }, (_, index) => writtenSlot(count, index));
    this.#sendsWait = settings.flushDiskType === 'SYNC_FLUSH';
  }

  start(): void {
    const { clock, settings } = this.#context;
    this.#marked = this.#mark.open();
    this.#markAtMs = clock.steadyMs() + settings.flushIntervalConsumeQueue;
    this.#roundAtMs = clock.steadyMs() + settings.flushConsumeQueueThoroughInterval;
  }

  doWork(nowMs: number): number {
    if (this.#failed) return 0;
    if (this.#context.positions.get(Positions.readOnly) === 1) {
      // After a failed write or sync the system may have dropped pages: what was written is not what a start would read.
      this.#failed = true;
      this.#withdrawMark();
      return 1;
    }
    if (nowMs >= this.#markAtMs) this.#moveMark(nowMs);
    try {
      return this.#sync(nowMs);
    } catch (error) {
      this.#failed = true;
      this.#context.positions.set(Positions.queuesUnsound, 1);
      this.#withdrawMark();
      this.#context.log.error('syncing consume queues failed: messages are served on, the next start makes the queues again from the log', {
        error: errorText(error),
      });
      return 1;
    }
  }

  deadlineMs(): number {
    if (this.#failed) return Number.POSITIVE_INFINITY;
    if (this.#round !== null) return 0;
    const appended = this.#context.positions.get(Positions.appended);
    const markAtMs = this.#marked >= 0 && this.#marked < appended ? this.#markAtMs : Number.POSITIVE_INFINITY;
    return this.#smallest(1) > this.#vouchedFor ? Math.min(markAtMs, this.#roundAtMs) : markAtMs;
  }

  close(): void {
    this.#mark.close();
  }

  #moveMark(nowMs: number): void {
    this.#markAtMs = nowMs + this.#context.settings.flushIntervalConsumeQueue;
    const written = this.#smallest(0);
    if (this.#marked < 0 || written <= this.#marked) return;
    try {
      this.#mark.set(written);
      this.#marked = written;
    } catch (error) {
      // What stands there is still true, only older: a start after a kill reads more.
      this.#marked = -1;
      this.#context.log.warn('the mark of what is written cannot be moved on; a start after a kill takes longer', {
        error: errorText(error),
      });
    }
  }

  /** A disk that fails may not even take this; that must not stop the broker, which still serves reads. */
  #withdrawMark(): void {
    try {
      this.#mark.withdraw();
    } catch (error) {
      this.#mark.close();
      this.#context.log.error(
        'the mark of what is written cannot be withdrawn: look at the store with `ringmq check` before the next start',
        {
          error: errorText(error),
        },
      );
    }
  }

  #sync(nowMs: number): number {
    const round = this.#round;
    if (round === null) return nowMs >= this.#roundAtMs ? this.#begin(nowMs) : 0;
    if (round.topics.length > 0) {
      for (const topic of round.topics.splice(0, TOPICS_PER_CYCLE)) this.#changed.collect(topic, round.collected);
      return 1;
    }
    if (round.pending === null) {
      const whole = !this.#sendsWait && round.collected.size > ONE_BY_ONE_MAX;
      if (whole && this.#context.files.syncTree?.(this.#changed.root) === true) this.#end(round);
      else round.pending = round.collected.entries();
      return 1;
    }
    for (let i = 0; i < FILES_PER_CYCLE; i++) {
      const next = round.pending.next();
      if (next.done) {
        this.#end(round);
        break;
      }
      this.#changed.sync(...next.value);
    }
    return 1;
  }

  /** What the checkpoint will say is read before anything is looked at: units written meanwhile may be synced or not. */
  #begin(nowMs: number): number {
    const { settings, clock } = this.#context;
    this.#roundAtMs = nowMs + settings.flushConsumeQueueThoroughInterval;
    const position = this.#smallest(1);
    const timeMs = this.#smallest(2);
    if (timeMs === 0 || position <= this.#vouchedFor) return 0;
    const topics = this.#changed.topics();
    this.#round = { beganAtMs: clock.wallMs(), position, timeMs, topics, collected: new Map(), pending: null };
    return 1;
  }

  #end(round: Round): void {
    this.#round = null;
    this.#changed.confirm(round.collected, round.beganAtMs);
    this.#checkpoint.setQueueTime(round.timeMs, round.position);
    this.#vouchedFor = round.position;
  }

  /** Of all dispatchers; `which` as `writtenSlot` says. */
  #smallest(which: number): number {
    let smallest = Number.POSITIVE_INFINITY;
    for (const slot of this.#slots) smallest = Math.min(smallest, this.#context.positions.get(slot + which));
    return smallest;
  }
}
