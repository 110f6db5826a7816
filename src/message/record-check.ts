// Decides whether bytes are a sound record, for recovery and for everyone who follows the log: it never throws and never reads beyond the end.
import { readI16, readI32 } from '../base/bytes.ts';
import { bodyCrc } from './crc.ts';
import { bodyDistance, RECORD_FIXED_SIZE, RecordMagics, readBodyCrc, readMagic, readSysFlag, readTotalSize } from './record-layout.ts';

/** Why bytes are not a record; all are below 0. */
export const RecordFaults = {
  /** The bytes end before the record does. */
  tooFewBytes: -1,
  /** Neither a record nor a blank. */
  badMagic: -2,
  /** Size and magic are both 0: nothing was ever written here. */
  nothing: -3,
  /** The total is smaller than the fixed fields. */
  badTotalSize: -4,
  /** A length inside the record is negative or leads out of it. */
  badLength: -5,
  /** All lengths fit, but their sum is not the total. */
  sizesDiffer: -6,
  /** The body is not what its checksum says. */
  badBodyCrc: -7,
} as const;
export type RecordFault = (typeof RecordFaults)[keyof typeof RecordFaults];

export function recordFaultText(fault: number): string {
  for (const [name, code] of Object.entries(RecordFaults)) if (code === fault) return name;
  return `unknown fault ${fault}`;
}

/**
 * > 0: the size of a sound record at `at`; 0: a blank, go on with the next file; < 0: one of `RecordFaults`.
 * Bytes from `end` on are never looked at. Queue, queue offset and stored position are not judged here.
 */
export function checkRecord(b: Uint8Array, at: number, end: number, checkCrc: boolean): number {
  if (at < 0 || end > b.length || end - at < 8) return RecordFaults.tooFewBytes;
  const totalSize = readTotalSize(b, at);
  const magic = readMagic(b, at);
  if (totalSize === 0 && magic === 0) return RecordFaults.nothing;
  const isRecord = magic === RecordMagics.v1 || magic === RecordMagics.v2;
  if (!isRecord && magic !== RecordMagics.blank) return RecordFaults.badMagic;
  if (totalSize > end - at) return RecordFaults.tooFewBytes;
  if (!isRecord) return 0;
  if (totalSize < RECORD_FIXED_SIZE) return RecordFaults.badTotalSize;
  return checkFields(b, at, at + totalSize, magic, checkCrc);
}

/** `recordEnd - at` is the total and at least the fixed size; every further length is checked before it is used. */
function checkFields(b: Uint8Array, at: number, recordEnd: number, magic: number, checkCrc: boolean): number {
  const topicSizeSize = magic === RecordMagics.v2 ? 2 : 1;
  const body = at + bodyDistance(readSysFlag(b, at));
  if (body + topicSizeSize + 2 > recordEnd) return RecordFaults.badLength;
  const bodySize = readI32(b, body - 4);
  if (bodySize < 0 || bodySize > recordEnd - body - topicSizeSize - 2) return RecordFaults.badLength;
  const topicSizeAt = body + bodySize;
  const topic = topicSizeAt + topicSizeSize;
  const topicSize = topicSizeSize === 2 ? readI16(b, topicSizeAt) : ((b[topicSizeAt] as number) << 24) >> 24;
  if (topicSize < 0 || topicSize > recordEnd - topic - 2) return RecordFaults.badLength;
  const properties = topic + topicSize + 2;
  const propertiesSize = readI16(b, properties - 2);
  if (propertiesSize < 0 || propertiesSize > recordEnd - properties) return RecordFaults.badLength;
  if (properties + propertiesSize !== recordEnd) return RecordFaults.sizesDiffer;
  if (checkCrc && bodySize > 0 && bodyCrc(b, body, bodySize) !== readBodyCrc(b, at)) return RecordFaults.badBodyCrc;
  return recordEnd - at;
}
