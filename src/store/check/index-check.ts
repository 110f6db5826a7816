// Holds the index against the records of the log as these go by: entries lie in the order of the log, so both are read once.
//
//   log:     | r1 | r2 | r3 | r4 | r5 ...
//   index:   r1 a, r1 b, r3 a, r4 c             r2 has a key? then one is missing; r5 and later are not indexed yet
import { ErrorCodes, RingmqError } from '../../base/errors.ts';
import { type IndexGeometry, indexFileSize } from '../index-file.ts';
import type { CheckContext, LogEnds } from './check-context.ts';
import { Severities, type Severity, Sights } from './findings.ts';
import { IndexEntries, type IndexSeen } from './index-entries.ts';
import type { RecordFacts } from './record-facts.ts';

const SECOND_MS = 1_000;

export class IndexCheck {
  readonly fileCount: number;
  readonly #context: CheckContext;
  readonly #folder: string;
  readonly #entries: IndexEntries;
  readonly #missing = new Sights();
  /** Entries before this were passed, but for those out of order. */
  #passed = -1;
  readonly #found: number[] = [];
  /** Position of the first entry of all: the record there may have had others in a file that has expired. */
  readonly #firstPosition: number;
  #lastPosition = -1;

  /** Throws RingmqError `store` where no index file has the size that is set. */
  constructor(context: CheckContext) {
    const { files, settings } = context;
    this.#context = context;
    this.#folder = `${settings.storePathRootDir}/index`;
    const geometry = { slotCount: settings.maxHashSlotNum, entryCount: settings.maxIndexNum };
    const paths = this.#sound(geometry);
    this.fileCount = paths.length;
    this.#entries = new IndexEntries(files, paths, geometry);
    this.#firstPosition = this.#entries.has ? this.#entries.position : -1;
  }

  get entryCount(): number {
    return this.#entries.count;
  }

  onRecord(record: RecordFacts): void {
    if (this.fileCount === 0) return;
    const entries = this.#entries;
    const { position } = record;
    this.#found.length = 0;
    while (entries.has && (this.#isAside() || entries.position <= position)) {
      if (this.#isAside() || entries.position < position) this.#judgeStray();
      else this.#judge(record);
      this.#next();
    }
    this.#noteMissing(record);
  }

  finish(ends: LogEnds): void {
    const entries = this.#entries;
    while (entries.has) {
      if (entries.position < ends.positionMax) this.#judgeStray();
      else if (!this.#context.lost.covers(entries.position)) {
        entries.fault('indexBeyondLog', `position=${entries.position}`, `below ${ends.positionMax}, the end of the log`);
      }
      this.#next();
    }
    for (const file of entries.seen) {
      const goes = this.#goesAtStart(file, ends);
      file.sights.report(this.#context.findings, file.path, (kind): Severity => {
        if (kind === 'indexOrder') return Severities.note;
        const mended = kind === 'indexSlotsAhead' && this.#context.abnormal;
        return goes || mended || kind === 'indexBeyondLog' ? Severities.repairable : Severities.damage;
      });
    }
    this.#missing.report(this.#context.findings, this.#folder, (kind) => (kind === 'indexLags' ? 'repairable' : 'note'));
  }

  close(): void {
    this.#entries.close();
  }

  /** Out of the order in which the others lie: it is looked up by itself, and the others go on without it. */
  #isAside(): boolean {
    const { position, nextPosition } = this.#entries;
    return position < this.#passed || (nextPosition >= this.#passed && nextPosition < position);
  }

  #next(): void {
    const entries = this.#entries;
    if (!this.#isAside()) {
      this.#passed = entries.position;
      this.#lastPosition = Math.max(this.#lastPosition, entries.position);
    }
    if (entries.isLast) this.#checkEnd();
    if (entries.number === 1) this.#checkBegin();
    entries.advance();
  }

  /** An entry for a record of which none went by at its position. */
  #judgeStray(): void {
    const entries = this.#entries;
    const { position, hash } = entries;
    const { look, lost } = this.#context;
    if ((position >= 0 && position < look.positionMin) || lost.covers(position)) return;
    const found = look.at(position);
    if (found === null) entries.fault('indexEntryAstray', `position=${position}`, 'a record there');
    else if (!found.hasKey(hash)) entries.fault('indexEntryKey', `hash=${hash} position=${position}`, 'a key of the record there');
    else entries.fault('indexOrder', `position=${position}`, `at least ${this.#passed}`);
  }

  #judge(record: RecordFacts): void {
    const entries = this.#entries;
    const { hash, number } = entries;
    const { header } = entries.file;
    if (!record.hasKey(hash)) {
      entries.fault('indexEntryKey', `hash=${hash} position=${record.position}`, 'a key of the record there');
      return;
    }
    this.#found.push(hash);
    // Other brokers count the first entry's seconds from the file before.
    const seconds = header.beginMs <= 0 ? 0 : Math.max(0, Math.floor((record.storeTimeMs - header.beginMs) / SECOND_MS));
    if (number > 1 && entries.seconds !== seconds) entries.fault('indexEntryTime', `seconds=${entries.seconds}`, `seconds=${seconds}`);
    if (number === 1 && header.beginMs !== record.storeTimeMs) {
      entries.fault('indexHeader', `beginMs=${header.beginMs}`, `beginMs=${record.storeTimeMs}`);
    }
    if (entries.isLast && header.endMs !== record.storeTimeMs) {
      entries.fault('indexHeader', `endMs=${header.endMs}`, `endMs=${record.storeTimeMs}`);
    }
  }

  #checkBegin(): void {
    const { position, file } = this.#entries;
    if (file.header.beginPosition === position) return;
    this.#entries.fault('indexHeader', `beginPosition=${file.header.beginPosition}`, `beginPosition=${position}`);
  }

  #checkEnd(): void {
    const { position, file } = this.#entries;
    if (file.header.endPosition === position) return;
    this.#entries.fault('indexHeader', `endPosition=${file.header.endPosition}`, `endPosition=${position}`);
  }

  #noteMissing(record: RecordFacts): void {
    const { position } = record;
    if (record.keyCount === 0 || position <= this.#firstPosition) return;
    // A full file may have ended between two keys of one record.
    const behind = !this.#entries.has && position >= this.#lastPosition;
    for (let i = 0; i < record.keyCount; i++) {
      if (this.#found.includes(record.keys[i] as number)) continue;
      const expected = `an entry with hash=${record.keys[i]}`;
      const seen = behind ? `the newest entry is of position=${this.#lastPosition}` : 'none';
      this.#missing.add(behind ? 'indexLags' : 'keyMissing', () => ({ position, where: `position=${position}`, seen, expected }));
      return;
    }
  }

  /** A start removes files of which it cannot be sure, and makes their entries again from the log. */
  #goesAtStart({ header }: IndexSeen, ends: LogEnds): boolean {
    const { abnormal, written, checkpoint } = this.#context;
    const full = header.nextEntry >= this.#context.settings.maxIndexNum;
    const unsure = abnormal && !written && (!full || header.endMs > checkpoint.indexMs);
    return unsure || header.endPosition >= ends.positionMax;
  }

  #sound(geometry: IndexGeometry): string[] {
    const { files, findings } = this.#context;
    const allowed = indexFileSize(geometry);
    const sound: string[] = [];
    const wrong: { path: string; sizeBytes: number }[] = [];
    for (const name of files.list(this.#folder)) {
      const path = `${this.#folder}/${name}`;
      const stat = files.stat(path);
      if (!/^\d+$/.test(name) || stat === null || stat.isDirectory) continue;
      if (stat.sizeBytes === allowed) sound.push(path);
      else if (stat.sizeBytes === 0) {
        findings.add({ severity: 'repairable', kind: 'fileEmpty', path, where: '', seen: '0 bytes', expected: `${allowed} bytes` });
      } else wrong.push({ path, sizeBytes: stat.sizeBytes });
    }
    const first = wrong[0];
    if (sound.length === 0 && first !== undefined) {
      throw new RingmqError(
        ErrorCodes.store,
        'the index files do not have the size that is set; set maxHashSlotNum and maxIndexNum to what the store was made with',
        { path: first.path, sizeBytes: first.sizeBytes, sizeBytesSet: allowed },
      );
    }
    for (const { path, sizeBytes } of wrong) {
      findings.add({ severity: 'damage', kind: 'fileSize', path, where: '', seen: `${sizeBytes} bytes`, expected: `${allowed} bytes` });
    }
    return sound;
  }
}
