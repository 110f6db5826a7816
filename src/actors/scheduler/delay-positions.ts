// Up to where each level is delivered: taken over at the start, noted at once, and written to delayOffset.json as far as the deliveries are on
// stable storage.
import { errorText } from '../../base/errors.ts';
import { firstVersion, nextVersion } from '../../core/data-version.ts';
import type { DelayHistory, DelaySpan } from '../../core/delay-levels.ts';
import type { DataVersion } from '../../protocol/bodies/data-version.ts';
import { DelayOffsetsFile, type StoredDelayOffsets } from '../../store/delay-offsets-file.ts';
import { storeFolders } from '../../store/store-folders.ts';
import { type ActorContext, Positions } from '../context.ts';
import { DelayLine } from './delay-line.ts';
import { DelayNotes } from './delay-notes.ts';
import type { Redelivery } from './redelivery.ts';

/** What waits for the log's sync is looked after this often. */
const UNSYNCED_MS = 1_000;

const NONE: StoredDelayOffsets = { dataVersion: null, offsets: new Map(), later: new Map() };

export class DelayPositions {
  readonly #context: ActorContext;
  readonly #file: DelayOffsetsFile;
  readonly #stored: StoredDelayOffsets;
  readonly #notes: DelayNotes;
  #version: DataVersion;
  #lines: readonly DelayLine[] = [];
  /** The positions that the file holds, in the order of the lines. */
  #saved: readonly number[] = [];
  /** What the file holds lay outside of a queue. */
  #isCorrected = false;
  /** When it is written; Infinity while it says what is true. */
  #saveAtMs = Number.POSITIVE_INFINITY;

  constructor(context: ActorContext, redelivery: Redelivery) {
    const { files, settings, log, clock } = context;
    this.#context = context;
    this.#file = new DelayOffsetsFile(files, storeFolders(settings.storePathRootDir).config, log);
    this.#stored = this.#file.load() ?? NONE;
    this.#version = this.#stored.dataVersion ?? firstVersion(clock.wallMs());
    this.#notes = new DelayNotes(context, redelivery);
    this.#notes.load(this.#file.base);
  }

  /** Steady time at which something is to be written; Infinity while all is. */
  get writeAtMs(): number {
    return Math.min(this.#saveAtMs, this.#notes.atMs);
  }

  /** The lines of all levels. @param keyOf the key of a level's queue; -1 where it has none. */
  open(history: DelayHistory, keyOf: (level: number) => number): DelayLine[] {
    const lines: DelayLine[] = [];
    for (let level = 1; level <= history.levelCount; level++) {
      const key = keyOf(level);
      if (key < 0) this.#context.log.error('a delay level has no queue: raise maxQueueCount', { level });
      else lines.push(...this.#openLevel(level, key, history.spansOf(level)));
    }
    this.#lines = lines;
    this.#saved = lines.map((line) => line.durable);
    this.#notes.open(lines);
    this.#publish();
    return lines;
  }

  #openLevel(level: number, key: number, spans: readonly DelaySpan[]): DelayLine[] {
    const { queueEnds, queueReads, incarnation, positions } = this.#context;
    const from = this.#startOf(level, key);
    // A predecessor in this process told how far the first line was that had something left.
    const told = incarnation > 0 ? queueReads.get(key) - 1 : -1;
    const open = spans.filter(({ to }) => to > from);
    return open.map((span, i) => {
      const known = i === 0 ? from : (this.#stored.later.get(level)?.get(span.from) ?? span.from);
      const durable = Math.min(span.to, Math.max(span.from, from, known));
      const noted = Math.min(queueEnds.get(key), this.#notes.endOf(level, durable));
      const position = Math.min(span.to, Math.max(durable, noted, told));
      return new DelayLine(level, key, span, position, durable, positions.get(Positions.appended));
    });
  }

  /** Up to where the file says that it is delivered: within the queue, whatever it says. */
  #startOf(level: number, key: number): number {
    const { queueBegins, queueEnds, log } = this.#context;
    const stored = this.#stored.offsets.get(level);
    const begin = queueBegins.get(key);
    const end = queueEnds.get(key);
    if (stored === undefined) return begin;
    const offset = Math.min(end, Math.max(begin, stored));
    if (offset === stored) return stored;
    log.warn('the position of a delay level lay outside of its queue; it is set to the nearest that is inside', {
      level,
      position: stored,
      queueMin: begin,
      queueMax: end,
      corrected: offset,
    });
    this.#saveAtMs = 0;
    this.#isCorrected = true;
    return offset;
  }

  /** Tells the others how far the levels are, notes it, and writes the file when it is time. Returns how much it did. */
  look(nowMs: number): number {
    this.#publish();
    const work = this.#notes.look(nowMs);
    if (this.#saveAtMs === Number.POSITIVE_INFINITY && this.#isChanged())
      this.#saveAtMs = nowMs + this.#context.settings.flushDelayOffsetInterval;
    if (nowMs < this.#saveAtMs) return work;
    this.#save(nowMs);
    return work + 1;
  }

  /** True where nothing delivered is left whose record is not on stable storage. */
  #settle(): boolean {
    const synced = this.#context.positions.get(Positions.synced);
    let settled = true;
    for (const line of this.#lines) if (!line.settle(synced)) settled = false;
    return settled;
  }

  /** At the end: what cannot be written as durable is noted at least. */
  saveChanges(nowMs: number): void {
    this.#notes.write(nowMs);
    if (this.#isChanged() || this.#saveAtMs < Number.POSITIVE_INFINITY) this.#save(nowMs);
  }

  #save(nowMs: number): void {
    const { clock, settings, log } = this.#context;
    this.#saveAtMs = this.#settle() ? Number.POSITIVE_INFINITY : nowMs + Math.min(UNSYNCED_MS, settings.flushDelayOffsetInterval);
    if (this.#lines.every((line, i) => line.durable === this.#saved[i]) && !this.#isCorrected) return;
    const offsets = new Map<number, number>();
    const later = new Map<number, Map<number, number>>();
    for (const line of this.#lines) {
      if (!offsets.has(line.level)) offsets.set(line.level, line.durable);
      else if (offsets.get(line.level) === line.span.from) offsets.set(line.level, line.durable);
      else later.set(line.level, (later.get(line.level) ?? new Map<number, number>()).set(line.span.from, line.durable));
    }
    this.#version = nextVersion(this.#version, clock.wallMs());
    const durable = this.#lines.map((line) => line.durable);
    try {
      this.#file.save({ dataVersion: this.#version, offsets, later }, (base) => this.#notes.prepare(base));
      this.#notes.begin(this.#file.base);
      this.#saved = durable;
      this.#isCorrected = false;
    } catch (error) {
      this.#saveAtMs = nowMs + settings.flushDelayOffsetInterval;
      log.error('the positions of the delay levels could not be written; it is tried again', { error: errorText(error) });
    }
  }

  close(): void {
    this.#notes.close();
  }

  #isChanged(): boolean {
    return this.#lines.some((line, i) => line.position !== this.#saved[i]);
  }

  /** For displays, for the cleaner, and for a successor: of a level's lines the first that has something left says it for all. */
  #publish(): void {
    const { queueReads } = this.#context;
    let level = 0;
    this.#lines.forEach((line, i) => {
      if (line.level === level || (line.isFinished && this.#lines[i + 1]?.level === line.level)) return;
      level = line.level;
      queueReads.set(line.queueKey, line.position + 1);
    });
  }
}
