// A disk in memory that can lose power: what was synced stays; of all else, names, sizes and sectors survive or vanish by chance.
//
//   sync(fd)          the file's bytes and size are safe, not its name; with a journal, sizes set before are safe as well
//   syncFolder(path)  names made, changed and removed in this folder are safe, not what they stand for
//   killed process    loses nothing, and makes nothing safe
import { posix } from 'node:path';
import type { Clock } from '../../src/base/clock.ts';
import type { Random } from '../../src/base/random.ts';
import type { FileStat, Files, OpenMode } from '../../src/store/files/files.ts';
import { fileError } from '../../src/store/files/node-files.ts';
import { DiskFile, DiskFolder, type DiskNode } from './disk-nodes.ts';

/**
 * journal: names and sizes change on disk in the order in which they were changed, as journaling file systems do it. folders: only
 * within one folder, as little as the system's documents promise.
 */
export type CutOrder = 'journal' | 'folders';

interface Descriptor {
  readonly path: string;
  readonly node: DiskNode;
  readonly writable: boolean;
}

export class PowerCutDisk implements Files {
  readonly #root = new DiskFolder();
  readonly #open = new Map<number, Descriptor>();
  readonly #clock: Pick<Clock, 'wallMs'>;
  #nextFd = 3;
  /** Number of the next change of a name or a size. */
  #order = 0;
  /** Sizes set before this number are safe where there is a journal. */
  #sizesSafe = 0;

  constructor(clock: Pick<Clock, 'wallMs'> = { wallMs: () => 0 }) {
    this.#clock = clock;
  }

  get openCount(): number {
    return this.#open.size;
  }

  /** The power is gone and back; whoever had files open is gone as well. */
  cutPower(random: Random, order: CutOrder = 'journal'): void {
    this.#open.clear();
    const all = random.below(this.#order + 1);
    // Most changes are old, and lost changes are among the newest.
    const newest = this.#order - random.below(Math.min(this.#order, 20) + 1);
    const one = random.below(2) === 0 ? all : newest;
    const journal = { ofFolder: () => one, ofFile: () => Math.max(one, this.#sizesSafe) };
    const any = (): number => random.below(this.#order + 1);
    this.#root.loseUnsynced(order === 'journal' ? journal : { ofFolder: any, ofFile: any }, random);
  }

  /** The process is gone: what it wrote is there, safe or not. */
  endProcess(): void {
    this.#open.clear();
  }

  open(path: string, mode: OpenMode): number {
    let node = this.#find('open', path);
    if (node === undefined) {
      if (mode !== 'create') throw fileError('open', path, 'ENOENT');
      const file = new DiskFile();
      file.mtimeMs = this.#clock.wallMs();
      this.#folder('open', posix.dirname(path)).add(this.#order++, posix.basename(path), file);
      node = file;
    }
    if (node instanceof DiskFolder && mode !== 'read') throw fileError('open', path, 'EISDIR');
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
    file.write(this.#order++, from, at, size, position);
    file.mtimeMs = this.#clock.wallMs();
  }

  truncate(fd: number, sizeBytes: number): void {
    const file = this.#writable('truncate', fd, 'EINVAL');
    file.truncate(this.#order++, sizeBytes);
    file.mtimeMs = this.#clock.wallMs();
  }

  sync(fd: number): void {
    this.#file('sync', fd).sync();
    this.#sizesSafe = this.#order;
  }

  syncFolder(path: string): void {
    this.#folder('sync folder', path).sync();
  }

  syncTree(path: string): boolean {
    this.#folder('sync tree', path).syncAll();
    return true;
  }

  stat(path: string): FileStat | null {
    let node: DiskNode | undefined = this.#root;
    for (const part of partsOf(path)) node = node instanceof DiskFolder ? node.entries.get(part) : undefined;
    if (node === undefined) return null;
    if (node instanceof DiskFolder) return { sizeBytes: 0, mtimeMs: 0, isDirectory: true };
    return { sizeBytes: node.bytes.sizeBytes, mtimeMs: node.mtimeMs, isDirectory: false };
  }

  list(path: string): string[] {
    const node = this.#find('list', path);
    if (node === undefined) return [];
    if (!(node instanceof DiskFolder)) throw fileError('list', path, 'ENOTDIR');
    return [...node.entries.keys()].sort();
  }

  makeFolder(path: string): void {
    let folder = this.#root;
    for (const part of partsOf(path)) {
      let next = folder.entries.get(part);
      if (next === undefined) {
        next = new DiskFolder();
        folder.add(this.#order++, part, next);
      }
      if (!(next instanceof DiskFolder)) throw fileError('make folder', path, 'ENOTDIR');
      folder = next;
    }
  }

  rename(from: string, to: string): void {
    const node = this.#find('rename', from);
    if (node === undefined) throw fileError('rename', from, 'ENOENT');
    const source = this.#folder('rename', posix.dirname(from));
    const target = this.#folder('rename', posix.dirname(to));
    if (source === target) source.rename(this.#order++, posix.basename(from), posix.basename(to), node);
    else {
      source.drop(this.#order, posix.basename(from), node);
      target.add(this.#order++, posix.basename(to), node);
    }
  }

  /** A folder goes name by name, the deepest first. */
  remove(path: string): void {
    const node = this.#find('remove', path);
    if (node === undefined) return;
    if (node instanceof DiskFolder) for (const name of [...node.entries.keys()]) this.remove(`${path}/${name}`);
    this.#folder('remove', posix.dirname(path)).drop(this.#order++, posix.basename(path), node);
  }

  #find(doing: string, path: string): DiskNode | undefined {
    let node: DiskNode | undefined = this.#root;
    for (const part of partsOf(path)) {
      if (node === undefined) return undefined;
      if (!(node instanceof DiskFolder)) throw fileError(doing, path, 'ENOTDIR');
      node = node.entries.get(part);
    }
    return node;
  }

  #folder(doing: string, path: string): DiskFolder {
    const node = this.#find(doing, path);
    if (node === undefined) throw fileError(doing, path, 'ENOENT');
    if (!(node instanceof DiskFolder)) throw fileError(doing, path, 'ENOTDIR');
    return node;
  }

  #file(doing: string, fd: number): DiskFile {
    const descriptor = this.#open.get(fd);
    if (descriptor === undefined) throw fileError(doing, `fd ${fd}`, 'EBADF');
    if (descriptor.node instanceof DiskFolder) throw fileError(doing, descriptor.path, 'EISDIR');
    return descriptor.node;
  }

  #writable(doing: string, fd: number, code: string): DiskFile {
    const file = this.#file(doing, fd);
    const descriptor = this.#open.get(fd);
    if (descriptor?.writable !== true) throw fileError(doing, descriptor?.path ?? '', code);
    return file;
  }
}

function partsOf(path: string): string[] {
  return posix
    .normalize(path)
    .split('/')
    .filter((part) => part !== '' && part !== '.');
}
