// The real file system behind `Files`: node:fs, synchronous, with every failure told by path and system code.
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  constants,
  fdatasyncSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs';
import { ErrorCodes, RingmqError } from '../../base/errors.ts';
import type { DiskUsage, FileStat, Files, OpenMode } from './files.ts';

const flags: Readonly<Record<OpenMode, number>> = {
  read: constants.O_RDONLY,
  write: constants.O_RDWR,
  create: constants.O_RDWR | constants.O_CREAT,
};

function systemCode(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown';
}

/** The error of one failed file operation, as every `Files` throws it. */
export function fileError(doing: string, path: string, code: string, cause?: unknown): RingmqError {
  return new RingmqError(ErrorCodes.io, `cannot ${doing}`, { path, code }, cause);
}

export class NodeFiles implements Files {
  /** For the text of errors: a descriptor alone says nothing. */
  readonly #paths = new Map<number, string>();

  open(path: string, mode: OpenMode): number {
    try {
      const fd = openSync(path, flags[mode], 0o644);
      this.#paths.set(fd, path);
      return fd;
    } catch (error) {
      throw fileError('open', path, systemCode(error), error);
    }
  }

  close(fd: number): void {
    try {
      closeSync(fd);
    } catch (error) {
      throw this.#failed('close', fd, error);
    }
    this.#paths.delete(fd);
  }

  read(fd: number, into: Uint8Array, at: number, size: number, position: number): number {
    let done = 0;
    try {
      while (done < size) {
        const count = readSync(fd, into, at + done, size - done, position + done);
        if (count === 0) break;
        done += count;
      }
    } catch (error) {
      throw this.#failed('read', fd, error);
    }
    return done;
  }

  write(fd: number, from: Uint8Array, at: number, size: number, position: number): void {
    let done = 0;
    try {
      while (done < size) done += writeSync(fd, from, at + done, size - done, position + done);
    } catch (error) {
      throw this.#failed('write', fd, error);
    }
  }

  truncate(fd: number, sizeBytes: number): void {
    try {
      ftruncateSync(fd, sizeBytes);
    } catch (error) {
      throw this.#failed('truncate', fd, error);
    }
  }

  sync(fd: number): void {
    try {
      fdatasyncSync(fd);
    } catch (error) {
      throw this.#failed('sync', fd, error);
    }
  }

  /** Node has no syncfs, but Linux has a command for it. */
  syncTree(path: string): boolean {
    return process.platform === 'linux' && spawnSync('sync', ['-f', path], { stdio: 'ignore' }).status === 0;
  }

  syncFolder(path: string): void {
    // Windows has no handle of a folder to sync.
    if (process.platform === 'win32') return;
    try {
      const fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
      try {
        fsyncSync(fd);
      } finally {
        closeSync(fd);
      }
    } catch (error) {
      throw fileError('sync folder', path, systemCode(error), error);
    }
  }

  usage(path: string): DiskUsage | null {
    try {
      const { blocks, bfree, bavail, bsize } = statfsSync(path);
      return blocks > 0 ? { usedBytes: (blocks - bfree) * bsize, freeBytes: bavail * bsize } : null;
    } catch {
      return null;
    }
  }

  stat(path: string): FileStat | null {
    try {
      const stat = statSync(path, { throwIfNoEntry: false });
      return stat === undefined ? null : { sizeBytes: stat.size, mtimeMs: stat.mtimeMs, isDirectory: stat.isDirectory() };
    } catch (error) {
      if (systemCode(error) === 'ENOTDIR') return null;
      throw fileError('stat', path, systemCode(error), error);
    }
  }

  list(path: string): string[] {
    try {
      return readdirSync(path).sort();
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return [];
      throw fileError('list', path, systemCode(error), error);
    }
  }

  makeFolder(path: string): void {
    try {
      mkdirSync(path, { recursive: true });
    } catch (error) {
      throw fileError('make folder', path, systemCode(error), error);
    }
  }

  rename(from: string, to: string): void {
    try {
      renameSync(from, to);
    } catch (error) {
      throw fileError('rename', from, systemCode(error), error);
    }
  }

  remove(path: string): void {
    try {
      // Another thread may just be making a file in it (see prepareQueueFile).
      rmSync(path, { recursive: true, force: true, maxRetries: 3, retryDelay: 1 });
    } catch (error) {
      throw fileError('remove', path, systemCode(error), error);
    }
  }

  #failed(doing: string, fd: number, error: unknown): RingmqError {
    return fileError(doing, this.#paths.get(fd) ?? `fd ${fd}`, systemCode(error), error);
  }
}
