// Notes what is delivered between two writings of delayOffset.json, so that a broker that is killed repeats only what was under way.
//
//   ack of a delivery (its record is in the log's file)  ->  a note on top of the table, one write and no sync, at most every few ms
//
// A note speaks of the log as far as the record that it names. It counts at a start only where that very record is there: whatever a power
// cut took, and whatever was stored in its place since, no message is passed over. Where a note cannot be written, deliveries go on, and a
// kill repeats what came since the table.
import { errorText } from '../../base/errors.ts';
import { RateLimit } from '../../base/rate-limit.ts';
import { DelayJournal, type DelayNote, type DeliveredStretch } from '../../store/delay-journal.ts';
import { storeFolders } from '../../store/store-folders.ts';
import { noTableBase, type TableBase } from '../../store/table-journal.ts';
import { type ActorContext, Positions } from '../context.ts';
import type { DelayLine } from './delay-line.ts';
import type { Redelivery } from './redelivery.ts';

/** Notes are so far apart: at ten thousand deliveries a second a kill repeats fifty of them more. */
const NOTE_INTERVAL_MS = 5;
const RETRY_MS = 1_000;
const LINE_MS = 60_000;

export class DelayNotes {
  readonly #context: ActorContext;
  readonly #redelivery: Redelivery;
  readonly #journal: DelayJournal;
  readonly #faultLines = new RateLimit(LINE_MS);
  /** What was found at the start and counts; and the same by level. */
  readonly #kept: DelayNote[] = [];
  readonly #found = new Map<number, DeliveredStretch[]>();
  #base: TableBase = noTableBase;
  #isPrepared = false;
  #lines: readonly DelayLine[] = [];
  /** Up to where each line is noted, or in the table. */
  #noted: number[] = [];
  /** Nothing is written before this steady time. */
  #restUntilMs = Number.NEGATIVE_INFINITY;
  #atMs = Number.POSITIVE_INFINITY;

  constructor(context: ActorContext, redelivery: Redelivery) {
    const { files, settings } = context;
    this.#context = context;
    this.#redelivery = redelivery;
    this.#journal = new DelayJournal(files, storeFolders(settings.storePathRootDir).config);
  }

  /** When something is to be written; Infinity while nothing is. */
  get atMs(): number {
    return this.#atMs;
  }

  /** Takes what lies on top of this table, newest first, as far as the log has the records that it names. */
  load(base: TableBase): void {
    const logEnd = this.#context.positions.get(Positions.appended);
    this.#base = base;
    try {
      const notes = this.#journal.load(base);
      for (let i = notes.length - 1; i >= 0; i--) {
        const note = notes[i] as DelayNote;
        const news = note.rows.filter((row) => !this.#isKnown(row));
        if (news.length === 0 || note.logEnd > logEnd || this.#redelivery.headCrc(note.recordAt) !== note.recordCrc) continue;
        this.#kept.push(note);
        for (const row of news) this.#found.set(row.level, [...(this.#found.get(row.level) ?? []), row]);
      }
    } catch (error) {
      this.#fault('what was delivered last cannot be read; it is delivered once more', error);
    }
  }

  /** Everything of the level from this offset on that is delivered by what was found ends here. */
  endOf(level: number, offset: number): number {
    const stretches = this.#found.get(level) ?? [];
    for (let end = offset; ; ) {
      const next = stretches.find(({ from, to }) => from <= end && to > end);
      if (next === undefined) return end;
      end = next.to;
    }
  }

  open(lines: readonly DelayLine[]): void {
    this.#lines = lines;
    this.#noted = lines.map((line) => line.position);
  }

  /** Writes what was delivered since, when it is time. Returns how much it did. */
  look(nowMs: number): number {
    if (!this.#isChanged()) {
      this.#atMs = Number.POSITIVE_INFINITY;
      return 0;
    }
    this.#atMs = this.#restUntilMs;
    if (nowMs < this.#restUntilMs) return 0;
    this.write(nowMs);
    return 1;
  }

  /** The same now. */
  write(nowMs: number): void {
    this.#restUntilMs = nowMs + NOTE_INTERVAL_MS;
    this.#atMs = Number.POSITIVE_INFINITY;
    try {
      const note = this.#noteOf((_line, i) => this.#noted[i] as number);
      if (note === null) return;
      this.#journal.append(note);
      this.#noted = this.#lines.map((line, i) => Math.max(line.deliveredTo, this.#noted[i] as number));
      if (!this.#journal.isFull) return;
      this.#prepareFor(this.#base);
      this.#journal.begin(this.#base);
    } catch (error) {
      this.#restUntilMs = this.#atMs = nowMs + RETRY_MS;
      this.#fault('delivered messages could not be noted; their positions are written with the table', error);
    }
  }

  /** Before the table is written: what is delivered and not durable is not in it. */
  prepare(base: TableBase): void {
    try {
      this.#prepareFor(base);
      this.#isPrepared = true;
    } catch (error) {
      this.#isPrepared = false;
      this.#fault('delivered messages could not be noted for a new table; it is tried again', error);
    }
  }

  /** The table is written. */
  begin(base: TableBase): void {
    this.#base = base;
    // Nothing lies on top of it yet.
    if (!this.#isPrepared) this.#noted = this.#lines.map((line) => line.durable);
    try {
      this.#journal.begin(base);
    } catch (error) {
      this.#fault('the notes of delivered messages could not be put in place', error);
    }
  }

  /** Also where the disk fails: never throws. */
  close(): void {
    try {
      this.#journal.close();
    } catch (error) {
      this.#fault('the notes of delivered messages could not be closed', error);
    }
  }

  #isChanged(): boolean {
    for (let i = 0; i < this.#lines.length; i++) if ((this.#lines[i] as DelayLine).deliveredTo > (this.#noted[i] as number)) return true;
    return false;
  }

  #isKnown({ level, from, to }: DeliveredStretch): boolean {
    return (this.#found.get(level) ?? []).some((known) => known.from <= from && known.to >= to);
  }

  #prepareFor(base: TableBase): void {
    const note = this.#noteOf((line) => line.durable);
    this.#journal.prepare(base, note === null ? this.#kept : [...this.#kept, note]);
  }

  /** Of the lines that are delivered further than that; null where there is none. Throws where the log cannot be read just now. */
  #noteOf(knownTo: (line: DelayLine, i: number) => number): DelayNote | null {
    let recordAt = -1;
    let logEnd = -1;
    const rows: DeliveredStretch[] = [];
    this.#lines.forEach((line, i) => {
      if (line.deliveredTo <= knownTo(line, i)) return;
      rows.push({ level: line.level, from: line.span.from, to: line.deliveredTo });
      if (line.recordEnd <= logEnd) return;
      recordAt = line.recordAt;
      logEnd = line.recordEnd;
    });
    return rows.length === 0 ? null : { recordAt, logEnd, recordCrc: this.#redelivery.headCrc(recordAt), rows };
  }

  #fault(message: string, error: unknown): void {
    const { clock, log } = this.#context;
    const suppressed = this.#faultLines.admit(clock.steadyMs());
    if (suppressed >= 0) log.warn(message, { error: errorText(error), suppressed });
  }
}
