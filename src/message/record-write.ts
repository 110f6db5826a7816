// Writes a record's bytes once, where they will be copied from: all but the three fields that only the commit log knows.
import type { Arena } from '../base/arena.ts';
import { assert } from '../base/assert.ts';
import { writeI32, writeI64, writeU16 } from '../base/bytes.ts';
import { copyBytes } from '../base/copy-bytes.ts';
import {
  BLANK_SIZE_MIN,
  BODY_CRC_AT,
  BORN_HOST_AT,
  BORN_TIME_AT,
  bodyDistance,
  FLAG_AT,
  hostFlags,
  isV2Topic,
  MAGIC_AT,
  POSITION_AT,
  PROPERTIES_SIZE_MAX,
  QUEUE_ID_AT,
  QUEUE_OFFSET_AT,
  RecordMagics,
  readSysFlag,
  recordSize,
  SYS_FLAG_AT,
  storeTimeAt,
  TOTAL_SIZE_AT,
  topicSizeAt,
} from './record-layout.ts';

const none = new Uint8Array(0);

/** What a record says besides its body and properties; one object is filled anew for each message. */
export class RecordFields {
  queueId = 0;
  flag = 0;
  /** The bits of the host families may be absent: the sizes of the hosts decide. */
  sysFlag = 0;
  bornTimeMs = 0;
  /** 4 or 16 bytes, as is `storeHost`. */
  bornHost: Uint8Array = none;
  bornPort = 0;
  storeHost: Uint8Array = none;
  storePort = 0;
  reconsumeTimes = 0;
  preparedPosition = 0;
  bodyCrc = 0;
  bodySize = 0;
  /** UTF-8. */
  topic: Uint8Array = none;
  /** The topic's length in UTF-16 units; more than 127 make a V2 record. */
  topicUnits = 0;
  propertiesSize = 0;
}

/** The size of the record that `writeRecord` makes of these fields. */
export function sizeOfRecord(f: RecordFields): number {
  const sysFlag = hostFlags(f.sysFlag, f.bornHost.length, f.storeHost.length);
  return recordSize(f.topic.length, f.topicUnits, f.bodySize, f.propertiesSize, sysFlag);
}

function writeHost(out: Uint8Array, at: number, host: Uint8Array, port: number): number {
  const size = host.length;
  assert(size === 4 || size === 16, 'a host has 4 or 16 bytes');
  for (let i = 0; i < size; i++) out[at + i] = host[i] as number;
  writeI32(out, at + size, port);
  return at + size + 4;
}

/**
 * Writes the record at `at`, with zeros for queue offset, position and store time, and the body from `body` at `bodyAt`.
 * Returns where the `f.propertiesSize` bytes of the properties go, which are left to the caller; the record ends behind them.
 */
export function writeRecord(out: Uint8Array, at: number, f: RecordFields, body: Uint8Array, bodyAt: number): number {
  const next = writeHead(out, at, f);
  copyBytes(body, bodyAt, bodyAt + f.bodySize, out, next);
  return writeTail(out, next + f.bodySize, f);
}

/** `writeRecord` into the arena, where the body often lies already. */
export function writeRecordIn(arena: Arena, at: number, f: RecordFields, body: Uint8Array, bodyAt: number): number {
  const next = writeHead(arena.bytes, at, f);
  arena.copy(body, bodyAt, arena.bytes, next, f.bodySize);
  return writeTail(arena.bytes, next + f.bodySize, f);
}

/**
 * `writeRecordIn` for a batch's later messages, whose fields differ from those of the record at `firstAt`, in the arena as well, in
 * nothing but flag, checksum and sizes: the rest is copied (128 bytes of body, with its checks: 556 to 413 ns).
 */
export function writeRecordLike(arena: Arena, at: number, firstAt: number, f: RecordFields, body: Uint8Array, bodyAt: number): number {
  const { bytes } = arena;
  const headSize = bodyDistance(readSysFlag(bytes, firstAt));
  const size = sizeOfRecord(f);
  assert(at + size <= bytes.length && f.propertiesSize <= PROPERTIES_SIZE_MAX, 'room for the record, lengths fit their fields');
  arena.copy(bytes, firstAt, bytes, at, headSize);
  writeI32(bytes, at + TOTAL_SIZE_AT, size);
  writeI32(bytes, at + BODY_CRC_AT, f.bodyCrc);
  writeI32(bytes, at + FLAG_AT, f.flag);
  writeI32(bytes, at + headSize - 4, f.bodySize);
  arena.copy(body, bodyAt, bytes, at + headSize, f.bodySize);
  const topicSize = f.topic.length + (isV2Topic(f.topicUnits) ? 2 : 1);
  const next = at + headSize + f.bodySize;
  arena.copy(bytes, topicSizeAt(bytes, firstAt), bytes, next, topicSize);
  writeU16(bytes, next + topicSize, f.propertiesSize);
  return next + topicSize + 2;
}

/** All fields before the body; returns where the body goes. */
function writeHead(out: Uint8Array, at: number, f: RecordFields): number {
  const topicSize = f.topic.length;
  const v2 = isV2Topic(f.topicUnits);
  const sysFlag = hostFlags(f.sysFlag, f.bornHost.length, f.storeHost.length);
  const size = recordSize(topicSize, f.topicUnits, f.bodySize, f.propertiesSize, sysFlag);
  assert(at + size <= out.length, 'room for the record');
  assert(topicSize <= (v2 ? 32_767 : 127) && f.propertiesSize <= PROPERTIES_SIZE_MAX, 'lengths fit their fields');
  writeI32(out, at + TOTAL_SIZE_AT, size);
  writeI32(out, at + MAGIC_AT, v2 ? RecordMagics.v2 : RecordMagics.v1);
  writeI32(out, at + BODY_CRC_AT, f.bodyCrc);
  writeI32(out, at + QUEUE_ID_AT, f.queueId);
  writeI32(out, at + FLAG_AT, f.flag);
  writeI64(out, at + QUEUE_OFFSET_AT, 0);
  writeI64(out, at + POSITION_AT, 0);
  writeI32(out, at + SYS_FLAG_AT, sysFlag);
  writeI64(out, at + BORN_TIME_AT, f.bornTimeMs);
  let next = writeHost(out, at + BORN_HOST_AT, f.bornHost, f.bornPort);
  writeI64(out, next, 0);
  next = writeHost(out, next + 8, f.storeHost, f.storePort);
  writeI32(out, next, f.reconsumeTimes);
  writeI64(out, next + 4, f.preparedPosition);
  writeI32(out, next + 12, f.bodySize);
  return next + 16;
}

function writeTail(out: Uint8Array, at: number, f: RecordFields): number {
  const topicSize = f.topic.length;
  let next = at;
  if (isV2Topic(f.topicUnits)) out[next++] = topicSize >>> 8;
  out[next++] = topicSize;
  copyBytes(f.topic, 0, topicSize, out, next);
  next += topicSize;
  writeU16(out, next, f.propertiesSize);
  return next + 2;
}

/** Fills in what the commit log decides: the record's place in its queue, its place in the log, and the time. */
export function patchRecord(b: Uint8Array, at: number, queueOffset: number, position: number, storeTimeMs: number): void {
  writeI64(b, at + QUEUE_OFFSET_AT, queueOffset);
  writeI64(b, at + POSITION_AT, position);
  writeI64(b, storeTimeAt(b, at), storeTimeMs);
}

/** Marks the rest of a file (`size` bytes, up to its end) as unused; only the 8 bytes of the header are written. */
export function writeBlank(b: Uint8Array, at: number, size: number): void {
  assert(size >= BLANK_SIZE_MIN, 'a blank has room for its header');
  writeI32(b, at + TOTAL_SIZE_AT, size);
  writeI32(b, at + MAGIC_AT, RecordMagics.blank);
}
