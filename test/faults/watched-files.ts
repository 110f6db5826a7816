// Files that tests look into: each operation is told to watches before and after it, and a watch can fail, tear, delay or end it.
import type { FileStat, Files, OpenMode } from '../../src/store/files/files.ts';
import { fileError } from '../../src/store/files/node-files.ts';

/** `make` is an open that makes the file; all other opens are `open`. */
export type OperationKind =
  | 'open'
  | 'make'
  | 'close'
  | 'read'
  | 'write'
  | 'truncate'
  | 'sync'
  | 'syncFolder'
  | 'syncTree'
  | 'stat'
  | 'list'
  | 'makeFolder'
  | 'rename'
  | 'remove';

export interface Operation {
  readonly kind: OperationKind;
  readonly path: string;
  /** The new path of a rename. */
  readonly to?: string;
  /** Of a write, with its place in the file; of a truncation, the new size. */
  readonly sizeBytes?: number;
  readonly position?: number;
}

/** Both may throw: then the operation fails, before or after it has taken effect. */
export interface Watch {
  before?(operation: Operation): void;
  after?(operation: Operation): void;
}

/** Thrown by a watch before a write: so many bytes get through, then the write fails. */
export class TornWrite {
  readonly sizeBytes: number;
  readonly code: string;

  constructor(sizeBytes: number, code: string) {
    this.sizeBytes = sizeBytes;
    this.code = code;
  }
}

export interface ProbedUsage {
  readonly usedBytes: number;
  readonly freeBytes: number;
}

/** What a probe tells: figures, null (unknown), an error that it throws; `real` asks the files below. */
export type UsageProbe = ProbedUsage | null | Error | 'real';

interface ProbedFiles {
  usage?(path: string): ProbedUsage | null;
}

export class WatchedFiles implements Files {
  /** What `usage` says. */
  probe: UsageProbe = 'real';
  readonly #inner: Files;
  readonly #watches: Watch[] = [];
  readonly #paths = new Map<number, string>();

  constructor(inner: Files, ...watches: readonly Watch[]) {
    this.#inner = inner;
    this.#watches.push(...watches);
  }

  /** Watches are asked in the order in which they were added. */
  watch<T extends Watch>(watch: T): T {
    this.#watches.push(watch);
    return watch;
  }

  unwatch(watch: Watch): void {
    const at = this.#watches.indexOf(watch);
    if (at >= 0) this.#watches.splice(at, 1);
  }

  /** Descriptors open on files below a folder. */
  openCountBelow(folder: string): number {
    let count = 0;
    for (const path of this.#paths.values()) if (path.startsWith(`${folder}/`)) count++;
    return count;
  }

  usage(path: string): ProbedUsage | null {
    const { probe } = this;
    if (probe instanceof Error) throw probe;
    return probe === 'real' ? ((this.#inner as ProbedFiles).usage?.(path) ?? null) : probe;
  }

  open(path: string, mode: OpenMode): number {
    const kind = mode === 'create' && this.#inner.stat(path) === null ? 'make' : 'open';
    const fd = this.#run({ kind, path }, () => this.#inner.open(path, mode));
    this.#paths.set(fd, path);
    return fd;
  }

  close(fd: number): void {
    this.#run({ kind: 'close', path: this.#path(fd) }, () => this.#inner.close(fd));
    this.#paths.delete(fd);
  }

  read(fd: number, into: Uint8Array, at: number, size: number, position: number): number {
    return this.#run({ kind: 'read', path: this.#path(fd), sizeBytes: size, position }, () =>
      this.#inner.read(fd, into, at, size, position),
    );
  }

  write(fd: number, from: Uint8Array, at: number, size: number, position: number): void {
    const operation: Operation = { kind: 'write', path: this.#path(fd), sizeBytes: size, position };
    try {
      this.#run(operation, () => this.#inner.write(fd, from, at, size, position));
    } catch (error) {
      if (!(error instanceof TornWrite)) throw error;
      const through = Math.min(size, error.sizeBytes);
      if (through > 0) this.#inner.write(fd, from, at, through, position);
      throw fileError('write', operation.path, error.code);
    }
  }

  truncate(fd: number, sizeBytes: number): void {
    this.#run({ kind: 'truncate', path: this.#path(fd), sizeBytes }, () => this.#inner.truncate(fd, sizeBytes));
  }

  sync(fd: number): void {
    this.#run({ kind: 'sync', path: this.#path(fd) }, () => this.#inner.sync(fd));
  }

  syncFolder(path: string): void {
    this.#run({ kind: 'syncFolder', path }, () => this.#inner.syncFolder(path));
  }

  syncTree(path: string): boolean {
    return this.#run({ kind: 'syncTree', path }, () => this.#inner.syncTree?.(path) ?? false);
  }

  stat(path: string): FileStat | null {
    return this.#run({ kind: 'stat', path }, () => this.#inner.stat(path));
  }

  list(path: string): string[] {
    return this.#run({ kind: 'list', path }, () => this.#inner.list(path));
  }

  makeFolder(path: string): void {
    // One that is there already is no step that could be lost.
    if (this.#inner.stat(path) !== null) this.#inner.makeFolder(path);
    else this.#run({ kind: 'makeFolder', path }, () => this.#inner.makeFolder(path));
  }

  rename(from: string, to: string): void {
    this.#run({ kind: 'rename', path: from, to }, () => this.#inner.rename(from, to));
  }

  remove(path: string): void {
    if (this.#inner.stat(path) === null) this.#inner.remove(path);
    else this.#run({ kind: 'remove', path }, () => this.#inner.remove(path));
  }

  #run<T>(operation: Operation, act: () => T): T {
    for (const watch of this.#watches) watch.before?.(operation);
    const result = act();
    for (const watch of this.#watches) watch.after?.(operation);
    return result;
  }

  #path(fd: number): string {
    return this.#paths.get(fd) ?? `fd ${fd}`;
  }
}
