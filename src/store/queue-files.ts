// The files of one consume queue: units by their index, in fixed-size files that are made only when their first unit is written.
import { assert } from '../base/assert.ts';
import type { Files } from './files/files.ts';
import { QueueFileCache } from './queue-file-cache.ts';
import { fillers, UNIT_SIZE } from './queue-unit.ts';
import { loadSegmentRow, segmentName } from './segment-row.ts';
import type { UnitBlocks } from './unit-blocks.ts';
import { zeroRange } from './zero-range.ts';

const SIZE_SETTING = 'mappedFileSizeConsumeQueue';
const FILLERS_PER_WRITE = 3_276;

/** What all queues of one owner share. */
export interface QueueSpace {
  readonly files: Files;
  /** The folder `consumequeue`. */
  readonly root: string;
  readonly fileSizeBytes: number;
  readonly cache: QueueFileCache;
  /** Old units lie in one piece behind a queue's end: so many bytes of zeros and there are no more of them. */
  readonly clearSizeBytes: number;
  readonly blocks: UnitBlocks;
  /** What files hold at a load may not be on stable storage: a process that was killed has written it. */
  readonly unsynced: boolean;
  /** Told of each queue with a first message, whose file will soon be wanted: see `prepareQueueFile`. */
  readonly onFirst: OnFirst | undefined;
}

export type OnFirst = (topic: string, queueId: number) => void;

/**
 * Makes folder and first file of a queue that begins at offset 0, as the queue would do it itself: whoever comes first does it, and the
 * other finds it done, in any order of their steps. Does nothing where the folder is there.
 */
export function prepareQueueFile(files: Files, root: string, topic: string, queueId: number, fileSizeBytes: number): void {
  const folder = `${root}/${topic}/${queueId}`;
  if (files.stat(folder) !== null) return;
  files.makeFolder(folder);
  const fd = files.open(`${folder}/${segmentName(0)}`, 'create');
  try {
    files.truncate(fd, fileSizeBytes);
  } finally {
    files.close(fd);
  }
}

export class QueueFiles {
  readonly #space: QueueSpace;
  readonly #key: number;
  readonly #topic: string;
  readonly #queueId: number;
  #firstFile = 0;
  #fileCount = 0;

  constructor(space: QueueSpace, key: number, topic: string, queueId: number) {
    this.#space = space;
    this.#key = key;
    this.#topic = topic;
    this.#queueId = queueId;
  }

  /** Looks at the folder, with the check of all sizes. */
  load(): void {
    const { files, fileSizeBytes } = this.#space;
    const row = loadSegmentRow(files, this.folder, fileSizeBytes, SIZE_SETTING);
    this.#firstFile = row.firstPosition / fileSizeBytes;
    this.#fileCount = row.count;
    if (this.#space.unsynced) this.#markAllDirty();
  }

  announceFirst(): void {
    this.#space.onFirst?.(this.#topic, this.#queueId);
  }

  get folder(): string {
    return `${this.#space.root}/${this.#topic}/${this.#queueId}`;
  }

  get unitsPerFile(): number {
    return this.#space.fileSizeBytes / UNIT_SIZE;
  }

  get fileCount(): number {
    return this.#fileCount;
  }

  /** Index of the first unit that has a place in a file. */
  get indexBegin(): number {
    return this.#firstFile * this.unitsPerFile;
  }

  /** Index behind the last place. */
  get indexEnd(): number {
    return (this.#firstFile + this.#fileCount) * this.unitsPerFile;
  }

  /** Reads units [index, index + count), all in files. */
  read(index: number, count: number, into: Uint8Array, at: number): void {
    assert(index >= this.indexBegin && index + count <= this.indexEnd, 'units lie in files');
    const { unitsPerFile } = this;
    while (count > 0) {
      const within = index % unitsPerFile;
      const part = Math.min(count, unitsPerFile - within);
      const fd = this.#fd((index - within) / unitsPerFile);
      const size = this.#space.files.read(fd, into, at, part * UNIT_SIZE, within * UNIT_SIZE);
      assert(size === part * UNIT_SIZE, 'queue files have their full length');
      index += part;
      count -= part;
      at += part * UNIT_SIZE;
    }
  }

  /** Writes units that follow the last one, or the first of all: then fillers take the places in front of it in its file. */
  write(index: number, count: number, from: Uint8Array, at: number): void {
    const { unitsPerFile } = this;
    while (count > 0) {
      const within = index % unitsPerFile;
      const part = Math.min(count, unitsPerFile - within);
      const file = (index - within) / unitsPerFile;
      if (this.#fileCount === 0 || file === this.#firstFile + this.#fileCount) this.#createFile(file, within);
      const fd = this.#fd(file);
      this.#markDirty(file);
      this.#space.files.write(fd, from, at, part * UNIT_SIZE, within * UNIT_SIZE);
      index += part;
      count -= part;
      at += part * UNIT_SIZE;
    }
  }

  /** The queue ends before this index from now on, and at least one unit stays in front of it. */
  cut(index: number): void {
    const { unitsPerFile } = this;
    assert(index > this.indexBegin, 'something stays');
    const last = Math.floor((index - 1) / unitsPerFile);
    while (this.#firstFile + this.#fileCount - 1 > last) this.#removeFile(this.#firstFile + --this.#fileCount);
    if (this.#firstFile + this.#fileCount - 1 < last) return;
    const at = (index - last * unitsPerFile) * UNIT_SIZE;
    if (at === this.#space.fileSizeBytes) return;
    this.#markDirty(last);
    zeroRange(this.#space.files, this.#fd(last), at, this.#space.fileSizeBytes - at, this.#space.clearSizeBytes);
  }

  deleteFirst(): void {
    assert(this.#fileCount > 1, 'the last file stays');
    this.#removeFile(this.#firstFile);
    this.#firstFile++;
    this.#fileCount--;
  }

  /** Removes the folder and, with its last queue, the topic's. */
  remove(): void {
    const { files, root, cache } = this.#space;
    for (let i = 0; i < this.#fileCount; i++) cache.forget(QueueFileCache.fileId(this.#key, this.#firstFile + i));
    this.#firstFile = 0;
    this.#fileCount = 0;
    files.remove(this.folder);
    const topicFolder = `${root}/${this.#topic}`;
    if (files.stat(topicFolder) === null) return;
    cache.markFolder(topicFolder);
    if (files.list(topicFolder).length > 0) return;
    files.remove(topicFolder);
    cache.markFolder(root);
  }

  #path(file: number): string {
    return `${this.folder}/${segmentName(file * this.#space.fileSizeBytes)}`;
  }

  #fd(file: number): number {
    assert(file >= this.#firstFile && file < this.#firstFile + this.#fileCount, 'a file of the queue');
    const { files, cache } = this.#space;
    const id = QueueFileCache.fileId(this.#key, file);
    let fd = cache.get(id);
    if (fd < 0) {
      fd = files.open(this.#path(file), 'write');
      cache.put(id, fd);
    }
    return fd;
  }

  #createFile(file: number, unitsBefore: number): void {
    const { files, cache, fileSizeBytes } = this.#space;
    if (this.#fileCount === 0) {
      files.makeFolder(this.folder);
      this.#markFolders();
    }
    assert(this.#fileCount === 0 || unitsBefore === 0, 'a later file begins with its first unit');
    const fd = files.open(this.#path(file), 'create');
    try {
      files.truncate(fd, fileSizeBytes);
      this.#fillFront(fd, unitsBefore);
    } catch (error) {
      files.close(fd);
      throw error;
    }
    cache.put(QueueFileCache.fileId(this.#key, file), fd);
    if (this.#fileCount === 0) this.#firstFile = file;
    this.#fileCount++;
    cache.markFolder(this.folder);
  }

  #fillFront(fd: number, count: number): void {
    if (count === 0) return;
    const block = fillers(Math.min(FILLERS_PER_WRITE, count));
    for (let done = 0; done < count; done += FILLERS_PER_WRITE) {
      this.#space.files.write(fd, block, 0, Math.min(FILLERS_PER_WRITE, count - done) * UNIT_SIZE, done * UNIT_SIZE);
    }
  }

  #removeFile(file: number): void {
    this.#space.cache.forget(QueueFileCache.fileId(this.#key, file));
    this.#space.files.remove(this.#path(file));
    this.#space.cache.markFolder(this.folder);
  }

  #markAllDirty(): void {
    if (this.#fileCount === 0) return;
    for (let i = 0; i < this.#fileCount; i++) this.#markDirty(this.#firstFile + i);
    this.#markFolders();
    this.#space.cache.markFolder(this.folder);
  }

  #markFolders(): void {
    const { cache, root } = this.#space;
    cache.markFolder(root);
    cache.markFolder(`${root}/${this.#topic}`);
  }

  #markDirty(file: number): void {
    const id = QueueFileCache.fileId(this.#key, file);
    if (!this.#space.cache.isDirty(id)) this.#space.cache.markDirty(id, this.#path(file));
  }
}
