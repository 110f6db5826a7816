// Deletes what the log need not keep any longer, oldest file first and slowly, and says where the log begins now: `logMin`.
import { dirname } from 'node:path';
import { errorText } from '../../base/errors.ts';
import { RateLimit } from '../../base/rate-limit.ts';
import { believableTimes, isExpired, judgeRetention, type RetentionVerdict } from '../../core/retention.ts';
import type { Actor } from '../../runtime/actor.ts';
import { segmentName, segmentStart } from '../../store/segment-row.ts';
import type { ActorContext } from '../context.ts';
import { Positions } from '../context.ts';
import { measureDisks } from '../disk-use.ts';
import { QueuePreparer } from './queue-preparer.ts';
import { StoredClock } from './stored-clock.ts';
import { Trash } from './trash.ts';
import { UnreadAsker } from './unread-asker.ts';

const FIRST_LOOK_MS = 60_000;
const LINE_MS = 600_000;

export class Cleaner implements Actor {
  readonly name: string;
  readonly #context: ActorContext;
  readonly #trash: Trash;
  readonly #asker: UnreadAsker;
  readonly #clock: StoredClock;
  /** Whoever follows the log's start, or holds its files open. */
  readonly #followers: readonly string[];
  readonly #keptLines = new RateLimit(LINE_MS);
  #nextLookMs = 0;
  /** Files go, one after the other, until there is no reason any more or they have been many. */
  #isRunning = false;
  /** Deletions asked for by tools that were seen; a run that was asked for needs no hour and no full disk. */
  #askedCount = 0;
  #isAsked = false;
  /** Files that may still go in this run. */
  #leftCount = 0;
  #nextFileMs = 0;
  /** When the log's files were last written, from the one at `#timesFrom` on; looked up once a run. */
  #times: readonly number[] = [];
  #timesFrom = 0;
  /** Said to be gone, but still in its folder: no other may go before it, or the row would have a hole. */
  #stuckFile = '';

  constructor(context: ActorContext) {
    this.name = context.name;
    this.#context = context;
    const { files, settings, log } = context;
    // Beside the log's folder, which may be a disk of its own: a file is moved only within its disk.
    this.#trash = new Trash(files, `${dirname(settings.storePathCommitLog)}/trash`, log);
    const preparer = new QueuePreparer(context);
    this.#asker = new UnreadAsker(context, (ring, word) => preparer.prepare(ring, word));
    this.#clock = new StoredClock(context);
    this.#followers = ['dispatch', 'indexer', 'ingress', 'scheduler'].flatMap((kind) => context.namesOf(kind));
  }

  start(): void {
    const { clock, files, settings, positions } = this.#context;
    this.#askedCount = positions.get(Positions.deletionsAsked);
    this.#trash.adopt();
    // What a predecessor in this process announced and did not come to do.
    const [oldest = ''] = files.list(settings.storePathCommitLog).filter((name) => /^\d{20}$/.test(name));
    if (oldest !== '' && oldest < this.#firstName()) this.#stuckFile = oldest;
    this.#clock.start(this.#mtimes());
    this.#nextLookMs = clock.steadyMs() + FIRST_LOOK_MS;
  }

  doWork(): number {
    const nowMs = this.#context.clock.steadyMs();
    let work = 0;
    work += this.#asker.drain();
    if (this.#asker.justAnswered) this.#onUnread(nowMs);
    const askedCount = this.#context.positions.get(Positions.deletionsAsked);
    if (askedCount !== this.#askedCount) {
      this.#askedCount = askedCount;
      this.#isAsked = true;
      this.#nextLookMs = nowMs;
    }
    if (nowMs >= this.#nextLookMs) {
      this.#look(nowMs);
      work++;
    }
    if (this.#trash.step(nowMs)) work++;
    else if (nowMs >= this.#fileDueMs()) {
      this.#nextFile(nowMs);
      work++;
    }
    return work;
  }

  deadlineMs(): number {
    return Math.min(this.#nextLookMs, this.#trash.nextStepMs, this.#fileDueMs());
  }

  stop(): void {
    this.#isRunning = false;
    this.#trash.close();
    this.#clock.save();
  }

  #look(nowMs: number): void {
    const { settings } = this.#context;
    this.#nextLookMs = nowMs + settings.cleanResourceInterval;
    this.#clock.advance();
    // A dispatcher that does not answer for so long is asked anew.
    if (this.#asker.isWaiting) this.#asker.giveUp();
    else if (this.#isRunning) return;
    this.#isRunning = this.#stuckFile !== '' || this.#isAsked || this.#judge().runs;
    if (!this.#isRunning) return;
    this.#leftCount = settings.deleteFileBatchMax;
    this.#nextFileMs = nowMs;
    this.#timesFrom = this.#logMin;
    this.#times = believableTimes(this.#mtimes(), this.#context.clock.wallMs());
  }

  /** The space of one file is free before the next one is thought of. */
  #fileDueMs(): number {
    return this.#isRunning && this.#trash.isEmpty && !this.#asker.isWaiting ? this.#nextFileMs : Number.POSITIVE_INFINITY;
  }

  #judge(): RetentionVerdict {
    const { settings, clock } = this.#context;
    return judgeRetention(settings, measureDisks(this.#context), new Date(clock.wallMs()).getHours());
  }

  /** One file: goes, is asked about, or ends the run. Judged anew for each: the one before may have made room enough. */
  #nextFile(nowMs: number): void {
    if (this.#stuckFile !== '') {
      this.#takeAway(nowMs);
      return;
    }
    const verdict = this.#judge();
    const end = this.#logMin + this.#context.settings.mappedFileSizeCommitLog;
    const goes =
      (verdict.runs || this.#isAsked) && this.#leftCount > 0 && (verdict.ignoresAge || this.#isFirstExpired()) && this.#isDispensable(end);
    if (!goes) this.#isRunning = this.#isAsked = false;
    else if (verdict.keepsUnread) this.#asker.ask(end);
    else this.#delete(nowMs);
  }

  #onUnread(nowMs: number): void {
    if (!this.#isRunning) return;
    if (!this.#asker.isUnread) {
      this.#delete(nowMs);
      return;
    }
    this.#isRunning = this.#isAsked = false;
    const { log, settings } = this.#context;
    const suppressed = this.#keptLines.admit(nowMs);
    if (suppressed >= 0)
      log.info('an expired file of the log is kept: a group has not read all of it', {
        file: this.#firstName(),
        untilDiskPercent: settings.diskMaxUsedSpaceRatio,
        setting: 'deleteUnconsumed',
        suppressed,
      });
  }

  /** The file that ends here is not the last one, is on stable storage, and nobody has still to follow it. */
  #isDispensable(end: number): boolean {
    const { positions, settings } = this.#context;
    const appended = positions.get(Positions.appended);
    let followed = Math.min(positions.get(Positions.synced), segmentStart(Math.max(0, appended - 1), settings.mappedFileSizeCommitLog));
    if (settings.messageIndexEnable) followed = Math.min(followed, positions.get(Positions.indexed));
    this.#context.namesOf('dispatch').forEach((_, i) => {
      followed = Math.min(followed, positions.get(Positions.dispatched + i));
    });
    return end <= followed;
  }

  #isFirstExpired(): boolean {
    const { settings } = this.#context;
    const index = (this.#logMin - this.#timesFrom) / settings.mappedFileSizeCommitLog;
    return isExpired(settings, this.#times[index] ?? Number.POSITIVE_INFINITY, this.#clock.valueMs);
  }

  #delete(nowMs: number): void {
    const { positions, settings, log } = this.#context;
    this.#stuckFile = this.#firstName();
    this.#leftCount--;
    // Before anything happens to the file: whoever reads from it now finds afterwards that it was gone.
    positions.set(Positions.logMin, this.#logMin + settings.mappedFileSizeCommitLog);
    this.#context.ringBells(this.#followers);
    log.info('a file of the log is deleted', { file: this.#stuckFile, logMin: this.#logMin });
    this.#takeAway(nowMs);
  }

  #takeAway(nowMs: number): void {
    const { settings, log } = this.#context;
    this.#nextFileMs = nowMs + settings.deleteCommitLogFilesInterval;
    try {
      this.#trash.take(settings.storePathCommitLog, this.#stuckFile);
      this.#stuckFile = '';
    } catch (error) {
      this.#isRunning = false;
      log.warn('a file of the log could not be deleted; it is tried again', { file: this.#stuckFile, error: errorText(error) });
    }
  }

  get #logMin(): number {
    return this.#context.positions.get(Positions.logMin);
  }

  #firstName(): string {
    return segmentName(this.#logMin);
  }

  /** Of the files from the log's start to its end. */
  #mtimes(): number[] {
    const { files, settings, positions, log } = this.#context;
    const times: number[] = [];
    const end = positions.get(Positions.appended);
    try {
      for (let start = this.#logMin; start < end; start += settings.mappedFileSizeCommitLog) {
        times.push(files.stat(`${settings.storePathCommitLog}/${segmentName(start)}`)?.mtimeMs ?? Number.POSITIVE_INFINITY);
      }
    } catch (error) {
      log.warn('the age of the log’s files cannot be found out: none counts as expired', { error: errorText(error) });
      return [];
    }
    return times;
  }
}
