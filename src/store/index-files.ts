// All index files: one that is being written, and full ones before it; finds messages by key and time through all of them.
import { javaHash } from '../base/bytes.ts';
import { ErrorCodes, RingmqError } from '../base/errors.ts';
import type { Files } from './files/files.ts';
import { IndexFile, type IndexGeometry, indexFileSize } from './index-file.ts';

export interface IndexOpening {
  /** After an unclean stop: files that are not full, or that end after `syncedTimeMs`, are deleted. */
  readonly abnormal?: boolean;
  /** After an unclean stop on this running system: what was written is there, up to the last flush. */
  readonly written?: boolean;
  /** The checkpoint's index time. */
  readonly syncedTimeMs?: number;
  /** End of the log: files that know records behind it are deleted, as others will lie there. */
  readonly logPositionMax?: number;
}

/** Hash of a key as it is stored: not negative. */
export function indexHash(key: string): number {
  return storedHash(javaHash(key));
}

/** @param hash Java's hash of a key */
export function storedHash(hash: number): number {
  const positive = Math.abs(hash);
  return positive === 0x8000_0000 ? 0 : positive;
}

export class IndexFiles {
  readonly #files: Files;
  readonly #folder: string;
  readonly #geometry: IndexGeometry;
  /** Oldest first. */
  readonly #row: IndexFile[];
  /** Records up to this position (or before it) are in already: keys of a record that is followed again are passed over. */
  #skipThrough = -1;
  #syncedTimeMs = 0;

  private constructor(files: Files, folder: string, geometry: IndexGeometry, row: IndexFile[]) {
    this.#files = files;
    this.#folder = folder;
    this.#geometry = geometry;
    this.#row = row;
  }

  static open(files: Files, folder: string, slotCount: number, entryCount: number, opening: IndexOpening = {}): IndexFiles {
    const geometry = { slotCount, entryCount };
    const row: IndexFile[] = [];
    for (const name of files.list(folder)) {
      const path = `${folder}/${name}`;
      const stat = files.stat(path);
      if (!/^\d+$/.test(name) || stat === null || stat.isDirectory) continue;
      if (stat.sizeBytes === 0) {
        // The process or the power went between making it and giving it its size.
        files.remove(path);
        continue;
      }
      if (stat.sizeBytes !== indexFileSize(geometry)) refuse(path, stat.sizeBytes, indexFileSize(geometry));
      row.push(IndexFile.open(files, path, geometry));
    }
    const index = new IndexFiles(files, folder, geometry, row);
    index.#deleteUnsound(opening);
    const last = row.at(-1);
    if (opening.written === true) last?.mend();
    // A full file may have ended between two keys of one record, also where the next one was made already.
    if (last !== undefined) index.#skipThrough = last.isFull || last.nextEntry === 1 ? last.endPosition - 1 : last.endPosition;
    return index;
  }

  get fileCount(): number {
    return this.#row.length;
  }

  /** Store time of the newest record with a key; 0 where there is none. */
  get newestTimeMs(): number {
    return this.#row.at(-1)?.endMs ?? 0;
  }

  /** Position of the newest record with a key: following the log from here misses none. 0 where there is none. */
  get newestPosition(): number {
    return this.#row.at(-1)?.endPosition ?? 0;
  }

  /** End of the newest full file that is synced: for the checkpoint. 0 until one became full since the opening. */
  get syncedTimeMs(): number {
    return this.#syncedTimeMs;
  }

  insert(key: string, position: number, timeMs: number): void {
    this.insertHashed(javaHash(key), position, timeMs);
  }

  /** @param hash Java's hash of the key. */
  insertHashed(hash: number, position: number, timeMs: number): void {
    if (position <= this.#skipThrough) return;
    this.#writable(timeMs).insert(storedHash(hash), position, timeMs);
  }

  /**
   * Positions of records whose key has this key's hash, stored within [beginMs, endMs] give or take a second, in ascending order;
   * the newest `countMax` of them. The caller compares the real keys.
   */
  query(key: string, countMax: number, beginMs: number, endMs: number): number[] {
    const hash = indexHash(key);
    const found = new Set<number>();
    for (let i = this.#row.length - 1; i >= 0 && found.size < countMax; i--) {
      const file = this.#row[i] as IndexFile;
      if (file.beginMs <= endMs && file.endMs >= beginMs) {
        file.collect(hash, beginMs, endMs, countMax, found);
        if (i < this.#row.length - 1) file.release();
      }
      if (file.beginMs < beginMs) break;
    }
    return [...found].sort((a, b) => a - b);
  }

  /** Files all of whose records are older than the log go; the last one stays. */
  deleteExpired(logPositionMin: number): void {
    while (this.#row.length > 1 && (this.#row[0] as IndexFile).endPosition < logPositionMin) this.#remove(0);
  }

  /** Writes what is in memory only. */
  flush(): void {
    this.#row.at(-1)?.flush();
  }

  /** Leaves files that a clean start takes as they are. */
  close(): void {
    const last = this.#row.at(-1);
    last?.flush();
    last?.sync();
    for (const file of this.#row) file.release();
  }

  /** After a failed write: what a file in the making holds is unknown, so it goes, and is made again from the log. Full ones stay. */
  abandon(): void {
    for (const file of this.#row) file.release();
    const last = this.#row.at(-1);
    if (last !== undefined && (!last.isFull || last.isDirty)) this.#remove(this.#row.length - 1);
  }

  #writable(timeMs: number): IndexFile {
    const last = this.#row.at(-1);
    if (last !== undefined && !last.isFull) return last;
    if (last !== undefined) {
      last.flush();
      last.sync();
      last.release();
      this.#syncedTimeMs = last.endMs;
      // Its slots need not stay in memory: queries read what they need.
      this.#row[this.#row.length - 1] = IndexFile.open(this.#files, last.path, this.#geometry);
    }
    this.#files.makeFolder(this.#folder);
    const path = `${this.#folder}/${nameAfter(last?.path.slice(this.#folder.length + 1), timeMs)}`;
    const file = IndexFile.create(this.#files, path, this.#geometry, last?.endMs ?? 0, last?.endPosition ?? 0);
    this.#files.syncFolder(this.#folder);
    this.#row.push(file);
    return file;
  }

  #deleteUnsound(opening: IndexOpening): void {
    const { abnormal = false, written = false, syncedTimeMs = 0, logPositionMax = Number.POSITIVE_INFINITY } = opening;
    for (let i = this.#row.length - 1; i >= 0; i--) {
      const file = this.#row[i] as IndexFile;
      const unsound = abnormal && !written && (!file.isFull || file.endMs > syncedTimeMs);
      if (unsound || file.endPosition >= logPositionMax) this.#remove(i);
    }
  }

  #remove(index: number): void {
    const [file] = this.#row.splice(index, 1);
    file?.release();
    if (file !== undefined) this.#files.remove(file.path);
  }
}

const namePattern = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d{3})$/;

/** Local time as yyyyMMddHHmmssSSS; later than the file before, whatever the clock says. */
function nameAfter(before: string | undefined, timeMs: number): string {
  const name = timeName(timeMs);
  if (before === undefined || name > before) return name;
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0, ms = 0] = (namePattern.exec(before) ?? []).slice(1).map(Number);
  return timeName(new Date(year, month - 1, day, hour, minute, second, ms + 1).getTime());
}

function timeName(timeMs: number): string {
  const time = new Date(timeMs);
  const two = (value: number): string => String(value).padStart(2, '0');
  const date = `${String(time.getFullYear()).padStart(4, '0')}${two(time.getMonth() + 1)}${two(time.getDate())}`;
  return `${date}${two(time.getHours())}${two(time.getMinutes())}${two(time.getSeconds())}${String(time.getMilliseconds()).padStart(3, '0')}`;
}

function refuse(path: string, sizeBytes: number, sizeBytesAllowed: number): never {
  throw new RingmqError(
    ErrorCodes.store,
    'an index file does not have the size that is set; set maxHashSlotNum and maxIndexNum to what the store was made with',
    { path, sizeBytes, sizeBytesAllowed, setting: 'maxHashSlotNum, maxIndexNum' },
  );
}
