// Walks the whole log, record by record: tells what is no sound record, where the log ends, and what lies behind its end.
//
//   | record | record | damaged | record | record | end | zeros
//                      <- lost ->                   what does not count: torn by a crash, or left behind a cut
import { recordFaultText } from '../../message/record-check.ts';
import { readStoreTimeMs } from '../../message/record-layout.ts';
import { hasTornProperties, hasTornTopic } from '../../message/record-torn.ts';
import { LogWalker, WalkStops } from '../log-walker.ts';
import { segmentStart } from '../segment-row.ts';
import type { CheckContext, LogEnds } from './check-context.ts';
import type { FileRow } from './file-row.ts';
import { type FindingKind, Sights } from './findings.ts';
import { RecordFacts } from './record-facts.ts';

const PROGRESS_SIZE = 268_435_456;
const BLANK_HEADER_SIZE = 8;

export interface LogCheckOptions {
  readonly onRecord: (record: RecordFacts) => void;
  /** Whether some queue has a unit for a record at this position. */
  readonly isKnown: (position: number) => boolean;
  readonly onProgress: (position: number, end: number) => void;
}

export class LogCheck {
  readonly #context: CheckContext;
  readonly #row: FileRow;
  readonly #options: LogCheckOptions;
  readonly #walker: LogWalker;
  readonly #facts = new RecordFacts();
  readonly #backwards = new Sights();
  #lastPosition = -1;
  #lastTimeMs = 0;
  /** Where the next record must begin, but for a blank. */
  #expected: number;
  #storeTimeMsMax = 0;
  #recordCount = 0;
  #progressAt: number;
  /** A recovery by Apache's broker ended the log here, and left what lies behind as it was. */
  cutByRecovery = false;

  constructor(context: CheckContext, row: FileRow, options: LogCheckOptions) {
    const { files, settings } = context;
    this.#context = context;
    this.#row = row;
    this.#options = options;
    this.#walker = new LogWalker(files, settings.storePathCommitLog, settings.mappedFileSizeCommitLog, { checkCrc: true });
    this.#expected = row.positionMin;
    this.#progressAt = row.positionMin + PROGRESS_SIZE;
  }

  run(): LogEnds {
    let positionMax = 0;
    try {
      if (!this.#row.isEmpty) positionMax = this.#walk();
    } finally {
      this.#walker.close();
    }
    this.#backwards.report(this.#context.findings, this.#row.folder, () => 'note');
    return {
      positionMin: this.#row.positionMin,
      positionMax,
      lastPosition: this.#lastPosition,
      recordCount: this.#recordCount,
      storeTimeMsMax: this.#storeTimeMsMax,
    };
  }

  /** Returns where the log ends. */
  #walk(): number {
    let position = this.#row.positionMin;
    for (;;) {
      const end = this.#endOfRun(position);
      this.#seek(position);
      const fault = this.#walkRun(end);
      position = this.#walker.position;
      if (fault === null) {
        const next = this.#row.fileAfter(end - 1);
        if (next < 0) return position;
        this.#context.lost.add(end, next);
        position = next;
        continue;
      }
      const behind = this.#context.look.firstBehind(position);
      if (!this.#goesOn(position, behind)) {
        this.#onEnd(position, behind, fault);
        return position;
      }
      this.#tell('recordDamaged', position, `${fault}; the next sound record lies at ${behind}`, 'a sound record');
      this.#context.lost.add(position, behind);
      position = behind;
    }
  }

  /** Up to the run's end (null), or to what is no sound record: then says what is wrong with it. */
  #walkRun(end: number): string | null {
    const walker = this.#walker;
    while (walker.next(end)) {
      if (hasTornTopic(walker.bytes, walker.at)) return 'zeros in the topic';
      const { bytes, at, size, position } = walker;
      if (this.#context.abnormal && hasTornProperties(bytes, at, size, position)) return 'zeros in the properties';
      this.#onRecord();
    }
    if (walker.stop !== WalkStops.fault) return null;
    return recordFaultText(walker.fault);
  }

  #onRecord(): void {
    const { bytes, at, size, position } = this.#walker;
    if (position !== this.#expected) this.#checkBlank(this.#expected);
    this.#expected = position + size;
    const facts = this.#facts;
    facts.read(bytes, at, size, position);
    if (facts.storedPosition !== position) {
      this.#tell('recordPosition', position, `position=${facts.storedPosition}`, `position=${position}`);
    }
    const timeMs = readStoreTimeMs(bytes, at);
    if (timeMs < this.#lastTimeMs) {
      const [seen, expected] = [`storeTimeMs=${timeMs}`, `${this.#lastTimeMs} or later`];
      this.#backwards.add('storeTimeBack', () => ({ position, where: `position=${position}`, seen, expected }));
    }
    this.#lastTimeMs = timeMs;
    this.#storeTimeMsMax = Math.max(this.#storeTimeMsMax, timeMs);
    this.#lastPosition = position;
    this.#recordCount++;
    this.#options.onRecord(facts);
    if (position >= this.#progressAt) {
      this.#options.onProgress(position, this.#row.positionEnd);
      this.#progressAt = position + PROGRESS_SIZE;
    }
  }

  /** Between two records lies the blank that ends a file, and nothing else. */
  #checkBlank(position: number): void {
    const left = this.#row.fileEnd(position) - position;
    if (position % this.#row.sizeBytes === 0) return;
    const roomy = left >= BLANK_HEADER_SIZE;
    const size = roomy ? this.#context.look.sizeAt(position) : left;
    if (!roomy) this.#tell('fileFull', position, `${left} bytes left`, `at least ${BLANK_HEADER_SIZE}`, 'note');
    else if (size !== left) this.#tell('blankSize', position, `size=${size}`, `size=${left}`);
  }

  /** Whether the log lives on behind a fault, which then lies in its middle. */
  #goesOn(position: number, behind: number): boolean {
    const { abnormal, rebuiltFrom } = this.#context;
    if (behind < 0 || (abnormal && position >= rebuiltFrom)) return false;
    if (this.#isCutAt()) return false;
    const { sizeBytes } = this.#row;
    if (segmentStart(behind, sizeBytes) !== segmentStart(position, sizeBytes)) return true;
    return this.#options.isKnown(position) || this.#options.isKnown(behind);
  }

  #onEnd(position: number, behind: number, fault: string): void {
    const { abnormal, look, lost } = this.#context;
    if (behind < 0 && look.firstUsed(position) < 0) return;
    this.cutByRecovery = this.#isCutAt();
    const seen = `${fault}${behind < 0 ? '' : `; a sound record lies behind it at ${behind}`}`;
    if (abnormal) this.#tell('logTorn', position, seen, 'zeros up to the end', 'repairable');
    else if (!this.cutByRecovery && this.#options.isKnown(position)) {
      this.#tell('recordDamaged', position, seen, 'a sound record');
      lost.add(position, Number.POSITIVE_INFINITY);
    } else this.#tell('bytesBehindEnd', position, seen, 'zeros up to the end', 'note');
  }

  /** What Apache's broker wrote down at its last recovery names the last record here, and nothing later was stored. */
  #isCutAt(): boolean {
    const { abnormal, checkpoint } = this.#context;
    if (abnormal || this.#lastPosition <= 0) return false;
    return checkpoint.confirmedPosition === this.#lastPosition && checkpoint.physicMs <= this.#storeTimeMsMax;
  }

  #seek(position: number): void {
    this.#walker.seek(position);
    this.#expected = position;
  }

  #endOfRun(position: number): number {
    for (const run of this.#row.runs) if (position < run.end) return run.end;
    return this.#row.positionEnd;
  }

  #tell(kind: FindingKind, position: number, seen: string, expected: string, severity: 'damage' | 'repairable' | 'note' = 'damage'): void {
    this.#context.findings.add({ severity, kind, path: this.#row.path(position), where: `position=${position}`, seen, expected });
  }
}
