// Steps through the commit log record by record: the one reading of the log that recovery, followers and the checker share.
import { checkRecord, RecordFaults } from '../message/record-check.ts';
import { BLANK_SIZE_MIN, readTotalSize } from '../message/record-layout.ts';
import type { Files } from './files/files.ts';
import { LogReader } from './log-reader.ts';
import { segmentStart } from './segment-row.ts';

/** Why `next` gave no record. */
export const WalkStops = {
  /** The end is reached. */
  end: 'end',
  /** The bytes at `position` are no sound record; `fault` says why. */
  fault: 'fault',
  /** No file holds the position (any more). */
  gone: 'gone',
} as const;
export type WalkStop = (typeof WalkStops)[keyof typeof WalkStops];

export interface LogWalkerOptions {
  readonly checkCrc?: boolean;
  /** How much is read at a time; it grows for a larger record. */
  readonly bufferSizeBytes?: number;
}

export class LogWalker {
  /** Holds the current record from `at` on, until the next call of `next`. */
  bytes: Buffer;
  at = 0;
  size = 0;
  /** Of the current record while there is one, else of the next. */
  position = 0;
  stop: WalkStop = WalkStops.end;
  /** One of RecordFaults, once `stop` is `fault`. */
  fault = 0;

  readonly #reader: LogReader;
  readonly #segmentSizeBytes: number;
  readonly #checkCrc: boolean;
  /** The buffer holds the log from here, this many bytes. */
  #heldFrom = 0;
  #heldSize = 0;

  constructor(files: Files, folder: string, segmentSizeBytes: number, options: LogWalkerOptions = {}) {
    // Nothing is declared stable, so nothing is cached: it reads on and on, in pieces as large as its own buffer.
    this.#reader = new LogReader(files, folder, segmentSizeBytes);
    this.#segmentSizeBytes = segmentSizeBytes;
    this.#checkCrc = options.checkCrc ?? false;
    this.bytes = Buffer.allocUnsafeSlow(Math.min(options.bufferSizeBytes ?? 1_048_576, segmentSizeBytes));
  }

  /** Goes on at a record's start. */
  seek(position: number): void {
    this.position = position;
    this.size = 0;
    this.#heldSize = 0;
  }

  /**
   * Moves to the next record of those that end at or below `end`; on false, `stop` says why and `position` where. With a later
   * end it goes on.
   */
  next(end: number): boolean {
    this.position += this.size;
    this.size = 0;
    while (this.position < end) {
      const fileEnd = segmentStart(this.position, this.#segmentSizeBytes) + this.#segmentSizeBytes;
      const limit = Math.min(fileEnd, end);
      // A foreign writer may fill its file to the last byte: what cannot hold a blank's header is no place for a record.
      if (fileEnd - this.position < BLANK_SIZE_MIN) {
        this.position = limit;
        continue;
      }
      if (limit - this.position < BLANK_SIZE_MIN) return this.#failed(RecordFaults.tooFewBytes);
      if (!this.#hold(BLANK_SIZE_MIN, limit)) return this.#stopped(WalkStops.gone);
      const total = readTotalSize(this.bytes, this.at);
      if (total > limit - this.position) return this.#failed(RecordFaults.tooFewBytes);
      if (!this.#hold(Math.max(total, BLANK_SIZE_MIN), limit)) return this.#stopped(WalkStops.gone);
      const checked = checkRecord(this.bytes, this.at, this.#heldSize, this.#checkCrc);
      if (checked < 0) return this.#failed(checked);
      if (checked > 0) {
        this.size = checked;
        return true;
      }
      this.position = fileEnd;
    }
    return this.#stopped(WalkStops.end);
  }

  close(): void {
    this.#reader.close();
    this.#heldSize = 0;
  }

  /** The buffer holds `size` bytes from the position on; false where the log has them no more. */
  #hold(size: number, limit: number): boolean {
    const held = this.#heldFrom + this.#heldSize - this.position;
    if (this.position < this.#heldFrom || held < size) {
      if (this.bytes.length < size) this.bytes = Buffer.allocUnsafeSlow(size);
      const wanted = Math.min(this.bytes.length, limit - this.position);
      this.#heldSize = 0;
      if (!this.#reader.read(this.position, wanted, this.bytes, 0)) return false;
      this.#heldFrom = this.position;
      this.#heldSize = wanted;
    }
    this.at = this.position - this.#heldFrom;
    return true;
  }

  #stopped(stop: WalkStop): boolean {
    this.stop = stop;
    return false;
  }

  #failed(fault: number): boolean {
    this.fault = fault;
    this.stop = WalkStops.fault;
    return false;
  }
}
