// The records in a pull's answer, as plain objects.
import { decodeRecord, type MessageRecord, readTotalSize } from '../../src/message/record.ts';

export function decodeMessages(body: Uint8Array): MessageRecord[] {
  const found: MessageRecord[] = [];
  for (let at = 0; at < body.length; at += readTotalSize(body, at)) found.push(decodeRecord(body, at));
  return found;
}

export function textOf(record: MessageRecord | undefined): string {
  return record === undefined ? '' : Buffer.from(record.body).toString();
}
