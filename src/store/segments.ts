// A row of fixed-size files that together are one endless run of bytes: it grows at its end, loses files at its front, and can be cut.
import { assert } from '../base/assert.ts';
import type { Files } from './files/files.ts';
import { SegmentDescriptors } from './segment-descriptors.ts';
import { loadSegmentRow, segmentName, segmentStart } from './segment-row.ts';
import { zeroRange } from './zero-range.ts';

const DESCRIPTOR_LIMIT = 16;

export class Segments {
  readonly folder: string;
  readonly sizeBytes: number;
  readonly #files: Files;
  readonly #descriptors: SegmentDescriptors;
  #firstPosition: number;
  #count: number;
  /** Files were made or removed since the folder was last synced: by a process before this one, for all that is known. */
  #folderChanged: boolean;

  private constructor(files: Files, folder: string, sizeBytes: number, firstPosition: number, count: number, descriptorLimit: number) {
    this.#files = files;
    this.folder = folder;
    this.sizeBytes = sizeBytes;
    this.#firstPosition = firstPosition;
    this.#count = count;
    this.#folderChanged = count > 0;
    this.#descriptors = new SegmentDescriptors(files, folder, sizeBytes, 'write', descriptorLimit);
  }

  /** @param setting the name of the setting that gives the size, for the text of a refusal. */
  static load(files: Files, folder: string, sizeBytes: number, setting: string, descriptorLimit = DESCRIPTOR_LIMIT): Segments {
    const row = loadSegmentRow(files, folder, sizeBytes, setting);
    return new Segments(files, folder, sizeBytes, row.firstPosition, row.count, descriptorLimit);
  }

  get count(): number {
    return this.#count;
  }

  get openCount(): number {
    return this.#descriptors.openCount;
  }

  /** First byte that exists; equal to `positionEnd` where there is no file. */
  get positionMin(): number {
    return this.#firstPosition;
  }

  /** End of the last file. */
  get positionEnd(): number {
    return this.#firstPosition + this.#count * this.sizeBytes;
  }

  path(position: number): string {
    return `${this.folder}/${segmentName(segmentStart(position, this.sizeBytes))}`;
  }

  /** Valid until the next call; -1 where no file holds the position. */
  fdFor(position: number): number {
    return position < this.#firstPosition || position >= this.positionEnd ? -1 : this.#descriptors.fdFor(position);
  }

  /**
   * Makes the file that follows the last one, at full length and sparse. An empty row begins with the file of `position`, and is on stable
   * storage as such when this returns: whatever speaks of the row later finds one.
   */
  createNext(position = 0): void {
    const first = this.#count === 0;
    if (first) {
      this.#firstPosition = segmentStart(position, this.sizeBytes);
      this.#files.makeFolder(this.folder);
    }
    const fd = this.#files.open(this.path(this.positionEnd), 'create');
    try {
      this.#files.truncate(fd, this.sizeBytes);
      if (first) this.#files.sync(fd);
    } finally {
      this.#files.close(fd);
    }
    if (first) this.#files.syncFolder(this.folder);
    this.#count++;
    this.#folderChanged = !first;
  }

  /** Makes files up to the one that holds the position. */
  extendTo(position: number): void {
    assert(this.#count === 0 || position >= this.#firstPosition, 'a row grows only at its end');
    while (this.#count === 0 || position >= this.positionEnd) this.createNext(position);
  }

  /** Another thread has made files up to this position. */
  follow(positionEnd: number): void {
    while (this.positionEnd < positionEnd) {
      this.#count++;
      this.#folderChanged = true;
    }
  }

  /** Another thread has taken the files that end at or below this position; the last one stays. */
  forgetBelow(position: number): void {
    while (this.#count > 1 && this.#firstPosition + this.sizeBytes <= position) {
      this.#firstPosition += this.sizeBytes;
      this.#count--;
    }
    this.#descriptors.dropBelow(this.#firstPosition);
  }

  deleteFirst(): void {
    assert(this.#count > 0, 'a file to delete');
    this.#descriptors.dropBelow(this.#firstPosition + this.sizeBytes);
    this.#files.remove(this.path(this.#firstPosition));
    this.#firstPosition += this.sizeBytes;
    this.#count--;
    this.#folderChanged = true;
  }

  /** Removes the files that begin at or after the position. */
  removeFrom(position: number): void {
    this.#descriptors.dropFrom(position);
    // From the back: a row that is left half removed has no gap.
    while (this.#count > 0 && this.positionEnd - this.sizeBytes >= position) {
      this.#files.remove(this.path(this.positionEnd - 1));
      this.#count--;
      this.#folderChanged = true;
    }
  }

  /**
   * The row ends at `position` from now on: later files are removed, and what lies behind it in its own file is overwritten with
   * zeros, of `zeroSizeMax` bytes at most, so that old records can never be taken for new ones. Returns how many bytes were not zero.
   */
  cut(position: number, zeroSizeMax = Number.POSITIVE_INFINITY): number {
    // The row keeps a file: nothing else tells where it goes on, or that it was there at all.
    this.removeFrom(position === this.#firstPosition ? position + 1 : position);
    const fd = this.fdFor(position);
    if (fd < 0) return 0;
    const end = segmentStart(position, this.sizeBytes) + this.sizeBytes;
    const at = position - segmentStart(position, this.sizeBytes);
    return zeroRange(this.#files, fd, at, Math.min(end - position, zeroSizeMax));
  }

  /** All data of files touched by [from, to) and, where files came or went, the folder is on stable storage when this returns. */
  sync(from: number, to: number): void {
    for (let start = segmentStart(from, this.sizeBytes); start < to; start += this.sizeBytes) {
      const fd = this.fdFor(start);
      if (fd >= 0) this.#files.sync(fd);
    }
    if (this.#folderChanged) {
      this.#files.syncFolder(this.folder);
      this.#folderChanged = false;
    }
  }

  close(): void {
    this.#descriptors.close();
  }
}
