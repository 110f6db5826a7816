// The file system as the store sees it: synchronous, positional, small enough to be failed, delayed and torn by tests.
import { ErrorCodes, RingmqError } from '../../base/errors.ts';

const noSpaceCodes: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT']);

export interface FileStat {
  readonly sizeBytes: number;
  readonly mtimeMs: number;
  readonly isDirectory: boolean;
}

export interface DiskUsage {
  readonly usedBytes: number;
  /** What this user may still write. */
  readonly freeBytes: number;
}

/** read: the file must exist; write: read and write, must exist; create: read and write, made where it is missing. */
export type OpenMode = 'read' | 'write' | 'create';

/** The disk, or this user's share of it, has no room: what failed may go well later. */
export function isNoSpace(error: unknown): boolean {
  return error instanceof RingmqError && error.code === ErrorCodes.io && noSpaceCodes.has(String(error.values['code']));
}

/** Every method throws RingmqError `io` with the path and the system's code where it cannot do its work. */
export interface Files {
  open(path: string, mode: OpenMode): number;
  close(fd: number): void;
  /** Reads up to `size` bytes at `position` into `into` at `at`; fewer only at the file's end. Returns how many. */
  read(fd: number, into: Uint8Array, at: number, size: number, position: number): number;
  /** Writes all `size` bytes of `from` at `at` to `position`. */
  write(fd: number, from: Uint8Array, at: number, size: number, position: number): void;
  /** Cuts or extends (sparse, zeros) to this length. */
  truncate(fd: number, sizeBytes: number): void;
  /** The data is on stable storage when this returns (fdatasync). */
  sync(fd: number): void;
  /** Entries made, renamed and removed in this folder are on stable storage when this returns. */
  syncFolder(path: string): void;
  /**
   * Everything below this folder is on stable storage when this returns true, at the price of one call however many files there are;
   * false, or no such method, where the system cannot do that: then files are synced one by one.
   */
  syncTree?(path: string): boolean;
  /** Of the disk that holds the path; null where the system does not tell. No such method: there is no disk. Never throws. */
  usage?(path: string): DiskUsage | null;
  /** null where there is nothing. */
  stat(path: string): FileStat | null;
  /** Names in a folder, sorted; empty where the folder is missing. */
  list(path: string): string[];
  makeFolder(path: string): void;
  rename(from: string, to: string): void;
  /** Removes a file, or a folder with all in it; nothing happens where it is missing. */
  remove(path: string): void;
}
