// The bytes of one record of the commit log: where each field lies, and readers that take (bytes, where the record starts).
//
//   0        4        8          12        16     20            28         36        40
//   +--------+--------+----------+---------+------+-------------+----------+---------+-----------+
//   | total  | magic  | body CRC | queueId | flag | queueOffset | position | sysFlag | born time |
//   | size   |        |          |         |      |          i64 |      i64 |         |       i64 |
//   +--------+--------+----------+---------+------+-------------+----------+---------+-----------+
//   48          +H          +8           +H           +4                +8         +4
//   +-----------+-----------+------------+------------+-----------------+----------+-------------+
//   | born host | storeTime | store host | reconsume  | position of the | bodySize | body        |
//   | ip, port  |       i64 | ip, port   | times      | half record i64 |          |             |
//   +-----------+-----------+------------+------------+-----------------+----------+-------------+
//   | topicSize | topic     | propertiesSize | properties  |
//   | 1 or 2    |           |            i16 |             |
//   +-----------+-----------+----------------+-------------+
//
// H is 8 (4 address bytes and a 4-byte port), or 20 where sysFlag says IPv6. topicSize has 1 byte in a V1 record and 2 in a V2 record.
// All numbers are big-endian and signed. Every reader but `readMagic` and `readTotalSize` expects a record that passed `checkRecord`.
import { assert } from '../base/assert.ts';
import { readI16, readI32, readI64 } from '../base/bytes.ts';

export const RecordMagics = {
  v1: 0xdaa320a7 | 0,
  v2: 0xdaa320ab | 0,
  blank: 0xcbd43194 | 0,
} as const;
export type RecordMagic = (typeof RecordMagics)[keyof typeof RecordMagics];

/** Room that every record leaves behind it in its file, so that the header of a blank always fits. */
export const BLANK_SIZE_MIN = 8;

export const SysFlags = {
  compressed: 0x1,
  multiTags: 0x2,
  /** Mask of the transaction's state: none is 0. */
  transactionMask: 0xc,
  prepared: 0x4,
  commit: 0x8,
  rollback: 0xc,
  bornHostV6: 0x10,
  storeHostV6: 0x20,
  needsUnwrap: 0x40,
  innerBatch: 0x80,
  compressionMask: 0x700,
  compressionLz4: 0x100,
  compressionZstd: 0x200,
  compressionZlib: 0x300,
} as const;

/**
 * Without a state of a transaction that would hide the message, and leave it out of its queue wherever that is made again. A committed
 * message stays one; a sender cannot make another state by a flag.
 */
export function visibleSysFlag(sysFlag: number): number {
  return (sysFlag & SysFlags.transactionMask) === SysFlags.commit ? sysFlag : sysFlag & ~SysFlags.transactionMask;
}
export type SysFlag = (typeof SysFlags)[keyof typeof SysFlags];

/** Largest text of properties: its length is a signed 16-bit field. */
export const PROPERTIES_SIZE_MAX = 32_767;
/** Longest topic, in UTF-16 units, of a V1 record: its length is a signed byte. */
export const V1_TOPIC_UNITS_MAX = 127;

const PORT_SIZE = 4;
const V6_EXTRA = 12;
const HOST_SIZE = 4 + PORT_SIZE;

export const TOTAL_SIZE_AT = 0;
export const MAGIC_AT = TOTAL_SIZE_AT + 4;
export const BODY_CRC_AT = MAGIC_AT + 4;
export const QUEUE_ID_AT = BODY_CRC_AT + 4;
export const FLAG_AT = QUEUE_ID_AT + 4;
/** Patched by the commit log, as are POSITION_AT and the store time. */
export const QUEUE_OFFSET_AT = FLAG_AT + 4;
export const POSITION_AT = QUEUE_OFFSET_AT + 8;
export const SYS_FLAG_AT = POSITION_AT + 8;
export const BORN_TIME_AT = SYS_FLAG_AT + 4;
export const BORN_HOST_AT = BORN_TIME_AT + 8;
/** Where the store time lies when the born host is IPv4; else V6_EXTRA later: see `storeTimeAt`. */
const STORE_TIME_V4_AT = BORN_HOST_AT + HOST_SIZE;
const STORE_HOST_V4_AT = STORE_TIME_V4_AT + 8;
const RECONSUME_TIMES_V4_AT = STORE_HOST_V4_AT + HOST_SIZE;
const PREPARED_POSITION_V4_AT = RECONSUME_TIMES_V4_AT + 4;
const BODY_SIZE_V4_AT = PREPARED_POSITION_V4_AT + 8;
const BODY_V4_AT = BODY_SIZE_V4_AT + 4;

/** Size of a V1 record with two IPv4 hosts and no body, topic or properties. */
export const RECORD_FIXED_SIZE = BODY_V4_AT + 1 + 2;
/** So many bytes from a record's start are enough for all readers up to `readStoreTimeMs`, whatever the born host is; every record has them. */
export const STORE_TIME_READ_SIZE = STORE_TIME_V4_AT + V6_EXTRA + 8;
assert(STORE_TIME_READ_SIZE <= RECORD_FIXED_SIZE, 'every record is long enough to read its store time');
assert(RECORD_FIXED_SIZE === 91 && STORE_TIME_V4_AT === 56 && SYS_FLAG_AT === 36, 'record layout');

function bornExtra(sysFlag: number): number {
  return (sysFlag & SysFlags.bornHostV6) === 0 ? 0 : V6_EXTRA;
}

function hostsExtra(sysFlag: number): number {
  return bornExtra(sysFlag) + ((sysFlag & SysFlags.storeHostV6) === 0 ? 0 : V6_EXTRA);
}

export function isV2Topic(topicUnits: number): boolean {
  return topicUnits > V1_TOPIC_UNITS_MAX;
}

/** Size of a whole record; `sysFlag` must already tell the families of the hosts (see `hostFlags`). */
export function recordSize(topicSize: number, topicUnits: number, bodySize: number, propertiesSize: number, sysFlag: number): number {
  return RECORD_FIXED_SIZE + (isV2Topic(topicUnits) ? 1 : 0) + hostsExtra(sysFlag) + bodySize + topicSize + propertiesSize;
}

/** `sysFlag` with the bits of the host families set from the sizes of the addresses. */
export function hostFlags(sysFlag: number, bornHostSize: number, storeHostSize: number): number {
  const cleared = sysFlag & ~(SysFlags.bornHostV6 | SysFlags.storeHostV6);
  return cleared | (bornHostSize === 16 ? SysFlags.bornHostV6 : 0) | (storeHostSize === 16 ? SysFlags.storeHostV6 : 0);
}

/** Bytes before the body: all fields up to and with its size. */
export function bodyDistance(sysFlag: number): number {
  return BODY_V4_AT + hostsExtra(sysFlag);
}

export function readTotalSize(b: Uint8Array, at: number): number {
  return readI32(b, at + TOTAL_SIZE_AT);
}

export function readMagic(b: Uint8Array, at: number): number {
  return readI32(b, at + MAGIC_AT);
}

export function readBodyCrc(b: Uint8Array, at: number): number {
  return readI32(b, at + BODY_CRC_AT);
}

export function readQueueId(b: Uint8Array, at: number): number {
  return readI32(b, at + QUEUE_ID_AT);
}

export function readFlag(b: Uint8Array, at: number): number {
  return readI32(b, at + FLAG_AT);
}

export function readQueueOffset(b: Uint8Array, at: number): number {
  return readI64(b, at + QUEUE_OFFSET_AT);
}

export function readPosition(b: Uint8Array, at: number): number {
  return readI64(b, at + POSITION_AT);
}

export function readSysFlag(b: Uint8Array, at: number): number {
  return readI32(b, at + SYS_FLAG_AT);
}

export function readBornTimeMs(b: Uint8Array, at: number): number {
  return readI64(b, at + BORN_TIME_AT);
}

/** Where the store time of this record lies in `b`. */
export function storeTimeAt(b: Uint8Array, at: number): number {
  return at + STORE_TIME_V4_AT + bornExtra(readSysFlag(b, at));
}

export function readStoreTimeMs(b: Uint8Array, at: number): number {
  return readI64(b, storeTimeAt(b, at));
}

/** Where the address of the client lies: `bornHostSize` bytes, then the port. */
export function bornHostAt(at: number): number {
  return at + BORN_HOST_AT;
}

export function bornHostSize(b: Uint8Array, at: number): number {
  return 4 + bornExtra(readSysFlag(b, at));
}

export function readBornPort(b: Uint8Array, at: number): number {
  return readI32(b, bornHostAt(at) + bornHostSize(b, at));
}

export function storeHostAt(b: Uint8Array, at: number): number {
  return at + STORE_HOST_V4_AT + bornExtra(readSysFlag(b, at));
}

export function storeHostSize(b: Uint8Array, at: number): number {
  return (readSysFlag(b, at) & SysFlags.storeHostV6) === 0 ? 4 : 4 + V6_EXTRA;
}

export function readStorePort(b: Uint8Array, at: number): number {
  return readI32(b, storeHostAt(b, at) + storeHostSize(b, at));
}

export function readReconsumeTimes(b: Uint8Array, at: number): number {
  return readI32(b, at + RECONSUME_TIMES_V4_AT + hostsExtra(readSysFlag(b, at)));
}

/** Position of the half record that this record commits; 0 for all others. */
export function readPreparedPosition(b: Uint8Array, at: number): number {
  return readI64(b, at + PREPARED_POSITION_V4_AT + hostsExtra(readSysFlag(b, at)));
}

export function bodyAt(b: Uint8Array, at: number): number {
  return at + bodyDistance(readSysFlag(b, at));
}

export function bodySize(b: Uint8Array, at: number): number {
  return readI32(b, bodyAt(b, at) - 4);
}

/** Where the length of the topic lies: right behind the body. */
export function topicSizeAt(b: Uint8Array, at: number): number {
  const body = bodyAt(b, at);
  return body + readI32(b, body - 4);
}

export function topicAt(b: Uint8Array, at: number): number {
  return topicSizeAt(b, at) + (readMagic(b, at) === RecordMagics.v2 ? 2 : 1);
}

export function topicSize(b: Uint8Array, at: number): number {
  const sizeAt = topicSizeAt(b, at);
  return readMagic(b, at) === RecordMagics.v2 ? readI16(b, sizeAt) : (b[sizeAt] as number);
}

/** Where the length of the properties lies: right behind the topic. */
function propertiesSizeAt(b: Uint8Array, at: number): number {
  const sizeAt = topicSizeAt(b, at);
  return readMagic(b, at) === RecordMagics.v2 ? sizeAt + 2 + readI16(b, sizeAt) : sizeAt + 1 + (b[sizeAt] as number);
}

export function propertiesAt(b: Uint8Array, at: number): number {
  return propertiesSizeAt(b, at) + 2;
}

export function propertiesSize(b: Uint8Array, at: number): number {
  return readI16(b, propertiesSizeAt(b, at));
}
