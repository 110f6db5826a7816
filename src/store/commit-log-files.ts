// The writing side of the commit log's files: bytes go where their position says, and files are made ahead of need.
//
//   | record | record | record | blank        |   record | record | …
//   |<------------ one file ----------------->|   |<-- next file …
//   A record must leave 8 bytes behind it in its file; where it does not, a blank (its 8-byte header) ends the file.
import { assert } from '../base/assert.ts';
import { BLANK_SIZE_MIN } from '../message/record-layout.ts';
import type { Files } from './files/files.ts';
import { segmentStart } from './segment-row.ts';
import { Segments } from './segments.ts';
import { zeroRange } from './zero-range.ts';

const SIZE_SETTING = 'mappedFileSizeCommitLog';

/**
 * Size of the blank that must precede a record (or a batch, which never straddles files) of `size` bytes at `position`: 0 where it
 * fits, else all that is left of the file; the record then goes to `position` + that size.
 */
export function placeRecord(position: number, size: number, segmentSizeBytes: number): number {
  const free = segmentSizeBytes - (position % segmentSizeBytes);
  assert(size + BLANK_SIZE_MIN <= segmentSizeBytes, 'a record fits into a file');
  return size + BLANK_SIZE_MIN > free ? free : 0;
}

export class CommitLogFiles {
  readonly #files: Files;
  readonly #segments: Segments;

  private constructor(files: Files, segments: Segments) {
    this.#files = files;
    this.#segments = segments;
  }

  static open(files: Files, folder: string, segmentSizeBytes: number): CommitLogFiles {
    return new CommitLogFiles(files, Segments.load(files, folder, segmentSizeBytes, SIZE_SETTING));
  }

  get positionMin(): number {
    return this.#segments.positionMin;
  }

  /** The files themselves, for what is done to whole files: sync, expiry, cut. */
  get segments(): Segments {
    return this.#segments;
  }

  /** End of the file that holds the position. */
  fileEnd(position: number): number {
    return segmentStart(position, this.#segments.sizeBytes) + this.#segments.sizeBytes;
  }

  /**
   * Writes `size` bytes of `bytes` from `at` to `position`; they must not cross a file's end. The first write into a file makes the
   * file, where it is missing, and the one after it.
   */
  write(position: number, bytes: Uint8Array, at: number, size: number): void {
    assert(size > 0 && at >= 0 && at + size <= bytes.length, 'bytes to write');
    assert(position + size <= this.fileEnd(position), 'a write stays within its file');
    if (position % this.#segments.sizeBytes === 0 || position >= this.#segments.positionEnd) this.prepare(position);
    const fd = this.#segments.fdFor(position);
    assert(fd >= 0, 'the log is written at its end');
    this.#files.write(fd, bytes, at, size, position % this.#segments.sizeBytes);
  }

  /** What a failed write may have left in [from, to) is zeros again; where that fails too, the log must not be written any more. */
  erase(from: number, to: number): void {
    const { sizeBytes } = this.#segments;
    for (let start = from; start < to; start = this.fileEnd(start)) {
      const fd = this.#segments.fdFor(start);
      if (fd >= 0) zeroRange(this.#files, fd, start % sizeBytes, Math.min(to, this.fileEnd(start)) - start);
    }
  }

  /** Makes the first file of a log that has none, so that no send has to wait for its sync. Throws `io`: then the first write tries again. */
  prepareFirst(position: number): void {
    if (this.#segments.count === 0) this.#segments.extendTo(position);
  }

  /** Makes the file that holds the position and the next one, where they are missing. */
  prepare(position: number): void {
    this.#segments.extendTo(position);
    this.#segments.extendTo(this.fileEnd(position));
  }

  /** After a clean stop at `positionEnd` no file lies ahead: one that was never written would be taken for a part of the log. */
  close(positionEnd?: number): void {
    if (positionEnd !== undefined) this.#segments.removeFrom(positionEnd);
    this.#segments.close();
  }
}
