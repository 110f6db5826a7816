// Makes records and small logs for the store's tests.

import { bodyCrc } from '../../src/message/crc.ts';
import { formatProperties } from '../../src/message/properties.ts';
import { patchRecord, RecordFields, sizeOfRecord, writeBlank, writeRecord } from '../../src/message/record-write.ts';
import { CommitLogFiles, placeRecord } from '../../src/store/commit-log-files.ts';
import type { Files } from '../../src/store/files/files.ts';

export interface MadeRecord {
  readonly topic: string;
  readonly queueId: number;
  readonly queueOffset: number;
  readonly storeTimeMs?: number;
  readonly bodySize?: number;
  readonly properties?: Record<string, string>;
  readonly sysFlag?: number;
}

const host = Uint8Array.from([127, 0, 0, 1]);

export function makeRecord(position: number, made: MadeRecord): Uint8Array {
  const body = new Uint8Array(made.bodySize ?? 10).map((_, i) => (made.queueOffset * 31 + i) & 0xff);
  const properties = Buffer.from(formatProperties(new Map(Object.entries(made.properties ?? {}))));
  const fields = new RecordFields();
  fields.queueId = made.queueId;
  fields.sysFlag = made.sysFlag ?? 0;
  fields.bornHost = host;
  fields.storeHost = host;
  fields.bodySize = body.length;
  fields.bodyCrc = bodyCrc(body, 0, body.length);
  fields.topic = Buffer.from(made.topic);
  fields.topicUnits = made.topic.length;
  fields.propertiesSize = properties.length;
  const out = new Uint8Array(sizeOfRecord(fields));
  out.set(properties, writeRecord(out, 0, fields, body, 0));
  patchRecord(out, 0, made.queueOffset, position, made.storeTimeMs ?? 1_000);
  return out;
}

/** Appends as the broker does; next offsets per queue are kept here. */
export class LogMaker {
  position: number;
  readonly files: CommitLogFiles;
  readonly #segmentSizeBytes: number;
  readonly #next = new Map<string, number>();
  readonly records: { position: number; size: number; topic: string; queueId: number; queueOffset: number; storeTimeMs: number }[] = [];

  constructor(files: Files, folder: string, segmentSizeBytes: number, position = 0) {
    this.files = CommitLogFiles.open(files, folder, segmentSizeBytes);
    this.#segmentSizeBytes = segmentSizeBytes;
    this.position = position;
  }

  /** Goes on with the queues of a log that was recovered. */
  continueQueues(queues: readonly { topic: string; queueId: number; next: number }[]): void {
    for (const { topic, queueId, next } of queues) this.#next.set(`${topic}/${queueId}`, next);
  }

  append(topic: string, queueId: number, more: Partial<MadeRecord> = {}): number {
    const queue = `${topic}/${queueId}`;
    const queueOffset = more.queueOffset ?? this.#next.get(queue) ?? 0;
    const storeTimeMs = more.storeTimeMs ?? 1_000 + this.records.length;
    const size = makeRecord(0, { topic, queueId, queueOffset, ...more }).length;
    const blank = placeRecord(this.position, size, this.#segmentSizeBytes);
    if (blank > 0) {
      const header = new Uint8Array(8);
      writeBlank(header, 0, blank);
      this.files.write(this.position, header, 0, 8);
      this.position += blank;
    }
    const position = this.position;
    this.files.write(position, makeRecord(position, { topic, queueId, ...more, queueOffset, storeTimeMs }), 0, size);
    this.position += size;
    this.#next.set(queue, queueOffset + 1);
    this.records.push({ position, size, topic, queueId, queueOffset, storeTimeMs });
    return position;
  }
}
