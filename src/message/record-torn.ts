// Tells records whose write never came to its end behind a sound body, which is all that the checksum covers: zeros lie where they cannot.
import { propertiesSize, topicAt, topicSize } from './record-layout.ts';

/** Disks write this much whole or not at all. */
const SECTOR_SIZE = 512;

/** No topic holds a zero. */
export function hasTornTopic(b: Uint8Array, at: number): boolean {
  const topic = topicAt(b, at);
  const topicEnd = topic + topicSize(b, at);
  for (let i = topic; i < topicEnd; i++) if (b[i] === 0) return true;
  return false;
}

/**
 * The properties end in zero, or a sector that lies in them is all zeros: it did not reach the disk while others did. For the end of an
 * unclean stop only, as a client may end its properties as it likes. @param position of the record in the log: sectors are counted from there.
 */
export function hasTornProperties(b: Uint8Array, at: number, size: number, position: number): boolean {
  const end = at + size;
  if (propertiesSize(b, at) === 0) return false;
  if (b[end - 1] === 0) return true;
  const begin = end - propertiesSize(b, at);
  const past = (position + begin - at) % SECTOR_SIZE;
  for (let sector = past === 0 ? begin : begin + SECTOR_SIZE - past; sector + SECTOR_SIZE <= end; sector += SECTOR_SIZE) {
    if (isZero(b, sector, sector + SECTOR_SIZE)) return true;
  }
  return false;
}

function isZero(b: Uint8Array, at: number, end: number): boolean {
  for (let i = at; i < end; i++) if (b[i] !== 0) return false;
  return true;
}
