// The names of a row of fixed-size files, and the check of a folder of them before anything in it is touched.
//
//   00000000000000000000   00000000000001000000   00000000000002000000      name = position of the file's first byte
//   |<-- sizeBytes --->|   |<-- sizeBytes --->|   |<-- sizeBytes --->|      no gaps, nothing else in the folder
import { ErrorCodes, RingmqError } from '../base/errors.ts';
import type { Files } from './files/files.ts';

const NAME_SIZE = 20;

export interface SegmentRow {
  /** Position of the first file's first byte; 0 where there is no file. */
  readonly firstPosition: number;
  readonly count: number;
}

export function segmentName(position: number): string {
  return String(position).padStart(NAME_SIZE, '0');
}

/** Position of the first byte of the file that holds `position`. */
export function segmentStart(position: number, sizeBytes: number): number {
  return position - (position % sizeBytes);
}

/**
 * Every plain file must be a segment of exactly the configured size, else RingmqError `store`: a start with a wrong size would
 * misread the whole store. Empty files at the end are creations cut short and are removed: two, where files are made ahead of need.
 */
export function loadSegmentRow(files: Files, folder: string, sizeBytes: number, setting: string): SegmentRow {
  const positions: number[] = [];
  const names = files.list(folder);
  while (names.length > 0 && isEmptyFile(files, `${folder}/${names.at(-1)}`)) files.remove(`${folder}/${names.pop()}`);
  for (let i = 0; i < names.length; i++) {
    const path = `${folder}/${names[i]}`;
    const stat = files.stat(path);
    if (stat === null || stat.isDirectory) continue;
    const position = positionOf(names[i] as string);
    if (position < 0) throw refusal('a file that is no part of the store lies among its segments; move it away', { path, ...sizes() });
    if (stat.sizeBytes !== sizeBytes || position % sizeBytes !== 0) {
      throw refusal(`a segment does not have the size that is set; set ${setting} to the size the store was made with`, {
        path,
        ...sizes(stat.sizeBytes),
      });
    }
    const expected = positions.length === 0 ? position : (positions.at(-1) as number) + sizeBytes;
    if (position !== expected) {
      throw refusal('a segment is missing in the middle of the row; restore it', { path, missing: segmentName(expected), ...sizes() });
    }
    positions.push(position);
  }
  return { firstPosition: positions[0] ?? 0, count: positions.length };

  function sizes(sizeSeen?: number): Record<string, unknown> {
    return { ...(sizeSeen === undefined ? {} : { sizeBytes: sizeSeen }), sizeBytesAllowed: sizeBytes, setting };
  }
}

function isEmptyFile(files: Files, path: string): boolean {
  const stat = files.stat(path);
  return stat !== null && !stat.isDirectory && stat.sizeBytes === 0;
}

function positionOf(name: string): number {
  return /^\d{20}$/.test(name) && Number.isSafeInteger(Number(name)) ? Number(name) : -1;
}

function refusal(message: string, values: Record<string, unknown>): RingmqError {
  return new RingmqError(ErrorCodes.store, message, values);
}
