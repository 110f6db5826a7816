// A file system in memory behind `Files`: a whole broker runs on it in tests, with the same answers and failures as the real one.
import { posix } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { FileStat, Files, OpenMode } from './files.ts';
import { fileError } from './node-files.ts';
import { SparseBytes } from './sparse-bytes.ts';

interface MemoryFile {
  readonly bytes: SparseBytes;
  mtimeMs: number;
}

type Folder = Map<string, MemoryFile | Folder>;

interface Descriptor {
  readonly path: string;
  /** Removed or renamed files live on behind their descriptors. */
  readonly node: MemoryFile | Folder;
  readonly writable: boolean;
}

const FIRST_DESCRIPTOR = 3;

export class MemoryFiles implements Files {
  readonly #root: Folder = new Map();
  readonly #open = new Map<number, Descriptor>();
  readonly #clock: Pick<Clock, 'wallMs'>;
  #nextFd = FIRST_DESCRIPTOR;

  /** @param clock gives files their time of change. */
  constructor(clock: Pick<Clock, 'wallMs'> = { wallMs: () => 0 }) {
    this.#clock = clock;
  }

  get openCount(): number {
    return this.#open.size;
  }

  open(path: string, mode: OpenMode): number {
    let node = this.#find('open', path);
    if (node === undefined) {
      if (mode !== 'create') throw fileError('open', path, 'ENOENT');
      node = { bytes: new SparseBytes(), mtimeMs: this.#clock.wallMs() };
      this.#parent('open', path).set(posix.basename(path), node);
    }
    if (node instanceof Map && mode !== 'read') throw fileError('open', path, 'EISDIR');
    const fd = this.#nextFd++;
    this.#open.set(fd, { path, node, writable: mode !== 'read' });
    return fd;
  }

  close(fd: number): void {
    if (!this.#open.delete(fd)) throw fileError('close', `fd ${fd}`, 'EBADF');
  }

  read(fd: number, into: Uint8Array, at: number, size: number, position: number): number {
    return this.#file('read', fd).bytes.read(into, at, size, position);
  }

  write(fd: number, from: Uint8Array, at: number, size: number, position: number): void {
    const file = this.#writable('write', fd, 'EBADF');
    file.bytes.write(from, at, size, position);
    file.mtimeMs = this.#clock.wallMs();
  }

  truncate(fd: number, sizeBytes: number): void {
    const file = this.#writable('truncate', fd, 'EINVAL');
    file.bytes.truncate(sizeBytes);
    file.mtimeMs = this.#clock.wallMs();
  }

  sync(fd: number): void {
    if (!this.#open.has(fd)) throw fileError('sync', `fd ${fd}`, 'EBADF');
  }

  syncFolder(path: string): void {
    const node = this.#find('sync folder', path);
    if (node === undefined) throw fileError('sync folder', path, 'ENOENT');
    if (!(node instanceof Map)) throw fileError('sync folder', path, 'ENOTDIR');
  }

  stat(path: string): FileStat | null {
    let node: MemoryFile | Folder | undefined = this.#root;
    for (const part of parts(path)) node = node instanceof Map ? node.get(part) : undefined;
    if (node === undefined) return null;
    if (node instanceof Map) return { sizeBytes: 0, mtimeMs: 0, isDirectory: true };
    return { sizeBytes: node.bytes.sizeBytes, mtimeMs: node.mtimeMs, isDirectory: false };
  }

  list(path: string): string[] {
    const node = this.#find('list', path);
    if (node === undefined) return [];
    if (!(node instanceof Map)) throw fileError('list', path, 'ENOTDIR');
    return [...node.keys()].sort();
  }

  makeFolder(path: string): void {
    let folder = this.#root;
    for (const part of parts(path)) {
      const next = folder.get(part) ?? new Map();
      if (!(next instanceof Map)) throw fileError('make folder', path, folder.get(part) === this.#leaf(path) ? 'EEXIST' : 'ENOTDIR');
      folder.set(part, next);
      folder = next;
    }
  }

  rename(from: string, to: string): void {
    const node = this.#find('rename', from);
    if (node === undefined) throw fileError('rename', from, 'ENOENT');
    const parent = this.#find('rename', posix.dirname(to));
    if (!(parent instanceof Map)) throw fileError('rename', from, parent === undefined ? 'ENOENT' : 'ENOTDIR');
    const target = parent.get(posix.basename(to));
    if (target === node) return;
    if (target instanceof Map) {
      if (!(node instanceof Map)) throw fileError('rename', from, 'EISDIR');
      if (target.size > 0) throw fileError('rename', from, 'ENOTEMPTY');
    } else if (target !== undefined && node instanceof Map) {
      throw fileError('rename', from, 'ENOTDIR');
    }
    this.#parent('rename', from).delete(posix.basename(from));
    parent.set(posix.basename(to), node);
  }

  remove(path: string): void {
    if (this.stat(path) !== null) this.#parent('remove', path).delete(posix.basename(path));
  }

  /** The node at the path, undefined where there is none; a file where a folder must be is an error. */
  #find(doing: string, path: string): MemoryFile | Folder | undefined {
    let node: MemoryFile | Folder | undefined = this.#root;
    for (const part of parts(path)) {
      if (node === undefined) return undefined;
      if (!(node instanceof Map)) throw fileError(doing, path, 'ENOTDIR');
      node = node.get(part);
    }
    return node;
  }

  #parent(doing: string, path: string): Folder {
    const parent = this.#find(doing, posix.dirname(path));
    if (parent === undefined) throw fileError(doing, path, 'ENOENT');
    if (!(parent instanceof Map)) throw fileError(doing, path, 'ENOTDIR');
    return parent;
  }

  #leaf(path: string): MemoryFile | Folder | undefined {
    const parent = this.#find('make folder', posix.dirname(path));
    return parent instanceof Map ? parent.get(posix.basename(path)) : undefined;
  }

  #file(doing: string, fd: number): MemoryFile {
    const descriptor = this.#open.get(fd);
    if (descriptor === undefined) throw fileError(doing, `fd ${fd}`, 'EBADF');
    if (descriptor.node instanceof Map) throw fileError(doing, descriptor.path, 'EISDIR');
    return descriptor.node;
  }

  #writable(doing: string, fd: number, code: string): MemoryFile {
    const file = this.#file(doing, fd);
    const descriptor = this.#open.get(fd);
    if (descriptor?.writable !== true) throw fileError(doing, descriptor?.path ?? '', code);
    return file;
  }
}

function parts(path: string): string[] {
  return posix
    .normalize(path)
    .split('/')
    .filter((part) => part !== '' && part !== '.');
}
