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
export interface Checkpoint {
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

export const emptyCheckpoint: Checkpoint = {
  physicMs: 0,
  logicsMs: 0,
  indexMs: 0,
  masterFlushedPosition: 0,
  confirmedPosition: 0,
  logicsPosition: 0,
};

export function checkpointPath(root: string): string {
  return `${root}/checkpoint`;
}

/** All zeros where the file is missing; older brokers wrote fewer fields. */
export function readCheckpoint(files: Files, root: string): Checkpoint {
  const path = checkpointPath(root);
  if (files.stat(path) === null) return emptyCheckpoint;
  const b = new Uint8Array(USED_SIZE);
  const fd = files.open(path, 'read');
  try {
    files.read(fd, b, 0, USED_SIZE, 0);
  } finally {
    files.close(fd);
  }
  return {
    physicMs: readI64(b, PHYSIC_AT),
    logicsMs: readI64(b, LOGICS_AT),
    indexMs: readI64(b, INDEX_AT),
    masterFlushedPosition: readI64(b, MASTER_FLUSHED_AT),
    confirmedPosition: readI64(b, CONFIRMED_AT),
    logicsPosition: readI64(b, LOGICS_POSITION_AT),
  };
}

/** In place: all of it lies in one sector, which a disk writes whole or not at all. */
export function writeCheckpoint(files: Files, root: string, checkpoint: Checkpoint): void {
  const b = new Uint8Array(USED_SIZE);
  writeI64(b, PHYSIC_AT, checkpoint.physicMs);
  writeI64(b, LOGICS_AT, checkpoint.logicsMs);
  writeI64(b, INDEX_AT, checkpoint.indexMs);
  writeI64(b, MASTER_FLUSHED_AT, checkpoint.masterFlushedPosition);
  writeI64(b, CONFIRMED_AT, checkpoint.confirmedPosition);
  writeI64(b, LOGICS_POSITION_AT, checkpoint.logicsPosition);
  const path = checkpointPath(root);
  const isNew = files.stat(path) === null;
  const fd = files.open(path, 'create');
  try {
    if (isNew) files.truncate(fd, FILE_SIZE);
    files.write(fd, b, 0, USED_SIZE, 0);
    files.sync(fd);
  } finally {
    files.close(fd);
  }
  if (isNew) files.syncFolder(root);
}

/** Records stored up to this time have all their parts on disk, after whatever end the last process came to. */
export function safeTimeMs(checkpoint: Checkpoint): number {
  return Math.max(0, Math.min(checkpoint.physicMs, checkpoint.logicsMs) - SAFETY_MS);
}
