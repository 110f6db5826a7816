// The one writer of the log: gives each record its position, queue offset and store time, writes batches, and acknowledges them.
import { AssertionError, assert } from '../../base/assert.ts';
import { errorText } from '../../base/errors.ts';
import { RateLimit } from '../../base/rate-limit.ts';
import { patchRecord, writeBlank } from '../../message/record.ts';
import type { Actor } from '../../runtime/actor.ts';
import { CounterIds } from '../../runtime/counters.ts';
import type { FeedWriter } from '../../runtime/feed.ts';
import type { RingHandler, RingReader } from '../../runtime/ring.ts';
import type { WindowWriter } from '../../runtime/tail-window.ts';
import { CommitLogFiles, placeRecord } from '../../store/commit-log-files.ts';
import { isNoSpace } from '../../store/files/files.ts';
import type { ActorContext } from '../context.ts';
import { Positions } from '../context.ts';
import { AppendStatuses, Messages, RECORD_HEAD_SIZE, RecordFlags } from '../messages.ts';
import type { Outbox } from '../outbox.ts';
import { AckBatch } from './ack-batch.ts';

/** A batch ends here, or at a quarter of the tail window, so that its bytes lie in the window whole until they are written. */
const BATCH_SIZE_MAX = 8 * 1024 * 1024;
const BATCH_COUNT_MAX = 8 * 1024;
const RECORD_HEAD_WORDS = RECORD_HEAD_SIZE >> 2;
/** After a write that found no room everything is refused for so long, then tried again. */
const NO_SPACE_RETRY_MS = 1_000;
const NO_SPACE_LINE_MS = 60_000;
const BLANK_SIZE = 8;

interface Line {
  readonly ring: RingReader;
  readonly outbox: Outbox;
}

export class CommitLog implements Actor, RingHandler {
  readonly name: string;
  readonly #context: ActorContext;
  readonly #lines: Line[];
  readonly #window: WindowWriter;
  readonly #feed: FeedWriter;
  readonly #acks = new AckBatch(BATCH_COUNT_MAX);
  readonly #noSpaceLines = new RateLimit(NO_SPACE_LINE_MS);
  readonly #segmentSizeBytes: number;
  readonly #batchSizeMax: number;
  /** Sleepers to wake after each batch. */
  readonly #followers: readonly string[];
  /** queueKey -> offset of the next message; what `queueEnds` shows once the batch is written. */
  #nextOffsets: Float64Array;
  #files: CommitLogFiles | null = null;
  /** Where the next record goes. Bytes from `#written` on are in the window only. */
  #position = 0;
  #written = 0;
  #storeTimeMs = 0;
  #readOnly = false;
  /** The disk had no room lately: until `#retryAtMs` nothing is tried. */
  #noSpace = false;
  #retryAtMs = 0;
  #line = 0;

  constructor(context: ActorContext) {
    this.name = context.name;
    this.#context = context;
    this.#lines = context.inboxes.map((inbox) => ({ ring: inbox.ring, outbox: context.outbox(inbox.from) }));
    this.#window = context.windowWriter();
    this.#feed = context.feedWriter(context.positions.get(Positions.appended));
    this.#batchSizeMax = Math.min(BATCH_SIZE_MAX, this.#window.sizeBytes / 4);
    this.#segmentSizeBytes = context.settings.mappedFileSizeCommitLog;
    this.#nextOffsets = new Float64Array(1024);
    const { flushDiskType, flushCommitLogTimed } = context.settings;
    const wakesFlusher = flushDiskType === 'SYNC_FLUSH' || !flushCommitLogTimed;
    this.#followers = [...context.namesOf('dispatch'), ...(wakesFlusher ? context.namesOf('flusher') : [])];
  }

  start(): void {
    const { settings, files, positions, boot } = this.#context;
    this.#position = positions.get(Positions.appended);
    this.#written = this.#position;
    this.#storeTimeMs = boot.storeTimeMsMax;
    this.#files = CommitLogFiles.open(files, settings.storePathCommitLog, this.#segmentSizeBytes);
    this.#prepareFirst(this.#files);
    this.#ensureKeys(boot.nextKey);
    for (const queue of boot.queues) this.#nextOffsets[queue.key] = this.#context.queueEnds.get(queue.key);
  }

  doWork(): number {
    let work = 0;
    // Also set by the flusher: what cannot be synced must not be acknowledged either.
    this.#readOnly ||= this.#context.positions.get(Positions.readOnly) === 1;
    if (this.#noSpace && this.#context.clock.steadyMs() >= this.#retryAtMs) this.#noSpace = false;
    this.#storeTimeMs = Math.max(this.#storeTimeMs, this.#context.clock.wallMs());
    for (let i = 0; i < this.#lines.length; i++) {
      this.#line = i;
      work += (this.#lines[i] as Line).ring.drain(this, BATCH_COUNT_MAX);
    }
    if (this.#acks.count > 0) this.#finishBatch();
    return work;
  }

  deadlineMs(): number {
    return Number.POSITIVE_INFINITY;
  }

  /** Everything that could send has stopped before; the last cycles have taken what was in the rings. */
  stop(): void {
    while (this.doWork() > 0);
    this.#files?.close(this.#position);
    this.#files = null;
  }

  /** Takes one `append`: one record, or the records of a batch, which never straddle two files. */
  onRecord(type: number, at: number, size: number): boolean {
    assert(type === Messages.append, 'only appends arrive here');
    const { ring } = this.#lines[this.#line] as Line;
    const word = at >> 2;
    const token = ring.words[word] as number;
    const key = ring.words[word + 1] as number;
    const count = ring.words[word + 2] as number;
    if (this.#acks.count > 0 && this.#isBatchFull(size, count)) return false;
    if (this.#refuses(token, key)) return true;
    this.#makeRoom(totalSize(ring.words, word + 3, count));
    if (this.#refuses(token, key)) return true;
    this.#ensureKeys(key + 1);
    this.#acks.add(this.#line, token, key, AppendStatuses.stored, this.#nextOffsets[key] as number, this.#position);
    this.#append(ring, word + 3, key, count);
    return true;
  }

  #refuses(token: number, key: number): boolean {
    if (!this.#readOnly && !this.#noSpace) return false;
    this.#acks.add(this.#line, token, key, this.#readOnly ? AppendStatuses.unavailable : AppendStatuses.noSpace, 0, 0);
    return true;
  }

  #isBatchFull(size: number, count: number): boolean {
    const inWindow = this.#position - this.#written + size;
    return this.#acks.full || inWindow > this.#batchSizeMax || this.#feed.pendingCount + count > this.#feed.batchCountMax;
  }

  #append(ring: RingReader, firstWord: number, key: number, count: number): void {
    let word = firstWord;
    for (let i = 0; i < count; i++) {
      const size = ring.words[word] as number;
      const tagsCode = ring.words[word + 1] as number;
      const flags = ring.words[word + 2] as number;
      const uniqueKeyHash = ring.words[word + 3] as number;
      const tagKeyHash = ring.words[word + 4] as number;
      const at = (word + RECORD_HEAD_WORDS) << 2;
      const numbered = (flags & RecordFlags.noQueueOffset) === 0;
      const offset = numbered ? (this.#nextOffsets[key] as number) : 0;
      patchRecord(ring.bytes, at, offset, this.#position, this.#storeTimeMs);
      this.#window.write(this.#position, ring.bytes, at, size);
      this.#feed.append(key, offset, this.#position, size, tagsCode, this.#storeTimeMs, flags, uniqueKeyHash, tagKeyHash);
      if (numbered) this.#nextOffsets[key] = offset + 1;
      this.#position += size;
      word += RECORD_HEAD_WORDS + ((size + 3) >> 2);
    }
  }

  /** Where the file has no room for all of it, a blank record closes the file and the next one begins. */
  #makeRoom(size: number): void {
    const blankSize = placeRecord(this.#position, size, this.#segmentSizeBytes);
    if (blankSize === 0) return;
    if (!this.#write() || this.#noSpace) return;
    const blank = new Uint8Array(BLANK_SIZE);
    writeBlank(blank, 0, blankSize);
    const closed = this.#tryIo('closing a log file', () => {
      (this.#files as CommitLogFiles).write(this.#position, blank, 0, blank.length);
    });
    if (!closed) return;
    this.#position += blankSize;
    this.#written = this.#position;
    (this.#files as CommitLogFiles).segments.forgetBelow(this.#context.positions.get(Positions.logMin));
  }

  #finishBatch(): void {
    const stored = this.#write();
    const { positions, queueEnds, counters } = this.#context;
    counters.add(CounterIds.records, this.#feed.pendingCount);
    if (stored) {
      // The time goes first: who reads it and then `appended` knows that all records up to that time are in it.
      positions.set(Positions.appendedTimeMs, this.#storeTimeMs);
      positions.set(Positions.appended, this.#position);
      this.#feed.publish();
      this.#acks.publishEnds(queueEnds, this.#nextOffsets);
    }
    for (let i = 0; i < this.#lines.length; i++) this.#acks.send(i, (this.#lines[i] as Line).outbox, stored);
    this.#acks.clear();
    for (const line of this.#lines) line.outbox.flush();
    this.#context.ringBells(this.#followers);
  }

  /** Writes what the window holds beyond the files: one write, two where the window wraps. False once the log is read-only. */
  #write(): boolean {
    if (this.#written < this.#position) this.#window.publish(this.#position);
    while (this.#written < this.#position && !this.#readOnly) {
      const from = this.#written;
      const size = Math.min(this.#position - from, this.#window.contiguous(from));
      const written = this.#tryIo('appending to the log', () => {
        (this.#files as CommitLogFiles).write(from, this.#window.bytes, this.#window.at(from), size);
      });
      if (!written) break;
      this.#written = from + size;
      this.#context.counters.add(CounterIds.writes, 1);
      this.#context.counters.add(CounterIds.recordBytes, size);
    }
    return !this.#readOnly;
  }

  /**
   * False where it failed. A write that found no room is undone, with all of its batch. Any other is never tried again: what it left on
   * disk is unknown, and nothing is acknowledged from now on.
   */
  #tryIo(what: string, io: () => void): boolean {
    try {
      io();
      return true;
    } catch (error) {
      if (isNoSpace(error) && this.#takeBack(error)) return false;
      this.#readOnly = true;
      this.#context.positions.set(Positions.readOnly, 1);
      this.#context.log.error(`${what} failed; the log is read-only from now on, reads go on: mend the disk and restart`, {
        error: errorText(error),
        position: this.#position,
      });
      return false;
    }
  }

  /**
   * Nothing of the batch under way has been told to anybody: the log ends again where `appended` says, and what the failed write left
   * behind that is overwritten with zeros, so that no later start takes it for messages. False where even that fails.
   */
  #takeBack(cause: unknown): boolean {
    const { positions, queueEnds, clock, log } = this.#context;
    const appended = positions.get(Positions.appended);
    try {
      (this.#files as CommitLogFiles).erase(appended, this.#position + BLANK_SIZE);
    } catch (error) {
      log.error('what a failed write left in the log could not be removed', { error: errorText(error), position: appended });
      return false;
    }
    this.#window.rewind(appended);
    this.#feed.discard();
    this.#acks.takeBack(queueEnds, this.#nextOffsets);
    this.#position = this.#written = appended;
    this.#noSpace = true;
    this.#retryAtMs = clock.steadyMs() + NO_SPACE_RETRY_MS;
    const suppressed = this.#noSpaceLines.admit(clock.steadyMs());
    if (suppressed >= 0)
      log.error('there is no room for the log: sends are refused until there is, reads go on', { error: errorText(cause), suppressed });
    return true;
  }

  #prepareFirst(files: CommitLogFiles): void {
    try {
      files.prepareFirst(this.#position);
    } catch (error) {
      if (error instanceof AssertionError) throw error;
      this.#context.log.warn('the first file of the log could not be made; the first message tries again', { error: errorText(error) });
    }
  }

  #ensureKeys(count: number): void {
    if (count <= this.#nextOffsets.length) return;
    const grown = new Float64Array(Math.max(count, this.#nextOffsets.length * 2));
    grown.set(this.#nextOffsets);
    this.#nextOffsets = grown;
  }
}

function totalSize(words: Int32Array, firstWord: number, count: number): number {
  let word = firstWord;
  let total = 0;
  for (let i = 0; i < count; i++) {
    const size = words[word] as number;
    total += size;
    word += RECORD_HEAD_WORDS + ((size + 3) >> 2);
  }
  return total;
}
