// The properties as they are stored: the client's text, without the keys that the broker owns, and the broker's own behind it.
import type { Arena } from '../base/arena.ts';
import { isBrokerOwned, type PropertyScan } from './property-scan.ts';

const SEPARATOR = 0x02;

/** How many bytes `writeStoredProperties` writes for a source of this size that was scanned into `scan`. */
export function storedPropertiesSize(sourceSize: number, scan: PropertyScan, suffixSize: number): number {
  return sourceSize - scan.cutSize + (scan.endsWithSeparator || scan.lastIsCut ? 0 : 1) + suffixSize;
}

/**
 * Copies the source's pairs into the arena as they are, but for MSG_REGION, TRACE_ON, CLUSTER and POP_CK; ends them with a separator; appends `suffix`,
 * which is the broker's own pairs, ready made. Returns where it stopped. `scan` must be of these bytes.
 */
export function writeStoredProperties(
  arena: Arena,
  at: number,
  source: Uint8Array,
  sourceAt: number,
  sourceEnd: number,
  scan: PropertyScan,
  suffix: Uint8Array,
  suffixAt = 0,
  suffixSize = suffix.length,
): number {
  let next = at;
  if (scan.cutSize === 0) {
    arena.copy(source, sourceAt, arena.bytes, next, sourceEnd - sourceAt);
    next += sourceEnd - sourceAt;
  } else {
    next = copyUnowned(arena, next, source, sourceAt, sourceEnd);
  }
  if (!scan.endsWithSeparator && !scan.lastIsCut) arena.bytes[next++] = SEPARATOR;
  arena.copy(suffix, suffixAt, arena.bytes, next, suffixSize);
  return next + suffixSize;
}

/** The slow way, pair by pair. */
function copyUnowned(arena: Arena, at: number, source: Uint8Array, sourceAt: number, sourceEnd: number): number {
  for (let pairAt = sourceAt; pairAt < sourceEnd; ) {
    let pairEnd = pairAt;
    let nameEnd = -1;
    for (; pairEnd < sourceEnd && source[pairEnd] !== SEPARATOR; pairEnd++) if (nameEnd < 0 && source[pairEnd] === 0x01) nameEnd = pairEnd;
    const next = Math.min(pairEnd + 1, sourceEnd);
    const isPair = nameEnd > pairAt && nameEnd < pairEnd - 1;
    if (!isPair || !isBrokerOwned(source, pairAt, nameEnd)) {
      arena.copy(source, pairAt, arena.bytes, at, next - pairAt);
      at += next - pairAt;
    }
    pairAt = next;
  }
  return at;
}
