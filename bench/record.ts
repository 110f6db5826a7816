// Encoding a record into the append ring as a send does: properties scanned, checksum, fixed fields, body, stored properties.

import { bodyCrc } from '../src/message/crc.ts';
import { PropertyScan, scanProperties, storedPropertiesSize, writeStoredProperties } from '../src/message/properties.ts';
import { checkRecord, RecordFields, sizeOfRecord, writeRecord } from '../src/message/record.ts';
import { type Cell, expect, timed, type Work } from './cell.ts';
import { propertiesText, topic } from './frames.ts';

const loopback = Uint8Array.of(127, 0, 0, 1);
const suffix = Buffer.from('MSG_REGION\u0001DefaultRegion\u0002TRACE_ON\u0001true\u0002');

export class RecordWriting {
  readonly fields = new RecordFields();
  readonly scan = new PropertyScan();
  /** The client's own; whoever changes them keeps their size, or measures again. */
  readonly properties: Buffer;
  readonly #body: Buffer;

  constructor(bodySize: number, text: string = propertiesText) {
    this.properties = Buffer.from(text);
    this.#body = Buffer.alloc(bodySize, 0x62);
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
    fields.bodySize = this.#body.length;
    fields.propertiesSize = storedPropertiesSize(this.properties.length, this.scan, suffix.length);
    return sizeOfRecord(fields);
  }

  write(out: Buffer, at: number): void {
    this.fields.bodyCrc = bodyCrc(this.#body, 0, this.#body.length);
    const propertiesAt = writeRecord(out, at, this.fields, this.#body, 0);
    writeStoredProperties(out, propertiesAt, this.properties, 0, this.properties.length, this.scan, suffix);
  }
}

function encoding(bodySize: number): Work {
  const writing = new RecordWriting(bodySize);
  const size = writing.measure();
  const placeCount = 1024;
  const out = Buffer.from(new SharedArrayBuffer(placeCount * size));
  let done = 0;
  return {
    pass: (count) => {
      for (let i = 0; i < count; i++, done++) {
        writing.fields.queueId = done & 7;
        const recordSize = writing.measure();
        writing.write(out, (done % placeCount) * recordSize);
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
  ];
}
