// Overwrites what is not zero in a stretch of a file; holes of a sparse file stay holes.
import type { Files } from './files/files.ts';

const BLOCK_SIZE = 262_144;
const zeros = Buffer.alloc(BLOCK_SIZE);

/**
 * Returns how many bytes there were from the first to the last that was not zero.
 * @param clearSize where so many bytes in a row are zero, the rest is taken to be zero as well.
 */
export function zeroRange(files: Files, fd: number, position: number, size: number, clearSize = Number.POSITIVE_INFINITY): number {
  const block = Buffer.allocUnsafe(Math.min(BLOCK_SIZE, size, clearSize));
  let first = -1;
  let last = -1;
  for (let done = 0; done < size; ) {
    const count = files.read(fd, block, 0, Math.min(block.length, size - done), position + done);
    if (count === 0) break;
    if (block.compare(zeros, 0, count, 0, count) !== 0) {
      const from = firstUsed(block, count);
      last = done + lastUsed(block, count);
      if (first < 0) first = done + from;
      files.write(fd, zeros, 0, last - done - from + 1, position + done + from);
    } else if (count >= clearSize) {
      break;
    }
    done += count;
  }
  return first < 0 ? 0 : last - first + 1;
}

function firstUsed(block: Uint8Array, size: number): number {
  let at = 0;
  while (at < size && block[at] === 0) at++;
  return at;
}

function lastUsed(block: Uint8Array, size: number): number {
  let at = size - 1;
  while (at >= 0 && block[at] === 0) at--;
  return at;
}
