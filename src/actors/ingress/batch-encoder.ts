// The messages of a batch request: measured and judged first, all of them, and only then encoded into the ring.
import type { Settings } from '../../config/settings.ts';
import { BatchReader } from '../../message/batch.ts';
import { bodyCrcIn } from '../../message/crc.ts';
import { indexKeyHash, tagKeyHash } from '../../message/index-key.ts';
import { PropertyScan, scanProperties } from '../../message/properties.ts';
import { type RecordFields, sizeOfRecord, writeRecordIn, writeRecordLike } from '../../message/record.ts';
import { tagsCodeOf } from '../../message/tags.ts';
import { ResponseCodes } from '../../protocol/codes.ts';
import type { RingWriter } from '../../runtime/ring.ts';
import { keyFlags } from '../key-flags.ts';
import { RECORD_HEAD_SIZE, RecordFlags } from '../messages.ts';
import { batchDeliveryFault, type Refusal, recordSizeMax } from './send-checks.ts';

/** Room for what the broker adds to bodies: topic, hosts, times. */
const ENCODED_EXTRA_SIZE = 65_536;

export class BatchEncoder {
  /** Of the batch measured last: */
  sizes: number[] = [];
  totalSize = 0;
  ringSize = 0;
  readonly #tagsCodes: number[] = [];
  readonly #flags: number[] = [];
  readonly #uniqueKeyHashes: number[] = [];
  readonly #tagKeyHashes: number[] = [];
  readonly #settings: Settings;
  readonly #recordCountMax: number;
  readonly #totalSizeMax: number;
  readonly #ringSizeMax: number;
  readonly #reader = new BatchReader();
  readonly #scan = new PropertyScan();

  constructor(settings: Settings) {
    this.#settings = settings;
    // The feed shows a batch whole: half of it is what one publish may make visible.
    this.#recordCountMax = settings.feedEntryCount / 4;
    this.#totalSizeMax = Math.min(settings.maxMessageSize + ENCODED_EXTRA_SIZE, recordSizeMax(settings));
    this.#ringSizeMax = settings.appendRingSizeBytes / 2 - RECORD_HEAD_SIZE;
  }

  /** null for a sound batch; its sizes are then known. @param topicHash see `topicKeyHash`. */
  measure(fields: RecordFields, topicHash: number, bytes: Buffer, at: number, size: number): Refusal | null {
    const reader = this.#reader;
    const sizeMax = this.#settings.maxMessageSize;
    if (size === 0 || size > sizeMax)
      return illegal(`the batch must have 1 to maxMessageSize bytes size=${size} maxMessageSize=${sizeMax}`);
    this.sizes = [];
    this.totalSize = 0;
    this.ringSize = 0;
    reader.reset(bytes, at, at + size);
    while (reader.next()) {
      if (reader.bodySize === 0) return illegal(`message ${reader.index} of the batch has no body`);
      scanProperties(bytes, reader.propertiesAt, reader.propertiesAt + reader.propertiesSize, this.#scan);
      const refusal = batchDeliveryFault(this.#scan);
      if (refusal !== null) return refusal;
      fields.bodySize = reader.bodySize;
      fields.propertiesSize = reader.propertiesSize;
      const recordSize = sizeOfRecord(fields);
      this.#tagsCodes[reader.index] = this.#scan.tagsAt < 0 ? 0 : tagsCodeOf(bytes, this.#scan.tagsAt, this.#scan.tagsEnd);
      this.#measureKeys(fields.sysFlag, topicHash, bytes);
      this.sizes.push(recordSize);
      this.totalSize += recordSize;
      this.ringSize += RECORD_HEAD_SIZE + ((recordSize + 3) & ~3);
      if (this.totalSize > this.#totalSizeMax || this.ringSize > this.#ringSizeMax || this.sizes.length > this.#recordCountMax)
        return this.#tooLarge();
    }
    return reader.fault === '' ? null : illegal(reader.fault);
  }

  write(ring: RingWriter, at: number, fields: RecordFields, bytes: Buffer, bodyAt: number, bodySize: number): void {
    const reader = this.#reader;
    const { arena } = ring;
    const firstAt = at + RECORD_HEAD_SIZE;
    reader.reset(bytes, bodyAt, bodyAt + bodySize);
    while (reader.next()) {
      fields.flag = reader.flag;
      fields.bodySize = reader.bodySize;
      fields.propertiesSize = reader.propertiesSize;
      fields.bodyCrc = bodyCrcIn(arena, bytes, reader.bodyAt, reader.bodySize);
      const recordSize = this.sizes[reader.index] as number;
      ring.words[at >> 2] = recordSize;
      ring.words[(at >> 2) + 1] = this.#tagsCodes[reader.index] as number;
      ring.words[(at >> 2) + 2] = this.#flags[reader.index] as number;
      ring.words[(at >> 2) + 3] = this.#uniqueKeyHashes[reader.index] as number;
      ring.words[(at >> 2) + 4] = this.#tagKeyHashes[reader.index] as number;
      const recordAt = at + RECORD_HEAD_SIZE;
      const propertiesAt =
        reader.index === 0
          ? writeRecordIn(arena, recordAt, fields, bytes, reader.bodyAt)
          : writeRecordLike(arena, recordAt, firstAt, fields, bytes, reader.bodyAt);
      arena.copy(bytes, reader.propertiesAt, arena.bytes, propertiesAt, reader.propertiesSize);
      at += RECORD_HEAD_SIZE + ((recordSize + 3) & ~3);
    }
  }

  #measureKeys(sysFlag: number, topicHash: number, bytes: Buffer): void {
    const { index } = this.#reader;
    const { uniqueKeyAt, uniqueKeyEnd, keysAt, tagsAt, tagsEnd } = this.#scan;
    const flags = keyFlags(uniqueKeyAt >= 0, keysAt >= 0, this.#scan.hasTag, sysFlag);
    const hashed = (flags & RecordFlags.uniqueKeyHashed) !== 0;
    const tagHashed = (flags & RecordFlags.tagHashed) !== 0;
    this.#flags[index] = flags;
    this.#uniqueKeyHashes[index] = hashed ? indexKeyHash(topicHash, bytes, uniqueKeyAt, uniqueKeyEnd) : 0;
    this.#tagKeyHashes[index] = tagHashed ? tagKeyHash(topicHash, bytes, tagsAt, tagsEnd) : 0;
  }

  #tooLarge(): Refusal {
    return illegal(
      `the batch is too large once stored storedSize>=${this.totalSize} allowed=${this.#totalSizeMax} messages>=${this.sizes.length} allowed=${this.#recordCountMax}: send it in parts`,
    );
  }
}

function illegal(text: string): Refusal {
  return { code: ResponseCodes.MESSAGE_ILLEGAL, remark: `the message is illegal: ${text}` };
}
