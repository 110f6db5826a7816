// Looks at single records of the log at a start: is the record at this position the one that a queue's unit promises?
import { equalBytes } from '../base/bytes.ts';
import { checkRecord } from '../message/record-check.ts';
import {
  BLANK_SIZE_MIN,
  readQueueId,
  readQueueOffset,
  readStoreTimeMs,
  readTotalSize,
  topicAt,
  topicSize,
} from '../message/record-layout.ts';
import type { Files } from './files/files.ts';
import { LogReader } from './log-reader.ts';
import { segmentStart } from './segment-row.ts';

export class RecordProbe {
  readonly #reader: LogReader;
  readonly #segmentSizeBytes: number;
  #bytes = new Uint8Array(65_536);

  /** @param stable end of the log's files: they do not change while this looks at them. */
  constructor(files: Files, folder: string, segmentSizeBytes: number, stable: number) {
    this.#reader = new LogReader(files, folder, segmentSizeBytes, { blockSizeBytes: 16_384, blockCount: 32 });
    this.#reader.setStable(stable);
    this.#segmentSizeBytes = segmentSizeBytes;
  }

  /** Store time of the sound record at a position; -1 where there is none. */
  storeTimeMs(position: number): number {
    return this.#sizeOf(position, true) > 0 ? readStoreTimeMs(this.#bytes, 0) : -1;
  }

  /** True when the record has this size and belongs to this place of this queue. */
  holds(position: number, size: number, topic: Uint8Array, queueId: number, queueOffset: number): boolean {
    if (this.#sizeOf(position, false) !== size) return false;
    const b = this.#bytes;
    if (readQueueId(b, 0) !== queueId || readQueueOffset(b, 0) !== queueOffset) return false;
    return topicSize(b, 0) === topic.length && equalBytes(b, topicAt(b, 0), topic, 0, topic.length);
  }

  close(): void {
    this.#reader.close();
  }

  /** Size of the sound record at the position, which then lies in the buffer; else 0 or less. */
  #sizeOf(position: number, checkCrc: boolean): number {
    const room = segmentStart(position, this.#segmentSizeBytes) + this.#segmentSizeBytes - position;
    if (position < 0 || room < BLANK_SIZE_MIN || !this.#reader.read(position, BLANK_SIZE_MIN, this.#bytes, 0)) return 0;
    const size = readTotalSize(this.#bytes, 0);
    if (size < BLANK_SIZE_MIN || size > room) return 0;
    if (size > this.#bytes.length) this.#bytes = new Uint8Array(size);
    return this.#reader.read(position, size, this.#bytes, 0) ? checkRecord(this.#bytes, 0, size, checkCrc) : 0;
  }
}
