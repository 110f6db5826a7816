// Makes a store ready at a start, whatever its last end was: finds the end of the log, cuts what is torn, and brings queues to agree with it.
//
//   log:     positionMin ........ dispatchFrom ............. positionMax | zeros
//            |--- in the queues ------|-- followers read this again --|
import { ErrorCodes, RingmqError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { recordFaultText } from '../message/record-check.ts';
import { readStoreTimeMs } from '../message/record-layout.ts';
import { hasTornProperties, hasTornTopic } from '../message/record-torn.ts';
import { isMarkedRunning, writtenBelow } from './abort-marker.ts';
import { Checkpoint, type CheckpointValues, safeLogTimeMs, safeTimeMs } from './checkpoint.ts';
import type { Files } from './files/files.ts';
import { LogWalker, WalkStops } from './log-walker.ts';
import type { QueueCensus } from './queue-census.ts';
import { RecordProbe } from './record-probe.ts';
import { type RecoveredQueue, RecoveredQueues } from './recovered-queues.ts';
import { RemovedTopicsFile } from './removed-topics-file.ts';
import { segmentStart } from './segment-row.ts';
import { Segments } from './segments.ts';
import { storeFolders } from './store-folders.ts';

export interface RecoverySettings {
  readonly storePathRootDir: string;
  readonly storePathCommitLog: string;
  readonly storePathConsumeQueue: string;
  readonly mappedFileSizeCommitLog: number;
  readonly mappedFileSizeConsumeQueue: number;
  readonly checkCRCOnRecover: boolean;
  /** So much in front of what is not trusted is compared with the queues all the same. Default 64 MiB, 16 after a kill in the same place. */
  readonly verifySizeBytes?: number;
  /** Where this process runs: see `markRunning`. Empty or absent: nothing that was not synced is trusted. */
  readonly place?: string;
}

export type { RecoveredQueue };

export interface RecoveredStore {
  readonly positionMin: number;
  /** End of the last good record: the next one goes here. */
  readonly positionMax: number;
  readonly queues: readonly RecoveredQueue[];
  /** Records from here on may lack their unit: dispatchers re-read the log from here, and take pulls when they are through. */
  readonly dispatchFrom: number;
  /** The last process did not stop cleanly. */
  readonly abnormal: boolean;
  /** It did not, but on this running system: all that it wrote is there, synced or not. */
  readonly written: boolean;
  /** All of the log below this position is on stable storage. */
  readonly synced: number;
  /** Newest store time that was seen in the log; later ones must not be smaller. */
  readonly storeTimeMsMax: number;
  readonly checkpoint: CheckpointValues;
  readonly warnings: readonly string[];
}

const VERIFY_SIZE = 67_108_864;
/** Where the place vouches for more than any checkpoint could. */
const WRITTEN_VERIFY_SIZE = 16_777_216;
/** After a clean stop, or a kill, nothing lies behind the end but what another broker left of a record it cut, or a torn batch; none is larger. */
const CLEAN_ZERO_SIZE = 8_388_608;
const PROGRESS_SIZE = 536_870_912;

/** Runs once, before anything is appended, and with the store locked. Throws RingmqError `store` where it must not go on. */
export function recoverStore(files: Files, settings: RecoverySettings, log: Log): RecoveredStore {
  return new Recovery(files, settings, log).run();
}

interface Walked {
  readonly census: QueueCensus;
  readonly positionMax: number;
}

class Recovery {
  readonly #files: Files;
  readonly #settings: RecoverySettings;
  readonly #log: Log;
  readonly #warnings: string[] = [];
  readonly #abnormal: boolean;
  /** After an unclean end on this running system: units of records below this position are in files. Else -1. */
  readonly #writtenBelow: number;
  readonly #checkpoint: CheckpointValues;
  readonly #segments: Segments;
  #storeTimeMsMax = 0;

  constructor(files: Files, settings: RecoverySettings, log: Log) {
    this.#files = files;
    this.#settings = settings;
    this.#log = log;
    this.#abnormal = isMarkedRunning(files, settings.storePathRootDir);
    this.#writtenBelow = this.#abnormal ? writtenBelow(files, settings.storePathRootDir, settings.place ?? '') : -1;
    this.#checkpoint = new Checkpoint(files, settings.storePathRootDir).load();
    this.#segments = Segments.load(files, settings.storePathCommitLog, settings.mappedFileSizeCommitLog, 'mappedFileSizeCommitLog');
  }

  run(): RecoveredStore {
    const { storePathCommitLog, storePathConsumeQueue, mappedFileSizeCommitLog, mappedFileSizeConsumeQueue } = this.#settings;
    const { positionMin, positionEnd } = this.#segments;
    const probe = new RecordProbe(this.#files, storePathCommitLog, mappedFileSizeCommitLog, positionEnd);
    const queueSize = mappedFileSizeConsumeQueue;
    const removed = new RemovedTopicsFile(this.#files, storeFolders(this.#settings.storePathRootDir).config, this.#log).load();
    const written = this.#writtenBelow >= 0;
    const queues = new RecoveredQueues(this.#files, storePathConsumeQueue, queueSize, probe, positionMin, written, removed);
    if (this.#segments.count === 0) this.#refuseLostLog(queues);
    try {
      const syncedFrom = this.#abnormal ? this.#fileStartBy(probe, safeLogTimeMs(this.#checkpoint)) : positionMin;
      if (this.#abnormal) this.#distrustEnd(queues, this.#fileStartBy(probe, safeTimeMs(this.#checkpoint)));
      const { positionMax, census } = this.#settle(queues, this.#startByPosition(probe, queues));
      if (!this.#abnormal && positionMax < queues.logPositionEnd()) {
        this.#warn(`a record is damaged although the last stop was clean; it and all behind it are lost: position=${positionMax}`);
      }
      this.#cutLog(positionMax);
      queues.cutTo(positionMax);
      const dispatchFrom = Math.min(positionMax, queues.missingFrom(census));
      const found = queues.finish(census, this.#writtenBelow < 0);
      this.#warnings.push(...queues.warnings);
      for (const warning of queues.warnings) this.#log.warn(warning);
      return {
        positionMin,
        positionMax,
        queues: found,
        dispatchFrom,
        abnormal: this.#abnormal,
        written: this.#writtenBelow >= 0,
        synced: this.#abnormal ? Math.min(syncedFrom, positionMax) : positionMax,
        storeTimeMsMax: this.#storeTimeMsMax,
        checkpoint: this.#checkpoint,
        warnings: this.#warnings,
      };
    } finally {
      queues.close();
      probe.close();
      this.#segments.close();
    }
  }

  /**
   * After an unclean end elsewhere what lies behind the checkpoint may have holes, however sound its last unit is: it is made anew. In the
   * same place units can only be missing at the ends of queues, and only of records behind the mark.
   */
  #distrustEnd(queues: RecoveredQueues, checkpointed: number): void {
    const written = this.#writtenBelow;
    const from = written < 0 ? checkpointed : Math.max(written, this.#segments.positionMin);
    this.#warn(`the last process did not stop cleanly; the end of the store is rebuilt from the log: from=${from}`);
    if (written < 0) queues.cutTo(from);
  }

  /** Walks from ever earlier until no queue lacks units for records in front of the walk. */
  #settle(queues: RecoveredQueues, from: number): Walked {
    let begin = Math.min(from, queues.verifyTails());
    for (;;) {
      const walked = this.#walk(queues, begin);
      const earlier = queues.earliestGap(walked.census);
      if (earlier >= begin) return walked;
      this.#warn(`queues lack messages that the log has; reading it again from ${earlier}`);
      begin = earlier;
    }
  }

  #walk(queues: RecoveredQueues, from: number): Walked {
    const { storePathCommitLog, mappedFileSizeCommitLog, checkCRCOnRecover } = this.#settings;
    const walker = new LogWalker(this.#files, storePathCommitLog, mappedFileSizeCommitLog, { checkCrc: checkCRCOnRecover });
    const census = queues.newCensus();
    const end = this.#segments.positionEnd;
    let progressAt = from + PROGRESS_SIZE;
    walker.seek(from);
    while (walker.next(end)) {
      if (this.#abnormal && isTorn(walker)) break;
      census.noteRecord(walker.bytes, walker.at, walker.position);
      this.#storeTimeMsMax = Math.max(this.#storeTimeMsMax, readStoreTimeMs(walker.bytes, walker.at));
      if (walker.position >= progressAt) {
        const percent = Math.floor(((walker.position - from) / (end - from)) * 100);
        this.#log.info('reading the log', { position: walker.position, end, percent });
        progressAt += PROGRESS_SIZE;
      }
    }
    const positionMax = walker.position;
    if (walker.stop === WalkStops.fault) this.#log.debug('the log ends', { position: positionMax, why: recordFaultText(walker.fault) });
    walker.close();
    return { census, positionMax };
  }

  /** The last file whose first record was stored by this time; the log's start where there is none. */
  #fileStartBy(probe: RecordProbe, timeMs: number): number {
    const { positionMin, positionEnd, sizeBytes } = this.#segments;
    for (let start = positionEnd - sizeBytes; start > positionMin; start -= sizeBytes) {
      const firstMs = probe.storeTimeMs(start);
      if (firstMs > 0 && firstMs <= timeMs) return start;
    }
    return positionMin;
  }

  /**
   * A record's start a while before the end of what the queues know, so that what follows is not only trusted; the log's start
   * where that is near.
   */
  #startByPosition(probe: RecordProbe, queues: RecoveredQueues): number {
    const { positionMin, positionEnd, sizeBytes } = this.#segments;
    const verifySize = this.#settings.verifySizeBytes ?? (this.#writtenBelow < 0 ? VERIFY_SIZE : WRITTEN_VERIFY_SIZE);
    const written = this.#writtenBelow < 0 ? Number.POSITIVE_INFINITY : this.#writtenBelow;
    const known = Math.min(queues.verifyTails(), queues.logPositionEnd(), written);
    if (known - positionMin <= verifySize) return positionMin;
    const wanted = known - verifySize;
    // Any file's first record will do, and so does any record that a queue knows.
    const atFile = segmentStart(Math.min(known, positionEnd - 1), sizeBytes);
    const start = atFile >= wanted && probe.storeTimeMs(atFile) > 0 ? atFile : queues.recordStartFrom(wanted);
    return start <= known && probe.storeTimeMs(start) > 0 ? start : positionMin;
  }

  #cutLog(positionMax: number): void {
    if (this.#segments.count === 0) return;
    const written = this.#writtenBelow >= 0;
    const lost = this.#segments.cut(positionMax, this.#abnormal && !written ? Number.POSITIVE_INFINITY : CLEAN_ZERO_SIZE);
    if (lost > 0) this.#warn(`the log was cut behind its last good record: position=${positionMax} bytesCut=${lost}`);
    if (lost > 0 || !written) this.#segments.sync(positionMax, positionMax + 1);
  }

  /** Apache's broker deletes all queues then; more likely the setting is wrong. */
  #refuseLostLog(queues: RecoveredQueues): void {
    if (queues.logPositionEnd() < 0) return;
    queues.close();
    throw new RingmqError(
      ErrorCodes.store,
      'the commit log is empty but consume queues hold messages; set the right folder, or remove the queues to begin anew',
      { storePathCommitLog: this.#settings.storePathCommitLog, storePathConsumeQueue: this.#settings.storePathConsumeQueue },
    );
  }

  #warn(text: string): void {
    this.#warnings.push(text);
    this.#log.warn(text);
  }
}

function isTorn({ bytes, at, size, position }: LogWalker): boolean {
  return hasTornTopic(bytes, at) || hasTornProperties(bytes, at, size, position);
}
