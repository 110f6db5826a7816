// The store from lock to clean marker: locked, recovered into the tables that actors start from, marked as stopped at the end.
import { dirname } from 'node:path';
import { type Boot, Positions } from './actors/context.ts';
import type { QueueEntry } from './actors/messages.ts';
import { ErrorCodes, RingmqError } from './base/errors.ts';
import type { Log } from './base/log.ts';
import type { Settings } from './config/settings.ts';
import { Doorbell, doorbellMemorySize } from './runtime/doorbell.ts';
import { SharedNumbers } from './runtime/shared-numbers.ts';
import type { SharedMemory } from './shared-memory.ts';
import { markRunning, markStopped } from './store/abort-marker.ts';
import { Checkpoint } from './store/checkpoint.ts';
import type { Files } from './store/files/files.ts';
import { recoverStore } from './store/recovery.ts';
import { storeFolders } from './store/store-folders.ts';
import { lockStore, type StoreLock } from './store/store-lock.ts';
import type { Topology } from './topology.ts';

export class OpenedStore {
  readonly #files: Files;
  readonly #settings: Settings;
  readonly #log: Log;
  readonly #lock: StoreLock | null;
  #bells: Doorbell[] = [];

  private constructor(files: Files, settings: Settings, log: Log, lock: StoreLock | null) {
    this.#files = files;
    this.#settings = settings;
    this.#log = log;
    this.#lock = lock;
  }

  /** @param memory nobody else can reach the store, so nothing has to be locked. */
  static async lock(files: Files, settings: Settings, log: Log, memory: boolean): Promise<OpenedStore> {
    const root = settings.storePathRootDir;
    try {
      makeFolderSafely(files, root);
      files.makeFolder(storeFolders(root).config);
      makeFolderSafely(files, settings.storePathCommitLog);
    } catch (error) {
      throw new RingmqError(
        ErrorCodes.store,
        `the store folder cannot be written: choose another with storePathRootDir`,
        { storePathRootDir: root },
        error,
      );
    }
    return new OpenedStore(files, settings, log, memory ? null : await lockStore(files, root));
  }

  /** Recovers, fills the shared tables, and marks the store as in use. */
  recover(memory: SharedMemory, nowMs: number, runId: string): Boot {
    const settings = this.#settings;
    const folders = storeFolders(settings.storePathRootDir);
    const recovered = recoverStore(this.#files, { ...settings, storePathConsumeQueue: folders.consumeQueue }, this.#log);
    const positions = new SharedNumbers(memory.positions);
    positions.set(Positions.logMin, recovered.positionMin);
    positions.set(Positions.appended, recovered.positionMax);
    positions.set(Positions.appendedTimeMs, recovered.storeTimeMsMax);
    // What a killed process left in the system's cache may not be on disk, in whichever file: a sync of one that is costs nothing.
    positions.set(Positions.synced, recovered.abnormal ? recovered.positionMin : recovered.positionMax);
    const ends = new SharedNumbers(memory.queueEnds);
    const begins = new SharedNumbers(memory.queueBegins);
    if (recovered.queues.length > settings.maxQueueCount) {
      throw new RingmqError(ErrorCodes.store, 'the store has more queues than allowed: raise maxQueueCount', {
        queues: recovered.queues.length,
        maxQueueCount: settings.maxQueueCount,
      });
    }
    const queues = recovered.queues.map((queue, key): QueueEntry => {
      ends.set(key, queue.offsetNext);
      begins.set(key, queue.offsetMin);
      return { key, topic: queue.topic, queueId: queue.queueId };
    });
    this.#bells = Array.from({ length: memory.bells.byteLength / doorbellMemorySize(1) }, (_, index) => new Doorbell(memory.bells, index));
    markRunning(this.#files, settings.storePathRootDir, process.pid);
    return {
      queues,
      nextKey: queues.length,
      dispatchFrom: recovered.dispatchFrom,
      storeTimeMsMax: recovered.storeTimeMsMax,
      abnormal: recovered.abnormal,
      indexedTimeMs: recovered.checkpoint.indexMs,
      runId,
      startedAtMs: nowMs,
    };
  }

  ringAllBells(): void {
    for (const bell of this.#bells) bell.ring();
  }

  /** Only where log, queues and disk agree to the last byte; else the marker stays and the next start rebuilds. */
  markStopped(positions: SharedNumbers, topology: Topology): void {
    const appended = positions.get(Positions.appended);
    const dispatchers = topology.actors.filter((actor) => actor.kind === 'dispatch');
    const followed = dispatchers.every((actor) => positions.get(Positions.dispatched + actor.index) >= appended);
    if (!followed || positions.get(Positions.synced) < appended || positions.get(Positions.readOnly) === 1) {
      this.#log.warn('the store is not marked as cleanly stopped: the next start rebuilds its end from the log');
      return;
    }
    const root = this.#settings.storePathRootDir;
    const timeMs = positions.get(Positions.appendedTimeMs);
    const checkpoint = new Checkpoint(this.#files, root);
    checkpoint.load();
    checkpoint.setLogTime(timeMs);
    // Where the newest record begins is known to nobody here; an older position than the truth is allowed.
    checkpoint.setQueueTime(timeMs, 0);
    checkpoint.sync();
    checkpoint.close();
    markStopped(this.#files, root);
  }

  async release(): Promise<void> {
    await this.#lock?.release();
  }
}

/** The folder's own name must outlive a power cut as well, or all that is synced in it is in no folder. */
function makeFolderSafely(files: Files, path: string): void {
  const made: string[] = [];
  for (let folder = path; folder !== dirname(folder) && files.stat(folder) === null; folder = dirname(folder)) made.push(folder);
  files.makeFolder(path);
  for (const folder of made) files.syncFolder(dirname(folder));
}
