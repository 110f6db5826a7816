// Files that lose power: what was not synced when it fails is written in whole, in part, or not at all.
import type { Clock } from '../../../src/base/clock.ts';
import type { Random } from '../../../src/base/random.ts';
import type { FileStat, Files, OpenMode } from '../../../src/store/files/files.ts';
import { MemoryFiles } from '../../../src/store/files/memory-files.ts';

interface PendingWrite {
  readonly bytes: Uint8Array;
  readonly position: number;
}

/** Names and lengths are kept as they are; contents wait for a sync. */
export class CrashFiles implements Files {
  readonly #live: MemoryFiles;
  readonly #durable = new MemoryFiles();
  readonly #paths = new Map<number, string>();
  readonly #pending = new Map<string, PendingWrite[]>();

  /** @param clock gives files their time of change. */
  constructor(clock?: Pick<Clock, 'wallMs'>) {
    this.#live = new MemoryFiles(clock);
  }

  /** What a start after the failure finds. */
  crash(random: Random): MemoryFiles {
    for (const [path, writes] of this.#pending) {
      for (const { bytes, position } of writes) {
        const fate = random.below(3);
        if (fate === 0) continue;
        this.#write(path, { bytes: fate === 1 ? bytes : bytes.subarray(0, random.below(bytes.length)), position });
      }
    }
    return this.#durable;
  }

  open(path: string, mode: OpenMode): number {
    const fd = this.#live.open(path, mode);
    if (mode === 'create') this.#durable.close(this.#durable.open(path, 'create'));
    this.#paths.set(fd, path);
    return fd;
  }

  close(fd: number): void {
    this.#live.close(fd);
    this.#paths.delete(fd);
  }

  read(fd: number, into: Uint8Array, at: number, size: number, position: number): number {
    return this.#live.read(fd, into, at, size, position);
  }

  write(fd: number, from: Uint8Array, at: number, size: number, position: number): void {
    this.#live.write(fd, from, at, size, position);
    const path = this.#path(fd);
    const writes = this.#pending.get(path) ?? [];
    writes.push({ bytes: from.slice(at, at + size), position });
    this.#pending.set(path, writes);
  }

  truncate(fd: number, sizeBytes: number): void {
    this.#live.truncate(fd, sizeBytes);
    const durable = this.#durable.open(this.#path(fd), 'write');
    this.#durable.truncate(durable, sizeBytes);
    this.#durable.close(durable);
  }

  sync(fd: number): void {
    const path = this.#path(fd);
    for (const write of this.#pending.get(path) ?? []) this.#write(path, write);
    this.#pending.delete(path);
  }

  syncFolder(path: string): void {
    this.#live.syncFolder(path);
  }

  stat(path: string): FileStat | null {
    return this.#live.stat(path);
  }

  list(path: string): string[] {
    return this.#live.list(path);
  }

  makeFolder(path: string): void {
    this.#live.makeFolder(path);
    this.#durable.makeFolder(path);
  }

  rename(from: string, to: string): void {
    this.#live.rename(from, to);
    this.#durable.rename(from, to);
    const writes = this.#pending.get(from);
    this.#pending.delete(from);
    this.#pending.delete(to);
    if (writes !== undefined) this.#pending.set(to, writes);
  }

  remove(path: string): void {
    this.#live.remove(path);
    this.#durable.remove(path);
    for (const each of [...this.#pending.keys()]) if (each === path || each.startsWith(`${path}/`)) this.#pending.delete(each);
  }

  #path(fd: number): string {
    return this.#paths.get(fd) ?? '';
  }

  #write(path: string, { bytes, position }: PendingWrite): void {
    if (bytes.length === 0) return;
    const fd = this.#durable.open(path, 'write');
    this.#durable.write(fd, bytes, 0, bytes.length, position);
    this.#durable.close(fd);
  }
}
