// Finds where the units of a consume queue begin and end in its files: neither is stored anywhere.
//
//   | filler | filler | unit | unit | unit | 0 | 0 | 0 ...
//                     ^ begin              ^ end
import type { QueueFiles } from './queue-files.ts';
import { isFiller, isUnit, UNIT_SIZE } from './queue-unit.ts';

const PROBE_COUNT = 204;
const probe = new Uint8Array(PROBE_COUNT * UNIT_SIZE);

export interface QueueBounds {
  readonly begin: number;
  readonly end: number;
}

/** Files of a queue whose units were written in order; begin and end are equal where it holds no message. */
export function findQueueBounds(files: QueueFiles): QueueBounds {
  const end = findEnd(files);
  const begin = end === files.indexBegin ? end : findBegin(files, end);
  return { begin, end };
}

function findEnd(files: QueueFiles): number {
  const { unitsPerFile } = files;
  // A last file without a unit can be left by a crash between making it and writing to it.
  for (let file = files.fileCount - 1; file >= 0; file--) {
    const begin = files.indexBegin + file * unitsPerFile;
    const end = firstWhere(files, begin, begin + unitsPerFile, (at) => !isUnit(probe, at));
    if (end > begin) return end;
  }
  return files.indexBegin;
}

function findBegin(files: QueueFiles, end: number): number {
  const firstEnd = Math.min(end, files.indexBegin + files.unitsPerFile);
  return firstWhere(files, files.indexBegin, firstEnd, (at) => !isFiller(probe, at));
}

/** The first index in [from, to) of which `is` is true, where it is true of all that follow; else `to`. Most queues are short: gallops. */
function firstWhere(files: QueueFiles, from: number, to: number, is: (at: number) => boolean): number {
  let low = from;
  const high = to;
  for (let step = PROBE_COUNT; low < high; step *= 2) {
    const count = Math.min(PROBE_COUNT, high - low);
    files.read(low, count, probe, 0);
    for (let i = 0; i < count; i++) if (is(i * UNIT_SIZE)) return low + i;
    low += count;
    const jump = Math.min(low + step, to - 1);
    if (jump <= low) continue;
    files.read(jump, 1, probe, 0);
    if (!is(0)) low = jump + 1;
    else return halve(files, low, jump, is);
  }
  return to;
}

function halve(files: QueueFiles, low: number, high: number, is: (at: number) => boolean): number {
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    files.read(middle, 1, probe, 0);
    if (is(0)) high = middle;
    else low = middle + 1;
  }
  return low;
}
