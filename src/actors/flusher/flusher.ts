// Brings the log to stable storage by the chosen policy, and says how far it is: `synced`.
import { errorText } from '../../base/errors.ts';
import type { Actor } from '../../runtime/actor.ts';
import { CounterIds } from '../../runtime/counters.ts';
import { Checkpoint } from '../../store/checkpoint.ts';
import { segmentStart } from '../../store/segment-row.ts';
import { Segments } from '../../store/segments.ts';
import type { ActorContext } from '../context.ts';
import { Positions } from '../context.ts';
import { DiskGauge } from './disk-gauge.ts';
import { QueueCheckpoint } from './queue-checkpoint.ts';

const PAGE_SIZE = 4096;

export class Flusher implements Actor {
  readonly name: string;
  readonly #context: ActorContext;
  readonly #syncs: boolean;
  readonly #ingresses: readonly string[];
  readonly #checkpoint: Checkpoint;
  readonly #gauge: DiskGauge;
  readonly #queues: QueueCheckpoint;
  #segments: Segments | null = null;
  #synced = 0;
  #nextAtMs = 0;
  #thoroughAtMs = 0;

  constructor(context: ActorContext) {
    this.name = context.name;
    this.#context = context;
    this.#syncs = context.settings.flushDiskType === 'SYNC_FLUSH';
    this.#ingresses = context.namesOf('ingress');
    this.#checkpoint = new Checkpoint(context.files, context.settings.storePathRootDir);
    this.#gauge = new DiskGauge(context);
    this.#queues = new QueueCheckpoint(context, this.#checkpoint);
  }

  start(): void {
    const { files, settings, positions, clock } = this.#context;
    this.#segments = Segments.load(files, settings.storePathCommitLog, settings.mappedFileSizeCommitLog, 'mappedFileSizeCommitLog');
    this.#synced = positions.get(Positions.synced);
    this.#checkpoint.load();
    this.#gauge.measure(clock.steadyMs());
    this.#queues.start();
    this.#nextAtMs = clock.steadyMs() + settings.flushIntervalCommitLog;
    this.#thoroughAtMs = clock.steadyMs() + settings.flushCommitLogThoroughInterval;
  }

  doWork(): number {
    const nowMs = this.#context.clock.steadyMs();
    return this.#syncLog(nowMs) + this.#queues.doWork(nowMs);
  }

  #syncLog(nowMs: number): number {
    const { positions, settings } = this.#context;
    // Read before `appended`: all records up to this time are then in it.
    const timeMs = positions.get(Positions.appendedTimeMs);
    const appended = positions.get(Positions.appended);
    if (this.#gauge.measure(nowMs)) this.#segments?.forgetBelow(positions.get(Positions.logMin));
    if (appended <= this.#synced || positions.get(Positions.readOnly) === 1) {
      if (nowMs >= this.#nextAtMs) this.#nextAtMs = nowMs + settings.flushIntervalCommitLog;
      return 0;
    }
    if (this.#syncs) return this.#sync(appended, timeMs);
    const onBeat = nowMs >= this.#nextAtMs;
    if (!onBeat && settings.flushCommitLogTimed) return 0;
    if (onBeat) this.#nextAtMs = nowMs + settings.flushIntervalCommitLog;
    const thorough = onBeat && nowMs >= this.#thoroughAtMs;
    return thorough || this.#isEnough(appended) ? this.#sync(appended, timeMs) : 0;
  }

  deadlineMs(): number {
    const otherMs = Math.min(this.#queues.deadlineMs(), this.#gauge.nextMs);
    if (this.#syncs || this.#context.positions.get(Positions.readOnly) === 1) return otherMs;
    return Math.min(this.#nextAtMs, otherMs);
  }

  /** So many new pages as are set, or the end of a file: it is not written again. */
  #isEnough(appended: number): boolean {
    const { flushCommitLogLeastPages, mappedFileSizeCommitLog } = this.#context.settings;
    if (appended - this.#synced >= flushCommitLogLeastPages * PAGE_SIZE) return true;
    return segmentStart(appended, mappedFileSizeCommitLog) > segmentStart(this.#synced, mappedFileSizeCommitLog);
  }

  /** The last of the log's actors to stop: what they wrote is on stable storage after it, the checkpoint says so. */
  stop(): void {
    const { positions } = this.#context;
    const timeMs = positions.get(Positions.appendedTimeMs);
    const appended = positions.get(Positions.appended);
    if (appended > this.#synced && positions.get(Positions.readOnly) === 0) this.#sync(appended, timeMs);
    this.#segments?.close();
    this.#segments = null;
    this.#queues.close();
    this.#checkpoint.close();
  }

  /** Group commit: whatever was appended until now goes with one sync. */
  #sync(appended: number, timeMs: number): number {
    const { positions, counters, clock, settings, log } = this.#context;
    const segments = this.#segments as Segments;
    try {
      segments.follow(appended);
      segments.sync(this.#synced, appended);
      if (timeMs > 0) this.#checkpoint.setLogTime(timeMs);
    } catch (error) {
      // After a failed sync the system may have dropped the dirty pages: a second try could succeed and mean nothing.
      positions.set(Positions.readOnly, 1);
      log.error('syncing the log failed; it is read-only from now on, reads go on: mend the disk and restart', {
        error: errorText(error),
        synced: this.#synced,
        appended,
      });
      this.#context.ringBells(this.#ingresses);
      return 1;
    }
    this.#synced = appended;
    this.#thoroughAtMs = clock.steadyMs() + settings.flushCommitLogThoroughInterval;
    positions.set(Positions.synced, appended);
    counters.add(CounterIds.syncs, 1);
    if (this.#syncs) this.#context.ringBells(this.#ingresses);
    return 1;
  }
}
