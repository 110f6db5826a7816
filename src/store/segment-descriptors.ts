// A bounded number of open descriptors over a row of segments, opened as they are asked for and closed when others are.
import { assert } from '../base/assert.ts';
import type { Files, OpenMode } from './files/files.ts';
import { segmentName, segmentStart } from './segment-row.ts';

export class SegmentDescriptors {
  readonly #files: Files;
  readonly #folder: string;
  readonly #sizeBytes: number;
  readonly #mode: OpenMode;
  readonly #limit: number;
  /** First position -> descriptor, least recently opened or re-found first. */
  readonly #open = new Map<number, number>();
  /** The segment asked for last: asked for again, it costs no look-up. */
  #lastStart = -1;
  #lastFd = -1;

  constructor(files: Files, folder: string, sizeBytes: number, mode: 'read' | 'write', limit: number) {
    assert(sizeBytes > 0 && limit > 0, 'sizes above 0');
    this.#files = files;
    this.#folder = folder;
    this.#sizeBytes = sizeBytes;
    this.#mode = mode;
    this.#limit = limit;
  }

  get openCount(): number {
    return this.#open.size;
  }

  /** Valid until the next call; -1 where the segment does not exist. */
  fdFor(position: number): number {
    const start = segmentStart(position, this.#sizeBytes);
    if (start === this.#lastStart) return this.#lastFd;
    let fd = this.#open.get(start);
    if (fd === undefined) {
      fd = this.#tryOpen(start);
      if (fd < 0) return -1;
    } else {
      this.#open.delete(start);
    }
    this.#open.set(start, fd);
    this.#lastStart = start;
    this.#lastFd = fd;
    if (this.#open.size > this.#limit) this.#closeOldest();
    return fd;
  }

  /** Closes the segments that lie wholly below the position. */
  dropBelow(position: number): void {
    for (const start of [...this.#open.keys()]) if (start + this.#sizeBytes <= position) this.#drop(start);
  }

  /** Closes the segments that begin at or after the position. */
  dropFrom(position: number): void {
    for (const start of [...this.#open.keys()]) if (start >= position) this.#drop(start);
  }

  close(): void {
    this.dropFrom(0);
  }

  #tryOpen(start: number): number {
    const path = `${this.#folder}/${segmentName(start)}`;
    if (this.#files.stat(path) === null) return -1;
    try {
      return this.#files.open(path, this.#mode);
    } catch (error) {
      // Another thread may remove an old segment at any time.
      if (this.#files.stat(path) === null) return -1;
      throw error;
    }
  }

  #closeOldest(): void {
    for (const start of this.#open.keys()) {
      this.#drop(start);
      return;
    }
  }

  #drop(start: number): void {
    const fd = this.#open.get(start);
    assert(fd !== undefined, 'an open segment');
    this.#open.delete(start);
    if (start === this.#lastStart) this.#lastStart = -1;
    this.#files.close(fd);
  }
}
