// The text of a message's properties with some pairs taken away and others put in: for the few messages that the broker changes.
import { readUtf8 } from '../base/bytes.ts';
import { NAME_VALUE_SEPARATOR, PROPERTY_SEPARATOR, propertyValueEnd } from './properties.ts';

/** Without separators in either; a value of '' only takes a pair of that name away. */
export type PropertyPair = readonly [name: string, value: string];

const separator = Buffer.from([PROPERTY_SEPARATOR]);

/**
 * The pairs in [at, end) that stay keep their bytes and their order. @param drop names that are left out. @param put these take the place
 * of all pairs of the same name, and stand at the end.
 */
export function rewriteProperties(b: Uint8Array, at: number, end: number, drop: readonly string[], put: readonly PropertyPair[]): Buffer {
  const gone = new Set([...drop, ...put.map(([name]) => name)]);
  const parts: Uint8Array[] = [];
  for (let pairAt = at; pairAt < end; ) {
    const pairEnd = propertyValueEnd(b, pairAt, end);
    if (pairEnd > pairAt && !gone.has(nameOf(b, pairAt, pairEnd))) parts.push(b.subarray(pairAt, pairEnd), separator);
    pairAt = pairEnd + 1;
  }
  for (const [name, value] of put) if (value !== '') parts.push(Buffer.from(`${name}\x01${value}`), separator);
  return Buffer.concat(parts);
}

function nameOf(b: Uint8Array, at: number, end: number): string {
  let nameEnd = at;
  while (nameEnd < end && b[nameEnd] !== NAME_VALUE_SEPARATOR) nameEnd++;
  return readUtf8(b, at, nameEnd);
}
