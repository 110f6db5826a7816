// Makes a store ready at a start, whatever its last end was: finds the end of the log, cuts what is torn, and brings queues to agree with it.
//
//   log:     positionMin ........ dispatchFrom ............. positionMax | zeros
//            |--- in the queues ------|-- followers read this again --|
import { ErrorCodes, RingmqError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { recordFaultText } from '../message/record-check.ts';
import { propertiesSize, readStoreTimeMs, topicAt, topicSize } from '../message/record-layout.ts';
import { isMarkedRunning } from './abort-marker.ts';
import { Checkpoint, type CheckpointValues, safeTimeMs } from './checkpoint.ts';
import type { Files } from './files/files.ts';
import { LogWalker, WalkStops } from './log-walker.ts';
import type { QueueCensus } from './queue-census.ts';
import { RecordProbe } from './record-probe.ts';
import { type RecoveredQueue, RecoveredQueues } from './recovered-queues.ts';
import { segmentStart } from './segment-row.ts';
import { Segments } from './segments.ts';

export interface RecoverySettings {
  readonly storePathRootDir: string;
  readonly storePathCommitLog: string;
  readonly storePathConsumeQueue: string;
  readonly mappedFileSizeCommitLog: number;
  readonly mappedFileSizeConsumeQueue: number;
  readonly checkCRCOnRecover: boolean;
  /** After a clean stop so much of the log's end is compared with the queues all the same. Default 64 MiB. */
  readonly verifySizeBytes?: number;
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
  /** Newest store time that was seen in the log; later ones must not be smaller. */
  readonly storeTimeMsMax: number;
  readonly checkpoint: CheckpointValues;
  readonly warnings: readonly string[];
}

const VERIFY_SIZE = 67_108_864;
/** After a clean stop nothing lies behind the end but what another broker left of a record it cut; no record is larger. */
const CLEAN_ZERO_SIZE = 8_388_608;
const PROGRESS_SIZE = 1_073_741_824;
/** Disks write this much whole or not at all. */
const SECTOR_SIZE = 512;

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
  readonly #checkpoint: CheckpointValues;
  readonly #segments: Segments;
  #storeTimeMsMax = 0;

  constructor(files: Files, settings: RecoverySettings, log: Log) {
    this.#files = files;
    this.#settings = settings;
    this.#log = log;
    this.#abnormal = isMarkedRunning(files, settings.storePathRootDir);
    this.#checkpoint = new Checkpoint(files, settings.storePathRootDir).load();
    this.#segments = Segments.load(files, settings.storePathCommitLog, settings.mappedFileSizeCommitLog, 'mappedFileSizeCommitLog');
  }

  run(): RecoveredStore {
    const { storePathCommitLog, storePathConsumeQueue, mappedFileSizeCommitLog, mappedFileSizeConsumeQueue } = this.#settings;
    const { positionMin, positionEnd } = this.#segments;
    const probe = new RecordProbe(this.#files, storePathCommitLog, mappedFileSizeCommitLog, positionEnd);
    const queues = new RecoveredQueues(this.#files, storePathConsumeQueue, mappedFileSizeConsumeQueue, probe, positionMin);
    if (this.#segments.count === 0) this.#refuseLostLog(queues);
    try {
      if (this.#abnormal) this.#distrustEnd(probe, queues);
      const { positionMax, census } = this.#settle(queues, this.#startByPosition(probe, queues));
      if (!this.#abnormal && positionMax < queues.logPositionEnd()) {
        this.#warn(`a record is damaged although the last stop was clean; it and all behind it are lost: position=${positionMax}`);
      }
      this.#cutLog(positionMax);
      queues.cutTo(positionMax);
      const dispatchFrom = Math.min(positionMax, queues.missingFrom(census));
      const found = queues.finish(census);
      this.#warnings.push(...queues.warnings);
      for (const warning of queues.warnings) this.#log.warn(warning);
      return {
        positionMin,
        positionMax,
        queues: found,
        dispatchFrom,
        abnormal: this.#abnormal,
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

  /** What lies behind the start of an unclean end may have holes, however sound its last unit is: it is made anew. */
  #distrustEnd(probe: RecordProbe, queues: RecoveredQueues): void {
    this.#warn('the last process did not stop cleanly; the end of the store is rebuilt from the log');
    queues.cutTo(this.#startByTime(probe));
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
      if (this.#abnormal && isTornBehindBody(walker.bytes, walker.at, walker.size, walker.position)) break;
      census.noteRecord(walker.bytes, walker.at, walker.position);
      this.#storeTimeMsMax = Math.max(this.#storeTimeMsMax, readStoreTimeMs(walker.bytes, walker.at));
      if (walker.position >= progressAt) {
        this.#log.info('reading the log', { position: walker.position, end });
        progressAt += PROGRESS_SIZE;
      }
    }
    const positionMax = walker.position;
    if (walker.stop === WalkStops.fault) this.#log.debug('the log ends', { position: positionMax, why: recordFaultText(walker.fault) });
    walker.close();
    return { census, positionMax };
  }

  /** The last file whose first record is old enough to have all its parts on disk. */
  #startByTime(probe: RecordProbe): number {
    const timeMs = safeTimeMs(this.#checkpoint);
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
    const verifySize = this.#settings.verifySizeBytes ?? VERIFY_SIZE;
    const known = Math.min(queues.verifyTails(), queues.logPositionEnd());
    if (known - positionMin <= verifySize) return positionMin;
    const wanted = known - verifySize;
    // Any file's first record will do, and so does any record that a queue knows.
    const atFile = segmentStart(Math.min(known, positionEnd - 1), sizeBytes);
    const start = atFile >= wanted && probe.storeTimeMs(atFile) > 0 ? atFile : queues.recordStartFrom(wanted);
    return start <= known && probe.storeTimeMs(start) > 0 ? start : positionMin;
  }

  #cutLog(positionMax: number): void {
    if (this.#segments.count === 0) return;
    const lost = this.#segments.cut(positionMax, this.#abnormal ? Number.POSITIVE_INFINITY : CLEAN_ZERO_SIZE);
    if (lost > 0) this.#warn(`the log was cut behind its last good record: position=${positionMax} bytesCut=${lost}`);
    this.#segments.sync(positionMax, positionMax + 1);
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

/**
 * The checksum covers the body only; zeros where topic and properties should be tell that the write never came to its end, or that a
 * sector between others did not reach the disk: one that begins in the properties ends behind them, or is all zeros.
 */
function isTornBehindBody(b: Uint8Array, at: number, size: number, position: number): boolean {
  if (propertiesSize(b, at) > 0 && b[at + size - 1] === 0) return true;
  const topic = topicAt(b, at);
  if (b.subarray(topic, topic + topicSize(b, at)).includes(0)) return true;
  const begin = at + size - propertiesSize(b, at);
  const past = (position + begin - at) % SECTOR_SIZE;
  for (let sector = past === 0 ? begin : begin + SECTOR_SIZE - past; sector + SECTOR_SIZE <= at + size; sector += SECTOR_SIZE) {
    if (b.subarray(sector, sector + SECTOR_SIZE).every((byte) => byte === 0)) return true;
  }
  return false;
}
