// A disk in memory of which a test says how full it is, and how many bytes still fit.
import type { FakeClock } from '../../src/base/clock.ts';
import type { DiskUsage, OpenMode } from '../../src/store/files/files.ts';
import { MemoryFiles } from '../../src/store/files/memory-files.ts';
import { fileError } from '../../src/store/files/node-files.ts';

export class LimitedDisk extends MemoryFiles {
  /** null: the system does not tell. */
  logPercent: number | null = 10;
  queuePercent: number | null = 10;
  /** Bytes other than zeros that still fit below `limitedFolder`. */
  roomBytes = Number.POSITIVE_INFINITY;
  readonly #limitedFolder: string;
  readonly #paths = new Map<number, string>();

  constructor(clock: FakeClock, limitedFolder = '/store/commitlog') {
    super(clock);
    this.#limitedFolder = limitedFolder;
  }

  usage(path: string): DiskUsage | null {
    const percent = path.includes('consumequeue') ? this.queuePercent : this.logPercent;
    return percent === null ? null : { usedBytes: percent, freeBytes: 100 - percent };
  }

  override open(path: string, mode: OpenMode): number {
    const fd = super.open(path, mode);
    this.#paths.set(fd, path);
    return fd;
  }

  override write(fd: number, from: Uint8Array, at: number, size: number, position: number): void {
    const path = this.#paths.get(fd) ?? '';
    const isLimited = path.startsWith(this.#limitedFolder) && from.subarray(at, at + size).some((byte) => byte !== 0);
    if (isLimited && size > this.roomBytes) {
      // As a real disk does: what fits is written.
      super.write(fd, from, at, this.roomBytes, position);
      this.roomBytes = 0;
      throw fileError('write', path, 'ENOSPC');
    }
    if (isLimited) this.roomBytes -= size;
    super.write(fd, from, at, size, position);
  }
}
