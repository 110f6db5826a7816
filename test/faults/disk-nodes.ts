// What lies on a disk that can lose power: files and folders, each with the changes that no sync has made safe.
import type { Random } from '../../src/base/random.ts';
import { SparseBytes } from '../../src/store/files/sparse-bytes.ts';

/** A disk writes sectors whole or not at all; which of those under way it wrote, nobody knows. */
const SECTOR_SIZE = 512;

interface FileChange {
  /** Changes of names and sizes are numbered in the order of the file system's journal. */
  readonly order: number;
  readonly sizeBefore: number;
  readonly sizeAfter: number;
  readonly position: number;
  /** What the change overwrote or cut off, from `position` on. */
  readonly before: Uint8Array;
  /** What it wrote; null for a change of size. */
  readonly written: Uint8Array | null;
}

export class DiskFile {
  readonly bytes = new SparseBytes();
  mtimeMs = 0;
  #changes: FileChange[] = [];

  get changeCount(): number {
    return this.#changes.length;
  }

  write(order: number, from: Uint8Array, at: number, size: number, position: number): void {
    const sizeBefore = this.bytes.sizeBytes;
    const before = this.#read(position, Math.max(0, Math.min(size, sizeBefore - position)));
    this.#changes.push({
      order,
      sizeBefore,
      sizeAfter: Math.max(sizeBefore, position + size),
      position,
      before,
      written: from.slice(at, at + size),
    });
    this.bytes.write(from, at, size, position);
  }

  truncate(order: number, sizeBytes: number): void {
    const sizeBefore = this.bytes.sizeBytes;
    if (sizeBytes === sizeBefore) return;
    const before = this.#read(sizeBytes, Math.max(0, sizeBefore - sizeBytes));
    this.#changes.push({ order, sizeBefore, sizeAfter: sizeBytes, position: sizeBytes, before, written: null });
    this.bytes.truncate(sizeBytes);
  }

  sync(): void {
    this.#changes = [];
  }

  /** Changes of size before the horizon are kept, and of what was written some sectors, all, all but one, none, or the first writes. */
  loseUnsynced(horizon: number, random: Random): void {
    const changes = this.#changes;
    this.#changes = [];
    if (changes.length === 0) return;
    for (let i = changes.length - 1; i >= 0; i--) {
      const { sizeBefore, position, before } = changes[i] as FileChange;
      this.bytes.truncate(sizeBefore);
      if (before.length > 0) this.bytes.write(before, 0, before.length, position);
    }
    const keeps = keepRule(changes, random);
    changes.forEach((change, i) => {
      const { order, sizeBefore, sizeAfter, position, written } = change;
      if (order < horizon) {
        if (written === null) this.bytes.truncate(sizeAfter);
        else if (sizeAfter > sizeBefore && sizeAfter > this.bytes.sizeBytes) this.bytes.truncate(sizeAfter);
      }
      if (written !== null) this.#keepSectors(written, position, (sector) => keeps(i, sector));
    });
  }

  /** Also where a sector was written by several: each then holds what some write left there, and none an older one over a newer. */
  #keepSectors(written: Uint8Array, position: number, keeps: (sector: number) => boolean): void {
    const end = Math.min(position + written.length, this.bytes.sizeBytes);
    for (let at = position; at < end; ) {
      const sector = Math.floor(at / SECTOR_SIZE);
      const sectorEnd = Math.min((sector + 1) * SECTOR_SIZE, end);
      if (keeps(sector)) this.bytes.write(written, at - position, sectorEnd - at, at);
      at = sectorEnd;
    }
  }

  #read(position: number, size: number): Uint8Array {
    const bytes = new Uint8Array(size);
    this.bytes.read(bytes, 0, size, position);
    return bytes;
  }
}

/** Which changes, by their number, reached a sector. */
function keepRule(changes: readonly FileChange[], random: Random): (change: number, sector: number) => boolean {
  const changeCount = changes.length;
  switch (random.below(5)) {
    case 0:
      return () => false;
    case 1:
      return () => true;
    case 2: {
      const count = random.below(changeCount + 1);
      return (change) => change < count;
    }
    case 3: {
      // One sector is lost, and everything around it is there.
      const from = random.below(changeCount);
      const { position, written } = changes[from] as FileChange;
      const lost = Math.floor((position + random.below(Math.max(1, written?.length ?? 0))) / SECTOR_SIZE);
      return (change, sector) => sector !== lost || change < from;
    }
    default: {
      const counts = new Map<number, number>();
      return (change, sector) => {
        let count = counts.get(sector);
        if (count === undefined) {
          count = random.below(changeCount + 1);
          counts.set(sector, count);
        }
        return change < count;
      };
    }
  }
}

/** Asked for each folder and file: changes of names and sizes from that number on are lost. */
export interface Horizons {
  readonly ofFolder: () => number;
  readonly ofFile: () => number;
}

export type DiskNode = DiskFile | DiskFolder;

interface FolderChange {
  readonly order: number;
  /** Name that goes, name that comes; one of them is '' where nothing goes or comes. */
  readonly from: string;
  readonly to: string;
  readonly node: DiskNode;
}

export class DiskFolder {
  readonly entries = new Map<string, DiskNode>();
  #safe = new Map<string, DiskNode>();
  #changes: FolderChange[] = [];

  add(order: number, name: string, node: DiskNode): void {
    this.entries.set(name, node);
    this.#changes.push({ order, from: '', to: name, node });
  }

  drop(order: number, name: string, node: DiskNode): void {
    this.entries.delete(name);
    this.#changes.push({ order, from: name, to: '', node });
  }

  rename(order: number, from: string, to: string, node: DiskNode): void {
    this.entries.delete(from);
    this.entries.set(to, node);
    this.#changes.push({ order, from, to, node });
  }

  sync(): void {
    if (this.#changes.length === 0) return;
    this.#safe = new Map(this.entries);
    this.#changes = [];
  }

  /** Everything in it too. */
  syncAll(): void {
    this.sync();
    for (const node of this.entries.values()) {
      if (node instanceof DiskFolder) node.syncAll();
      else node.sync();
    }
  }

  loseUnsynced(horizons: Horizons, random: Random): void {
    const horizon = horizons.ofFolder();
    for (const { order, from, to, node } of this.#changes) {
      if (order >= horizon) break;
      if (from !== '') this.#safe.delete(from);
      if (to !== '') this.#safe.set(to, node);
    }
    this.#changes = [];
    this.entries.clear();
    for (const [name, node] of this.#safe) {
      this.entries.set(name, node);
      if (node instanceof DiskFolder) node.loseUnsynced(horizons, random);
      else node.loseUnsynced(horizons.ofFile(), random);
    }
  }
}
