// One entry of a consume queue: where a message lies in the log, and what consumers filter it by.
//
//   0          8        12         20
//   +----------+--------+----------+
//   | position | size   | tagsCode |     tagsCode: the hash of the tag, or the time a delayed message is due (ms)
//   |      i64 |    i32 |      i64 |
//   +----------+--------+----------+
//
// A filler (position 0, size 2^31 - 1) takes the place of messages in front of a queue that begins in the middle of a file.
import { assert } from '../base/assert.ts';
import { readI32, readI64, writeI32, writeI64 } from '../base/bytes.ts';

const POSITION_AT = 0;
const SIZE_AT = POSITION_AT + 8;
const TAGS_CODE_AT = SIZE_AT + 4;
export const UNIT_SIZE = TAGS_CODE_AT + 8;
assert(UNIT_SIZE === 20, 'unit layout');

export const FILLER_SIZE = 0x7fff_ffff;

export function writeUnit(b: Uint8Array, at: number, position: number, size: number, tagsCode: number): void {
  writeI64(b, at + POSITION_AT, position);
  writeI32(b, at + SIZE_AT, size);
  writeI64(b, at + TAGS_CODE_AT, tagsCode);
}

export function readUnitPosition(b: Uint8Array, at: number): number {
  return readI64(b, at + POSITION_AT);
}

export function readUnitSize(b: Uint8Array, at: number): number {
  return readI32(b, at + SIZE_AT);
}

/** Exact for hashes and times; an address in a file of extensions (see `isExtended`) is rounded. */
export function readUnitTagsCode(b: Uint8Array, at: number): number {
  return readI64(b, at + TAGS_CODE_AT);
}

/** The code is an address in a file of extensions, which another broker wrote: the tag must be read from the record. */
export function isExtended(tagsCode: number): boolean {
  return tagsCode < -0x8000_0000;
}

export function isFiller(b: Uint8Array, at: number): boolean {
  return readUnitSize(b, at) === FILLER_SIZE && readUnitPosition(b, at) === 0;
}

/** Something was written here: a message or a filler. */
export function isUnit(b: Uint8Array, at: number): boolean {
  return readUnitPosition(b, at) >= 0 && readUnitSize(b, at) > 0;
}

export function fillers(count: number): Uint8Array {
  const b = new Uint8Array(count * UNIT_SIZE);
  for (let at = 0; at < b.length; at += UNIT_SIZE) writeUnit(b, at, 0, FILLER_SIZE, 0);
  return b;
}
