// The store from lock to clean marker: locked, recovered into the tables that actors start from, marked as stopped at the end.
import { dirname } from 'node:path';
import { type Boot, Positions } from './actors/context.ts';
import type { QueueEntry } from './actors/messages.ts';
import { ErrorCodes, errorText, RingmqError } from './base/errors.ts';
import type { Log } from './base/log.ts';
import type { Settings } from './config/settings.ts';
import { continueDelayLists, type DelayList } from './core/delay-levels.ts';
import { SystemTopics } from './message/names.ts';
import { Doorbell, doorbellMemorySize } from './runtime/doorbell.ts';
import { SharedNumbers } from './runtime/shared-numbers.ts';
import type { SharedMemory } from './shared-memory.ts';
import { markRunning, markStopped } from './store/abort-marker.ts';
import { Checkpoint } from './store/checkpoint.ts';
import { DelayListsFile } from './store/delay-lists-file.ts';
import { DelayOffsetsFile } from './store/delay-offsets-file.ts';
import { type Files, isNoSpace } from './store/files/files.ts';
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

  /** Recovers, fills the shared tables, and marks the store as in use. @param place see `markRunning`. */
  recover(memory: SharedMemory, nowMs: number, runId: string, place: string): Boot {
    const settings = this.#settings;
    const folders = storeFolders(settings.storePathRootDir);
    const recovered = recoverStore(this.#files, { ...settings, storePathConsumeQueue: folders.consumeQueue, place }, this.#log);
    const positions = new SharedNumbers(memory.positions);
    positions.set(Positions.logMin, recovered.positionMin);
    positions.set(Positions.appended, recovered.positionMax);
    positions.set(Positions.appendedTimeMs, recovered.storeTimeMsMax);
    // What a former process left in the system's cache may not be on disk: the flusher begins there.
    positions.set(Positions.synced, recovered.synced);
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
      return { key, topic: queue.topic, queueId: queue.queueId, from: queue.from };
    });
    this.#bells = Array.from({ length: memory.bells.byteLength / doorbellMemorySize(1) }, (_, index) => new Doorbell(memory.bells, index));
    this.#markRunning(positions, place, recovered.dispatchFrom);
    return {
      queues,
      nextKey: queues.length,
      dispatchFrom: recovered.dispatchFrom,
      storeTimeMsMax: recovered.storeTimeMsMax,
      abnormal: recovered.abnormal,
      written: recovered.written,
      delayLists: this.#continueDelays(queues, ends),
      indexedTimeMs: recovered.checkpoint.indexMs,
      runId,
      startedAtMs: nowMs,
    };
  }

  /** A changed list of delay levels holds for messages from here on; it is kept before the first of them can be stored. */
  #continueDelays(queues: readonly QueueEntry[], ends: SharedNumbers): readonly DelayList[] {
    const { messageDelayLevel, storePathRootDir } = this.#settings;
    const folder = storeFolders(storePathRootDir).config;
    const file = new DelayListsFile(this.#files, folder, this.#log);
    const stored = file.load() ?? [];
    const keys = new Map(queues.filter(({ topic }) => topic === SystemTopics.schedule).map(({ queueId, key }) => [queueId + 1, key]));
    const endOf = (level: number): number => {
      const key = keys.get(level);
      return key === undefined ? 0 : ends.get(key);
    };
    const done = stored.length > 1 ? new DelayOffsetsFile(this.#files, folder, this.#log).load()?.offsets : undefined;
    const { lists, forgotten } = continueDelayLists(stored, messageDelayLevel, endOf, (level) => done?.get(level) ?? 0);
    if (JSON.stringify(toPlain(lists)) === JSON.stringify(toPlain(stored))) return lists;
    try {
      file.save(lists);
    } catch (error) {
      // The log refuses writes then as well.
      if (!isNoSpace(error)) throw error;
    }
    if (stored.length > 0 && stored.at(-1)?.levels !== messageDelayLevel)
      this.#log.info('the delay levels have changed; messages that wait keep the time at which they are due', {
        levels: messageDelayLevel,
        former: stored.at(-1)?.levels,
      });
    for (const { levels } of forgotten)
      this.#log.warn('the delay levels have changed too often; messages that wait since the oldest list are due by the next one', {
        forgotten: levels,
        next: lists[0]?.levels,
        listsKept: lists.length,
      });
    return lists;
  }

  /** Without the marker nothing may be written: a next start would not know of an unclean end. */
  #markRunning(positions: SharedNumbers, place: string, written: number): void {
    const root = this.#settings.storePathRootDir;
    try {
      markRunning(this.#files, root, process.pid, place, written);
    } catch (error) {
      if (!isNoSpace(error)) throw error;
      positions.set(Positions.readOnly, 1);
      this.#log.error('the disk is full to the last byte: reads are served, writes are refused until a start that finds room', {
        storePathRootDir: root,
        error: errorText(error),
      });
    }
  }

  ringAllBells(): void {
    for (const bell of this.#bells) bell.ring();
  }

  /** Only where log, queues and disk agree to the last byte; else the marker stays and the next start rebuilds. */
  markStopped(positions: SharedNumbers, topology: Topology): void {
    const appended = positions.get(Positions.appended);
    const dispatchers = topology.actors.filter((actor) => actor.kind === 'dispatch');
    const followed = dispatchers.every((actor) => positions.get(Positions.dispatched + actor.index) >= appended);
    const damaged = positions.get(Positions.readOnly) === 1 || positions.get(Positions.queuesUnsound) === 1;
    if (!followed || positions.get(Positions.synced) < appended || damaged) {
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

function toPlain(lists: readonly DelayList[]): unknown {
  return lists.map(({ levels, begins }) => [levels, [...begins]]);
}

/** The folder's own name must outlive a power cut as well, or all that is synced in it is in no folder. */
function makeFolderSafely(files: Files, path: string): void {
  const made: string[] = [];
  for (let folder = path; folder !== dirname(folder) && files.stat(folder) === null; folder = dirname(folder)) made.push(folder);
  files.makeFolder(path);
  for (const folder of made) files.syncFolder(dirname(folder));
}
