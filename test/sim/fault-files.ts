// Files of which a test can fail and count the writes and syncs of the commit log.
import { ErrorCodes, RingmqError } from '../../src/base/errors.ts';
import type { FileStat, Files, OpenMode } from '../../src/store/files/files.ts';

export class FaultFiles implements Files {
  failsWrites = false;
  failsSyncs = false;
  syncCount = 0;
  readonly #inner: Files;
  readonly #folder: string;
  readonly #watched = new Set<number>();

  /** @param folder only files below it are failed and counted. */
  constructor(inner: Files, folder: string) {
    this.#inner = inner;
    this.#folder = folder;
  }

  /** Of the watched files. */
  get openCount(): number {
    return this.#watched.size;
  }

  open(path: string, mode: OpenMode): number {
    const fd = this.#inner.open(path, mode);
    if (path.startsWith(`${this.#folder}/`)) this.#watched.add(fd);
    return fd;
  }

  close(fd: number): void {
    this.#watched.delete(fd);
    this.#inner.close(fd);
  }

  read(fd: number, into: Uint8Array, at: number, size: number, position: number): number {
    return this.#inner.read(fd, into, at, size, position);
  }

  write(fd: number, from: Uint8Array, at: number, size: number, position: number): void {
    if (this.failsWrites && this.#watched.has(fd)) throw new RingmqError(ErrorCodes.io, 'write failed on purpose');
    this.#inner.write(fd, from, at, size, position);
  }

  truncate(fd: number, sizeBytes: number): void {
    this.#inner.truncate(fd, sizeBytes);
  }

  sync(fd: number): void {
    if (this.#watched.has(fd)) {
      if (this.failsSyncs) throw new RingmqError(ErrorCodes.io, 'sync failed on purpose');
      this.syncCount++;
    }
    this.#inner.sync(fd);
  }

  syncFolder(path: string): void {
    this.#inner.syncFolder(path);
  }

  stat(path: string): FileStat | null {
    return this.#inner.stat(path);
  }

  list(path: string): string[] {
    return this.#inner.list(path);
  }

  makeFolder(path: string): void {
    this.#inner.makeFolder(path);
  }

  rename(from: string, to: string): void {
    this.#inner.rename(from, to);
  }

  remove(path: string): void {
    this.#inner.remove(path);
  }
}
