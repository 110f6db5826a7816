// Keeps a bounded number of the many queue files open, and knows which of them were written since the last sync.
import { assert } from '../base/assert.ts';
import type { Files } from './files/files.ts';

const FILE_NUMBER_LIMIT = 2 ** 20;
const DESCRIPTOR_LIMIT = 256;
/** From here on one sync of the whole file system is cheaper: a sync takes 0.1 to 3 ms. */
const ONE_BY_ONE_MAX = 64;

export class QueueFileCache {
  readonly #files: Files;
  readonly #limit: number;
  /** File id -> descriptor, the one used longest ago first. */
  readonly #open = new Map<number, number>();
  /** File id -> path. */
  readonly #dirty = new Map<number, string>();
  readonly #dirtyFolders = new Set<string>();

  constructor(files: Files, limit = DESCRIPTOR_LIMIT) {
    assert(limit > 0, 'room for descriptors');
    this.#files = files;
    this.#limit = limit;
  }

  static fileId(queueKey: number, fileNumber: number): number {
    assert(fileNumber < FILE_NUMBER_LIMIT, 'file numbers stay in their range');
    return queueKey * FILE_NUMBER_LIMIT + fileNumber;
  }

  get openCount(): number {
    return this.#open.size;
  }

  get dirtyCount(): number {
    return this.#dirty.size;
  }

  /** -1 where the file is not open. Valid until the next `put`. */
  get(id: number): number {
    const fd = this.#open.get(id);
    if (fd === undefined) return -1;
    this.#open.delete(id);
    this.#open.set(id, fd);
    return fd;
  }

  put(id: number, fd: number): void {
    assert(!this.#open.has(id), 'a file is opened once');
    if (this.#open.size >= this.#limit) {
      for (const oldest of this.#open.keys()) {
        this.drop(oldest);
        break;
      }
    }
    this.#open.set(id, fd);
  }

  /** Closes the file; what was written stays to be synced. */
  drop(id: number): void {
    const fd = this.#open.get(id);
    if (fd === undefined) return;
    this.#open.delete(id);
    this.#files.close(fd);
  }

  isDirty(id: number): boolean {
    return this.#dirty.has(id);
  }

  markDirty(id: number, path: string): void {
    this.#dirty.set(id, path);
  }

  markFolder(path: string): void {
    this.#dirtyFolders.add(path);
  }

  /** The file is about to be removed. */
  forget(id: number): void {
    this.drop(id);
    this.#dirty.delete(id);
  }

  /** All that was written through this cache is on stable storage when this returns 0: how many files and folders are left to sync. */
  sync(countMax: number): number {
    let room = countMax;
    for (const [id, path] of this.#dirty) {
      if (room-- <= 0) break;
      const fd = this.#open.get(id);
      if (fd !== undefined) this.#files.sync(fd);
      else this.#syncClosed(path);
      this.#dirty.delete(id);
    }
    for (const folder of this.#dirtyFolders) {
      if (room-- <= 0) break;
      if (this.#files.stat(folder) !== null) this.#files.syncFolder(folder);
      this.#dirtyFolders.delete(folder);
    }
    return this.#dirty.size + this.#dirtyFolders.size;
  }

  /** The same for all of them; `folder` holds all files. */
  syncAll(folder: string): void {
    const count = this.#dirty.size + this.#dirtyFolders.size;
    if (count > ONE_BY_ONE_MAX && this.#files.syncTree?.(folder) === true) {
      this.#dirty.clear();
      this.#dirtyFolders.clear();
    } else this.sync(Number.POSITIVE_INFINITY);
  }

  close(): void {
    for (const id of [...this.#open.keys()]) this.drop(id);
  }

  #syncClosed(path: string): void {
    const fd = this.#files.open(path, 'write');
    try {
      this.#files.sync(fd);
    } finally {
      this.#files.close(fd);
    }
  }
}
