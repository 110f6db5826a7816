// The record at a position that a client names: it may be gone, lie ahead, point into the midst of another record, or be made up.
import { checkRecord, RecordMagics, readMagic, readPosition, readTotalSize } from '../../message/record.ts';
import { Positions } from '../context.ts';
import type { Desk } from './desk.ts';

/** Record size and magic, and what lies between them and the position field. */
const HEAD_SIZE = 36;
/** No record of any settings is larger. */
const RECORD_SIZE_MAX = 16 * 1024 * 1024;

const head = new Uint8Array(HEAD_SIZE);

/** The sound record that begins exactly here; a text says what is there instead. */
export function recordAt(desk: Desk, position: number): Buffer | string {
  const { records, positions } = desk;
  const low = positions.get(Positions.logMin);
  const high = positions.get(Positions.appended);
  if (!Number.isSafeInteger(position) || position < 0) return `it is no position in the log first=${low} end=${high}`;
  if (position < low) return `the log no longer has it, its first message lies at ${low}`;
  if (position + HEAD_SIZE > high) return `the log ends before it, at ${high}`;
  if (!records.read(position, HEAD_SIZE, head, 0)) return unreadable(desk, position);
  const magic = readMagic(head, 0);
  const size = readTotalSize(head, 0);
  const isHead = (magic === RecordMagics.v1 || magic === RecordMagics.v2) && readPosition(head, 0) === position;
  if (!isHead || size <= HEAD_SIZE || size > RECORD_SIZE_MAX || position + size > high) return 'no message begins there';
  const record = Buffer.allocUnsafe(size);
  if (!records.read(position, size, record, 0)) return unreadable(desk, position);
  return checkRecord(record, 0, size, true) === size ? record : 'the message there is damaged';
}

function unreadable(desk: Desk, position: number): string {
  return desk.records.isGone(position) ? 'the log no longer has it' : 'its file cannot be read, see the log of the broker';
}
