// The file `checkpoint`: up to which time each kind of file is known to be on stable storage; recovery starts from it.
//
//   0          8           16         24              32          40              48            4096
//   +----------+-----------+----------+---------------+-----------+---------------+-------------+
//   | physicMs | logicsMs  | indexMs  | masterFlushed | confirmed | logicsPosition| zeros       |
//   |      i64 |       i64 |      i64 |           i64 |       i64 |           i64 |             |
//   +----------+-----------+----------+---------------+-----------+---------------+-------------+
import { assert } from '../base/assert.ts';
import { readI64, writeI64 } from '../base/bytes.ts';
import type { Files } from './files/files.ts';

const PHYSIC_AT = 0;
const LOGICS_AT = PHYSIC_AT + 8;
const INDEX_AT = LOGICS_AT + 8;
const MASTER_FLUSHED_AT = INDEX_AT + 8;
const CONFIRMED_AT = MASTER_FLUSHED_AT + 8;
const LOGICS_POSITION_AT = CONFIRMED_AT + 8;
const USED_SIZE = LOGICS_POSITION_AT + 8;
const FILE_SIZE = 4096;
assert(USED_SIZE === 48, 'checkpoint layout');

/** What is on disk may lag behind the times by this much when a process is killed. */
const SAFETY_MS = 3_000;

/** Times are store times of records; a value may be older than what is on disk, never newer. */
export interface CheckpointValues {
  /** Newest record that is synced in the log. */
  readonly physicMs: number;
  /** Newest record whose queue unit is synced. */
  readonly logicsMs: number;
  /** End time of the newest full index file that is synced. */
  readonly indexMs: number;
  readonly masterFlushedPosition: number;
  readonly confirmedPosition: number;
  /** Start of the newest record whose queue unit is synced. */
  readonly logicsPosition: number;
}

/**
 * Each actor has one of its own and writes only the fields it answers for, so no lock is needed. Nothing is synced with a value:
 * one that is lost leaves an older one, which is as right and only makes a recovery read more.
 */
export class Checkpoint {
  readonly #files: Files;
  readonly #path: string;
  readonly #root: string;
  readonly #bytes = new Uint8Array(USED_SIZE);
  #fd = -1;

  constructor(files: Files, root: string) {
    this.#files = files;
    this.#root = root;
    this.#path = `${root}/checkpoint`;
  }

  /** All zeros where the file is missing; older brokers wrote fewer fields. */
  load(): CheckpointValues {
    this.#bytes.fill(0);
    if (this.#files.stat(this.#path) !== null) {
      const fd = this.#files.open(this.#path, 'read');
      try {
        this.#files.read(fd, this.#bytes, 0, USED_SIZE, 0);
      } finally {
        this.#files.close(fd);
      }
    }
    return {
      physicMs: readI64(this.#bytes, PHYSIC_AT),
      logicsMs: readI64(this.#bytes, LOGICS_AT),
      indexMs: readI64(this.#bytes, INDEX_AT),
      masterFlushedPosition: readI64(this.#bytes, MASTER_FLUSHED_AT),
      confirmedPosition: readI64(this.#bytes, CONFIRMED_AT),
      logicsPosition: readI64(this.#bytes, LOGICS_POSITION_AT),
    };
  }

  /** Records up to this time are on stable storage. */
  setLogTime(timeMs: number): void {
    this.#set(PHYSIC_AT, timeMs);
  }

  /** The units of records up to this time, the last of which lies at `position`, are on stable storage, in all queues. */
  setQueueTime(timeMs: number, position: number): void {
    this.#set(LOGICS_AT, timeMs);
    this.#set(LOGICS_POSITION_AT, position);
  }

  /** Index files that end by this time are full and on stable storage. */
  setIndexTime(timeMs: number): void {
    this.#set(INDEX_AT, timeMs);
  }

  /** Start of the last good record, found at a start. */
  setConfirmedPosition(position: number): void {
    this.#set(CONFIRMED_AT, position);
  }

  /** What was set is on stable storage when this returns; for a clean stop. */
  sync(): void {
    this.#files.sync(this.#open());
    this.#files.syncFolder(this.#root);
  }

  close(): void {
    if (this.#fd >= 0) this.#files.close(this.#fd);
    this.#fd = -1;
  }

  #set(at: number, value: number): void {
    if (readI64(this.#bytes, at) === value) return;
    const fd = this.#open();
    writeI64(this.#bytes, at, value);
    this.#files.write(fd, this.#bytes, at, 8, at);
  }

  #open(): number {
    if (this.#fd < 0) {
      const size = this.#files.stat(this.#path)?.sizeBytes ?? 0;
      this.#fd = this.#files.open(this.#path, 'create');
      if (size < FILE_SIZE) this.#files.truncate(this.#fd, FILE_SIZE);
    }
    return this.#fd;
  }
}

/** Records stored up to this time have all their parts on disk, after whatever end the last process came to. */
export function safeTimeMs(checkpoint: CheckpointValues): number {
  return Math.max(0, Math.min(checkpoint.physicMs, checkpoint.logicsMs) - SAFETY_MS);
}

/** Records stored up to this time are on disk themselves, whatever became of their queue units. */
export function safeLogTimeMs(checkpoint: CheckpointValues): number {
  return Math.max(0, checkpoint.physicMs - SAFETY_MS);
}
