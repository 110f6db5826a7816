// Deletes large files in small steps: moved out of their folder first, then cut shorter step by step, so that no thread and no disk is kept
// busy for long.
//
//   commitlog/00000000000000000000 ──rename──▶ trash/00000000000000000000 ──cut, cut, …──▶ gone
//
// Both folders are synced before the first cut: after a power failure a file is whole where it was, or lies in the trash.
import { assert } from '../../base/assert.ts';
import { errorText, RingmqError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Files } from '../../store/files/files.ts';

/** 1 to 5 ms of work for a file system. */
const STEP_SIZE = 32 * 1024 * 1024;
const STEP_PAUSE_MS = 10;

export class Trash {
  readonly #files: Files;
  readonly #folder: string;
  readonly #log: Log;
  readonly #names: string[] = [];
  #fd = -1;
  #sizeBytes = 0;
  #nextStepMs = Number.NEGATIVE_INFINITY;

  /** @param folder on the same disk as the files that it will get; where it is not, they are removed in one go. */
  constructor(files: Files, folder: string, log: Log) {
    this.#files = files;
    this.#folder = folder;
    this.#log = log;
  }

  /** What an earlier process did not come to the end with. Whatever else lies there is not ours. */
  adopt(): void {
    this.#names.push(...this.#files.list(this.#folder).filter((name) => /^\d{20}$/.test(name)));
  }

  get isEmpty(): boolean {
    return this.#names.length === 0;
  }

  /** Steady time of the next step; Infinity where there is nothing to delete. */
  get nextStepMs(): number {
    return this.isEmpty ? Number.POSITIVE_INFINITY : this.#nextStepMs;
  }

  /** The file is not in its folder any more when this returns. Throws where it still is. */
  take(folder: string, name: string): void {
    const files = this.#files;
    try {
      files.makeFolder(this.#folder);
      files.rename(`${folder}/${name}`, `${this.#folder}/${name}`);
    } catch (error) {
      if (!(error instanceof RingmqError)) throw error;
      files.remove(`${folder}/${name}`);
      files.syncFolder(folder);
      return;
    }
    // Where one of these fails, nothing is cut before the next start.
    files.syncFolder(this.#folder);
    files.syncFolder(folder);
    this.#names.push(name);
  }

  /** One step where it is time for one; true where it did something. */
  step(nowMs: number): boolean {
    const [name] = this.#names;
    if (name === undefined || nowMs < this.#nextStepMs) return false;
    this.#nextStepMs = nowMs + STEP_PAUSE_MS;
    try {
      this.#cut(`${this.#folder}/${name}`);
    } catch (error) {
      this.#log.warn('a deleted file could not be removed from the trash; the next start tries again', {
        file: `${this.#folder}/${name}`,
        error: errorText(error),
      });
      this.#names.shift();
      this.close();
    }
    return true;
  }

  /** The rest is left for the next process. */
  close(): void {
    if (this.#fd < 0) return;
    const fd = this.#fd;
    this.#fd = -1;
    this.#files.close(fd);
  }

  #cut(path: string): void {
    const files = this.#files;
    if (this.#fd < 0) {
      const stat = files.stat(path);
      if (stat === null || stat.isDirectory) {
        this.#finish(path);
        return;
      }
      this.#sizeBytes = stat.sizeBytes;
      this.#fd = files.open(path, 'write');
    }
    assert(this.#sizeBytes >= 0, 'a size');
    this.#sizeBytes = Math.max(0, this.#sizeBytes - STEP_SIZE);
    files.truncate(this.#fd, this.#sizeBytes);
    if (this.#sizeBytes > 0) return;
    this.close();
    this.#finish(path);
  }

  #finish(path: string): void {
    this.#files.remove(path);
    this.#names.shift();
    if (this.isEmpty && this.#files.list(this.#folder).length === 0) this.#files.remove(this.#folder);
  }
}
