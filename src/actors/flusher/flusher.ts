// Brings the log to stable storage by the chosen policy, and says how far it is: `synced`.
import { errorText } from '../../base/errors.ts';
import type { Actor } from '../../runtime/actor.ts';
import { CounterIds } from '../../runtime/counters.ts';
import { Checkpoint } from '../../store/checkpoint.ts';
import { Segments } from '../../store/segments.ts';
import type { ActorContext } from '../context.ts';
import { Positions } from '../context.ts';
import { DiskGauge } from './disk-gauge.ts';

const PAGE_SIZE = 4096;

export class Flusher implements Actor {
  readonly name: string;
  readonly #context: ActorContext;
  readonly #syncs: boolean;
  readonly #ingresses: readonly string[];
  readonly #checkpoint: Checkpoint;
  readonly #gauge: DiskGauge;
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
  }

  start(): void {
    const { files, settings, positions, clock } = this.#context;
    this.#segments = Segments.load(files, settings.storePathCommitLog, settings.mappedFileSizeCommitLog, 'mappedFileSizeCommitLog');
    this.#synced = positions.get(Positions.synced);
    this.#checkpoint.load();
    this.#gauge.measure(clock.steadyMs());
    this.#nextAtMs = clock.steadyMs() + settings.flushIntervalCommitLog;
    this.#thoroughAtMs = clock.steadyMs() + settings.flushCommitLogThoroughInterval;
  }

  doWork(): number {
    const { positions, clock, settings } = this.#context;
    // Read before `appended`: all records up to this time are then in it.
    const timeMs = positions.get(Positions.appendedTimeMs);
    const appended = positions.get(Positions.appended);
    const nowMs = clock.steadyMs();
    if (this.#gauge.measure(nowMs)) this.#segments?.forgetBelow(positions.get(Positions.logMin));
    if (appended <= this.#synced || positions.get(Positions.readOnly) === 1) {
      if (nowMs >= this.#nextAtMs) this.#nextAtMs = nowMs + settings.flushIntervalCommitLog;
      return 0;
    }
    if (this.#syncs) return this.#sync(appended, timeMs);
    if (nowMs < this.#nextAtMs) return 0;
    this.#nextAtMs = nowMs + settings.flushIntervalCommitLog;
    const thorough = nowMs >= this.#thoroughAtMs;
    if (!thorough && appended - this.#synced < settings.flushCommitLogLeastPages * PAGE_SIZE) return 0;
    return this.#sync(appended, timeMs);
  }

  deadlineMs(): number {
    if (this.#syncs || this.#context.positions.get(Positions.readOnly) === 1) return this.#gauge.nextMs;
    return Math.min(this.#nextAtMs, this.#gauge.nextMs);
  }

  /** The last of the log's actors to stop: what they wrote is on stable storage after it, the checkpoint says so. */
  stop(): void {
    const { positions } = this.#context;
    const timeMs = positions.get(Positions.appendedTimeMs);
    const appended = positions.get(Positions.appended);
    if (appended > this.#synced && positions.get(Positions.readOnly) === 0) this.#sync(appended, timeMs);
    this.#segments?.close();
    this.#segments = null;
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
