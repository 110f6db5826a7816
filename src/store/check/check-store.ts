// Checks a stopped store, ours or Apache's, without changing a byte of it: log against queues against index against offsets.
import { ErrorCodes, RingmqError } from '../../base/errors.ts';
import { isMarkedRunning } from '../abort-marker.ts';
import { Checkpoint, safeTimeMs } from '../checkpoint.ts';
import type { Files } from '../files/files.ts';
import type { CheckContext, CheckSettings, LogEnds } from './check-context.ts';
import { FileRow } from './file-row.ts';
import { type Finding, type FindingKind, Findings, type Severity } from './findings.ts';
import { IndexCheck } from './index-check.ts';
import { LogCheck } from './log-check.ts';
import { LostRanges } from './lost-ranges.ts';
import { QueuesCheck } from './queues-check.ts';
import { RecordLook } from './record-look.ts';
import { configuredTopics, StateCheck } from './state-check.ts';

export type { CheckSettings, Finding, FindingKind, Severity };

export interface CheckTotals {
  readonly positionMin: number;
  /** End of the last good record of the log. */
  readonly positionMax: number;
  readonly recordCount: number;
  readonly queueCount: number;
  readonly indexFileCount: number;
  readonly indexEntryCount: number;
}

export interface CheckReport {
  readonly cleanlyStopped: boolean;
  readonly totals: CheckTotals;
  /** The worst first; of each kind a limited number. */
  readonly findings: readonly Finding[];
  /** How many findings there are of each severity, also those that are not listed. */
  readonly counts: Readonly<Record<Severity, number>>;
}

export interface CheckOptions {
  /** Called now and then with how far the log is read. */
  readonly onProgress?: (position: number, end: number) => void;
  /** Also after an unclean stop the next start trusts all that was written, and makes only the ends anew. Default false. */
  readonly written?: boolean;
}

/**
 * The store must not change meanwhile. Memory is bounded by the number of queues and the slots of one index file.
 * Throws RingmqError `store` where there is no store, or where its files have other sizes than are set, and `io` where files cannot be read.
 */
export function checkStore(files: Files, settings: CheckSettings, options: CheckOptions = {}): CheckReport {
  const findings = new Findings();
  const row = readLogRow(files, settings, findings);
  const look = new RecordLook(files, row);
  let index: IndexCheck | null = null;
  try {
    const context = contextOf(files, settings, findings, row, look, options.written ?? false);
    const queues = new QueuesCheck(context);
    const keys = new IndexCheck(context);
    index = keys;
    const log = new LogCheck(context, row, {
      onRecord: (record) => {
        queues.onRecord(record);
        keys.onRecord(record);
      },
      isKnown: (position) => queues.know(position),
      onProgress: options.onProgress ?? (() => {}),
    });
    const ends = log.run();
    if (row.isEmpty && queues.holdUnits) {
      findings.add({
        severity: 'damage',
        kind: 'logMissing',
        path: row.folder,
        where: '',
        seen: 'no file',
        expected: 'the log of the queues',
      });
    } else {
      queues.finish(ends, log.cutByRecovery, configuredTopics(files, settings.storePathRootDir));
      keys.finish(ends);
    }
    new StateCheck(context, queues).run();
    checkCheckpoint(context, ends);
    const totals = { positionMin: ends.positionMin, positionMax: ends.positionMax, recordCount: ends.recordCount };
    return {
      cleanlyStopped: !context.abnormal,
      totals: { ...totals, queueCount: queues.count, indexFileCount: keys.fileCount, indexEntryCount: keys.entryCount },
      findings: findings.sorted(),
      counts: findings.counts,
    };
  } finally {
    index?.close();
    look.close();
  }
}

function readLogRow(files: Files, settings: CheckSettings, findings: Findings): FileRow {
  const { storePathRootDir, storePathCommitLog, mappedFileSizeCommitLog } = settings;
  const parts = [storePathCommitLog, `${storePathRootDir}/consumequeue`, `${storePathRootDir}/config`];
  if (!parts.some((path) => files.stat(path)?.isDirectory === true)) {
    throw new RingmqError(ErrorCodes.store, 'there is no store in this folder: it has no commitlog, consumequeue or config', {
      storePathRootDir,
    });
  }
  const row = FileRow.read(files, storePathCommitLog, mappedFileSizeCommitLog, findings);
  const wrong = row.wrong[0];
  if (row.isEmpty && wrong !== undefined) {
    throw new RingmqError(
      ErrorCodes.store,
      'the log files do not have the size that is set; set mappedFileSizeCommitLog to what the store was made with',
      { path: wrong.path, sizeBytes: wrong.sizeBytes, sizeBytesSet: mappedFileSizeCommitLog },
    );
  }
  row.reportWrong(findings);
  return row;
}

function contextOf(
  files: Files,
  settings: CheckSettings,
  findings: Findings,
  row: FileRow,
  look: RecordLook,
  written: boolean,
): CheckContext {
  const root = settings.storePathRootDir;
  const checkpoint = new Checkpoint(files, root).load();
  const abnormal = isMarkedRunning(files, root);
  const rebuiltFrom = abnormal && !written ? rebuiltFromOf(row, look, safeTimeMs(checkpoint)) : Number.POSITIVE_INFINITY;
  if (abnormal) {
    const seen = 'the marker of a running broker';
    findings.add({ severity: 'note', kind: 'notCleanlyStopped', path: `${root}/abort`, where: '', seen, expected: 'no such file' });
  }
  return { files, settings, findings, lost: new LostRanges(), look, checkpoint, abnormal, written, rebuiltFrom };
}

/** Start of the last file whose first record is old enough to have all its parts on disk: a start makes anew what lies behind. */
function rebuiltFromOf(row: FileRow, look: RecordLook, timeMs: number): number {
  for (let start = row.positionEnd - row.sizeBytes; start > row.positionMin; start -= row.sizeBytes) {
    const first = look.at(start);
    if (first !== null && first.storeTimeMs > 0 && first.storeTimeMs <= timeMs) return start;
  }
  return row.positionMin;
}

/**
 * A checkpoint that is behind only costs time; one whose log time is ahead makes a repair trust what is not there. Units and index
 * may be on disk before the records they are of: then these values are ahead after a power failure, and the log's own one decides.
 */
function checkCheckpoint({ checkpoint, findings, settings, lost }: CheckContext, ends: LogEnds): void {
  // That the end of the log is lost is told already.
  if (lost.covers(ends.positionMax)) return;
  const limits: readonly (readonly [string, number, number, Severity])[] = [
    ['physicMs', checkpoint.physicMs, ends.storeTimeMsMax, 'damage'],
    ['logicsMs', checkpoint.logicsMs, ends.storeTimeMsMax, 'note'],
    ['indexMs', checkpoint.indexMs, ends.storeTimeMsMax, 'note'],
    ['confirmedPosition', checkpoint.confirmedPosition, ends.positionMax, 'damage'],
    ['logicsPosition', checkpoint.logicsPosition, ends.positionMax, 'note'],
  ];
  for (const [where, value, limit, severity] of limits) {
    if (value <= limit) continue;
    const path = `${settings.storePathRootDir}/checkpoint`;
    findings.add({ severity, kind: 'checkpointAhead', path, where, seen: String(value), expected: `at most ${limit}, the end of the log` });
  }
}
