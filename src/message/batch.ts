// The body of a batch request: entries back to back, read in place with every length checked before it is used.
//
//   +-----------+---------+--------+------+----------+------+----------------+------------+
//   | totalSize | magic 0 | crc 0  | flag | bodySize | body | propertiesSize | properties |  ...
//   | i32       | i32     | i32    | i32  | i32      |      | i16            |            |
//   +-----------+---------+--------+------+----------+------+----------------+------------+
import { assert } from '../base/assert.ts';
import { readI16, readI32, writeI32, writeU16 } from '../base/bytes.ts';
import { copyBytes } from '../base/copy-bytes.ts';
import { PROPERTIES_SIZE_MAX } from './record-layout.ts';

const MAGIC_AT = 4;
const CRC_AT = MAGIC_AT + 4;
const FLAG_AT = CRC_AT + 4;
const BODY_SIZE_AT = FLAG_AT + 4;
const BODY_AT = BODY_SIZE_AT + 4;

/** An entry without body and properties. */
export const BATCH_ENTRY_SIZE_MIN = BODY_AT + 2;
assert(BATCH_ENTRY_SIZE_MIN === 22, 'batch entry layout');

export interface BatchEntry {
  readonly flag: number;
  readonly body: Uint8Array;
  /** The properties' text, see `encodeProperties`. */
  readonly properties: Uint8Array;
}

/** `next` steps from entry to entry; it is false at the end, and at an entry that is wrong, which `fault` then describes. */
export class BatchReader {
  /** Which entry the fields below are of, from 0. */
  index = -1;
  flag = 0;
  bodyAt = 0;
  bodySize = 0;
  propertiesAt = 0;
  propertiesSize = 0;
  /** '' while all entries were sound. */
  fault = '';
  #bytes: Uint8Array = new Uint8Array(0);
  #at = 0;
  #end = 0;

  reset(b: Uint8Array, at: number, end: number): void {
    assert(at >= 0 && at <= end && end <= b.length, 'the batch lies in its array');
    this.#bytes = b;
    this.#at = at;
    this.#end = end;
    this.index = -1;
    this.fault = '';
  }

  next(): boolean {
    if (this.fault !== '' || this.#at === this.#end) return false;
    const b = this.#bytes;
    const at = this.#at;
    const left = this.#end - at;
    this.index++;
    if (left < BATCH_ENTRY_SIZE_MIN) return this.#fail('is cut short', 'bytesLeft', left);
    const totalSize = readI32(b, at);
    if (totalSize < BATCH_ENTRY_SIZE_MIN || totalSize > left) return this.#fail('has a wrong size', 'size', totalSize);
    const bodySize = readI32(b, at + BODY_SIZE_AT);
    if (bodySize < 0 || bodySize > totalSize - BATCH_ENTRY_SIZE_MIN) return this.#fail('has a wrong body size', 'bodySize', bodySize);
    const propertiesAt = at + BODY_AT + bodySize + 2;
    const propertiesSize = readI16(b, propertiesAt - 2);
    if (propertiesSize < 0) return this.#fail(`has properties of more than ${PROPERTIES_SIZE_MAX} bytes`, 'size', propertiesSize & 0xffff);
    if (propertiesAt + propertiesSize !== at + totalSize) return this.#fail('has lengths that do not add up', 'size', totalSize);
    this.flag = readI32(b, at + FLAG_AT);
    this.bodyAt = at + BODY_AT;
    this.bodySize = bodySize;
    this.propertiesAt = propertiesAt;
    this.propertiesSize = propertiesSize;
    this.#at = at + totalSize;
    return true;
  }

  #fail(what: string, name: string, value: number): boolean {
    this.fault = `batch entry ${this.index} ${what} ${name}=${value}`;
    return false;
  }
}

export function encodeBatch(entries: readonly BatchEntry[]): Buffer {
  const sizes = entries.map((entry) => BATCH_ENTRY_SIZE_MIN + entry.body.length + entry.properties.length);
  const out = Buffer.alloc(sizes.reduce((sum, size) => sum + size, 0));
  let at = 0;
  for (const [index, entry] of entries.entries()) {
    const { body, properties } = entry;
    assert(properties.length <= PROPERTIES_SIZE_MAX, 'properties fit their length field');
    writeI32(out, at, sizes[index] as number);
    writeI32(out, at + FLAG_AT, entry.flag);
    writeI32(out, at + BODY_SIZE_AT, body.length);
    copyBytes(body, 0, body.length, out, at + BODY_AT);
    const propertiesAt = at + BODY_AT + body.length + 2;
    writeU16(out, propertiesAt - 2, properties.length);
    copyBytes(properties, 0, properties.length, out, propertiesAt);
    at = propertiesAt + properties.length;
  }
  return out;
}
