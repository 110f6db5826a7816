// The properties as they are stored: the client's text, without the keys that the broker owns, and the broker's own behind it.
import { copyBytes } from '../base/copy-bytes.ts';
import { isBrokerOwned, type PropertyScan } from './property-scan.ts';

const SEPARATOR = 0x02;

/** How many bytes `writeStoredProperties` writes for a source of this size that was scanned into `scan`. */
export function storedPropertiesSize(sourceSize: number, scan: PropertyScan, suffixSize: number): number {
  return sourceSize - scan.cutSize + (scan.endsWithSeparator || scan.lastIsCut ? 0 : 1) + suffixSize;
}

/**
 * Copies the source's pairs as they are, but for MSG_REGION, TRACE_ON, CLUSTER and POP_CK; ends them with a separator; appends `suffix`,
 * which is the broker's own pairs, ready made. Returns where it stopped. `scan` must be of these bytes.
 */
export function writeStoredProperties(
  out: Uint8Array,
  at: number,
  source: Uint8Array,
  sourceAt: number,
  sourceEnd: number,
  scan: PropertyScan,
  suffix: Uint8Array,
): number {
  let next = at;
  if (scan.cutSize === 0) {
    copyBytes(source, sourceAt, sourceEnd, out, next);
    next += sourceEnd - sourceAt;
  } else {
    next = copyUnowned(out, next, source, sourceAt, sourceEnd);
  }
  if (!scan.endsWithSeparator && !scan.lastIsCut) out[next++] = SEPARATOR;
  copyBytes(suffix, 0, suffix.length, out, next);
  return next + suffix.length;
}

/** The slow way, pair by pair. */
function copyUnowned(out: Uint8Array, at: number, source: Uint8Array, sourceAt: number, sourceEnd: number): number {
  for (let pairAt = sourceAt; pairAt < sourceEnd; ) {
    let pairEnd = pairAt;
    let nameEnd = -1;
    for (; pairEnd < sourceEnd && source[pairEnd] !== SEPARATOR; pairEnd++) if (nameEnd < 0 && source[pairEnd] === 0x01) nameEnd = pairEnd;
    const next = Math.min(pairEnd + 1, sourceEnd);
    const isPair = nameEnd > pairAt && nameEnd < pairEnd - 1;
    if (!isPair || !isBrokerOwned(source, pairAt, nameEnd)) {
      copyBytes(source, pairAt, next, out, at);
      at += next - pairAt;
    }
    pairAt = next;
  }
  return at;
}
