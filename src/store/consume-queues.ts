// All consume queues of one owner, by their key; thousands of them share a bounded number of descriptors.
import { assert } from '../base/assert.ts';
import { ConsumeQueue } from './consume-queue.ts';
import type { Files } from './files/files.ts';
import { QueueFileCache } from './queue-file-cache.ts';
import type { OnFirst, QueueSpace } from './queue-files.ts';
import { UNIT_SIZE } from './queue-unit.ts';
import { UnitBlocks } from './unit-blocks.ts';

/** Queue files hold whole units: a size that is set otherwise is rounded up. */
export function queueFileSize(sizeBytes: number): number {
  return Math.ceil(sizeBytes / UNIT_SIZE) * UNIT_SIZE;
}

/** Pages that a power failure has swallowed may lie between units. */
const CLEAR_SIZE = 65_536;
/** Nothing of what was written is missing. */
const CLEAR_SIZE_WRITTEN = 4_096;

export class ConsumeQueues {
  readonly #space: QueueSpace;
  readonly #queues = new Map<number, ConsumeQueue>();
  readonly #dirty = new Set<ConsumeQueue>();
  #logPositionMin = 0;

  /**
   * @param folder the folder `consumequeue` @param fileCountMax so many files are open at most.
   * @param written all that was ever written is in the files, so that what lies behind a cut is quickly looked through.
   * @param unsynced and onFirst: see `QueueSpace`.
   */
  constructor(
    files: Files,
    folder: string,
    fileSizeBytes: number,
    fileCountMax?: number,
    written = false,
    unsynced = false,
    onFirst?: OnFirst,
  ) {
    const fileSize = queueFileSize(fileSizeBytes);
    const cache = new QueueFileCache(files, fileCountMax);
    const clearSizeBytes = written ? CLEAR_SIZE_WRITTEN : CLEAR_SIZE;
    const blocks = new UnitBlocks(fileSize / UNIT_SIZE);
    this.#space = { files, root: folder, fileSizeBytes: fileSize, cache, clearSizeBytes, blocks, unsynced, onFirst };
  }

  get count(): number {
    return this.#queues.size;
  }

  /** Queues with units that are in no file yet. */
  get dirtyCount(): number {
    return this.#dirty.size;
  }

  /** Position of the oldest message whose unit is in no file yet; Infinity where all are. The log is followed in order, and so is this set. */
  unwrittenFrom(): number {
    for (const queue of this.#dirty) return queue.unwrittenFrom();
    return Number.POSITIVE_INFINITY;
  }

  /** Files that were written since the last sync. */
  get unsyncedCount(): number {
    return this.#space.cache.dirtyCount;
  }

  get openFileCount(): number {
    return this.#space.cache.openCount;
  }

  /** Opens the queue with what its files hold; none are made. */
  open(key: number, topic: string, queueId: number): ConsumeQueue {
    assert(!this.#queues.has(key), 'a key belongs to one queue');
    const queue = new ConsumeQueue(this.#space, this.#dirty, key, topic, queueId);
    queue.load();
    queue.correctMin(this.#logPositionMin);
    this.#queues.set(key, queue);
    return queue;
  }

  get(key: number): ConsumeQueue | undefined {
    return this.#queues.get(key);
  }

  all(): IterableIterator<[number, ConsumeQueue]> {
    return this.#queues.entries();
  }

  /** The queue and its files are gone. */
  remove(key: number): void {
    this.#queues.get(key)?.remove();
    this.#queues.delete(key);
  }

  /** The log begins at this position now, for the queues of today and those opened later. */
  correctMin(logPositionMin: number): void {
    if (logPositionMin === this.#logPositionMin) return;
    this.#logPositionMin = logPositionMin;
    for (const queue of this.#queues.values()) queue.correctMin(logPositionMin);
  }

  /** The same for queues that are opened later only. */
  beginAt(logPositionMin: number): void {
    this.#logPositionMin = logPositionMin;
  }

  /** Writes what is in no file yet. */
  flushAll(): void {
    this.flushSome(this.#dirty.size);
  }

  /** The same for so many queues at most, those that have waited longest; returns how many are left. */
  flushSome(countMax: number): number {
    let count = 0;
    for (const queue of this.#dirty) {
      if (count++ === countMax) break;
      queue.flush();
    }
    return this.#dirty.size;
  }

  /** All that is in files is on stable storage when this returns; `flushAll` goes before. */
  syncAll(): void {
    this.#space.cache.syncAll(this.#space.root);
  }

  /** Syncs so many files at most, for a thread that has other work; returns how many are left. */
  syncSome(countMax: number): number {
    return this.#space.cache.sync(countMax);
  }

  close(): void {
    this.#space.cache.close();
  }
}
