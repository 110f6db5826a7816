// Encoding a record into the append ring as a send does: properties scanned, checksum, fixed fields, body, stored properties.
import { Arena, allocateRegions, type Region } from '../src/base/arena.ts';
import { present } from '../src/base/assert.ts';

import { bodyCrcIn } from '../src/message/crc.ts';
import { PropertyScan, scanProperties, storedPropertiesSize, writeStoredProperties } from '../src/message/properties.ts';
import { checkRecord, RecordFields, sizeOfRecord, writeRecordIn, writeRecordLike } from '../src/message/record.ts';
import { type Cell, expect, timed, type Work } from './cell.ts';
import { propertiesText, topic } from './frames.ts';

const loopback = Uint8Array.of(127, 0, 0, 1);
const suffix = Buffer.from('MSG_REGION\u0001DefaultRegion\u0002TRACE_ON\u0001true\u0002');

export class RecordWriting {
  readonly fields = new RecordFields();
  readonly scan = new PropertyScan();
  /** The client's own; whoever changes them keeps their size, or measures again. */
  readonly properties: Buffer;
  readonly #arena: Arena;
  readonly #bodyAt: number;
  readonly #bodySize: number;
  readonly #propertiesAt: number;

  /** @param source where the request lies, as if it had been read from a socket. */
  constructor(source: Region, bodySize: number, text: string = propertiesText) {
    this.#arena = Arena.of(source.memory);
    this.#bodyAt = source.at + 7;
    this.#bodySize = bodySize;
    this.#propertiesAt = this.#bodyAt + bodySize;
    const { bytes } = this.#arena;
    bytes.fill(0x62, this.#bodyAt, this.#propertiesAt);
    this.properties = bytes.subarray(this.#propertiesAt, this.#propertiesAt + bytes.write(text, this.#propertiesAt));
    this.fields.bornTimeMs = 1_764_500_000_123;
    this.fields.bornHost = loopback;
    this.fields.storeHost = loopback;
    this.fields.storePort = 10_911;
    this.fields.topic = Buffer.from(topic);
    this.fields.topicUnits = topic.length;
    this.measure();
  }

  /** Size of the record to come. */
  measure(): number {
    const { fields } = this;
    scanProperties(this.properties, 0, this.properties.length, this.scan);
    fields.bodySize = this.#bodySize;
    fields.propertiesSize = storedPropertiesSize(this.properties.length, this.scan, suffix.length);
    return sizeOfRecord(fields);
  }

  /** @param firstAt where the first record of the same batch lies; negative where there is none. */
  write(at: number, firstAt = -1): void {
    const arena = this.#arena;
    this.fields.bodyCrc = bodyCrcIn(arena, arena.bytes, this.#bodyAt, this.#bodySize);
    const propertiesAt =
      firstAt < 0
        ? writeRecordIn(arena, at, this.fields, arena.bytes, this.#bodyAt)
        : writeRecordLike(arena, at, firstAt, this.fields, arena.bytes, this.#bodyAt);
    const propertiesEnd = this.#propertiesAt + this.properties.length;
    writeStoredProperties(arena, propertiesAt, arena.bytes, this.#propertiesAt, propertiesEnd, this.scan, suffix);
  }
}

function encoding(bodySize: number, inBatch = false): Work {
  const placeCount = 1024;
  const [source, target] = allocateRegions([4096, placeCount * 4096]);
  const writing = new RecordWriting(present(source), bodySize);
  const size = writing.measure();
  const { memory, at } = present(target);
  const out = Arena.of(memory).bytes.subarray(at);
  let done = 0;
  return {
    pass: (count) => {
      for (let i = 0; i < count; i++, done++) {
        writing.fields.queueId = (done >> 4) & 7;
        const recordSize = writing.measure();
        writing.write(
          at + (done % placeCount) * recordSize,
          inBatch && done % 16 !== 0 ? at + ((done & -16) % placeCount) * recordSize : -1,
        );
      }
    },
    check: (count) => {
      expect('records', done, count);
      for (let place = 0; place < Math.min(count, placeCount); place++)
        expect('size of a sound record', checkRecord(out, place * size, out.length, true), size);
    },
  };
}

export function recordCells(): Cell[] {
  return [
    timed('record encode', '1 KiB body, 3 properties', 400_000, () => encoding(1024)),
    timed('record encode', '128 B body, 3 properties', 600_000, () => encoding(128)),
    timed('record encode', '128 B body, 3 properties, batches of 16', 600_000, () => encoding(128, true)),
  ];
}
