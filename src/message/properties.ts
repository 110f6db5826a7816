// The text of a message's properties as maps, and single values looked up in its bytes.
//
//   +------+------+-------+------+------+------+-------+------+
//   | name | 0x01 | value | 0x02 | name | 0x01 | value | 0x02 |  ...   UTF-8; old clients leave the last 0x02 out
//   +------+------+-------+------+------+------+-------+------+
//
// A pair without a name, a 0x01 or a value is skipped; the first 0x01 divides it; of equal names the last one counts.
import { equalBytes, readUtf8 } from '../base/bytes.ts';

export { PropertyNames, TRANSIENT_PREFIX } from './property-names.ts';
export * from './property-scan.ts';
export * from './property-store.ts';

export const NAME_VALUE_SEPARATOR = 0x01;
export const PROPERTY_SEPARATOR = 0x02;

const nameValueText = String.fromCharCode(NAME_VALUE_SEPARATOR);
const propertyText = String.fromCharCode(PROPERTY_SEPARATOR);

export function decodeProperties(b: Uint8Array, at: number, end: number): Map<string, string> {
  return parseProperties(readUtf8(b, at, end));
}

/** The same from text, which is how headers carry it. */
export function parseProperties(text: string): Map<string, string> {
  const properties = new Map<string, string>();
  for (const pair of text.split(propertyText)) {
    const nameEnd = pair.indexOf(nameValueText);
    if (nameEnd > 0 && nameEnd < pair.length - 1) properties.set(pair.slice(0, nameEnd), pair.slice(nameEnd + 1));
  }
  return properties;
}

/** Empty values are left out, because no reader would find them. Neither names nor values may hold a separator: see `reservedCharacterIn`. */
export function formatProperties(properties: ReadonlyMap<string, string>): string {
  let text = '';
  for (const [name, value] of properties) if (value !== '') text += name + nameValueText + value + propertyText;
  return text;
}

export function encodeProperties(properties: ReadonlyMap<string, string>): Buffer {
  return Buffer.from(formatProperties(properties), 'utf8');
}

/** The first name whose pair cannot be stored: it is empty, or it or its value holds a separator; null where all can. */
export function unstorableProperty(properties: ReadonlyMap<string, string>): string | null {
  for (const [name, value] of properties) {
    if (name === '' || hasSeparator(name) || hasSeparator(value)) return name;
  }
  return null;
}

function hasSeparator(text: string): boolean {
  return text.includes(nameValueText) || text.includes(propertyText);
}

/** Where the value of the last pair with this name (UTF-8) starts; -1 where there is none. It ends at `propertyValueEnd`. */
export function findProperty(b: Uint8Array, at: number, end: number, name: Uint8Array): number {
  let found = -1;
  for (let pairAt = at; pairAt < end; ) {
    const pairEnd = propertyValueEnd(b, pairAt, end);
    const valueAt = pairAt + name.length + 1;
    // The first 0x01 of the pair is the one behind the name, as no name that is looked for holds one.
    if (valueAt < pairEnd && b[valueAt - 1] === NAME_VALUE_SEPARATOR && equalBytes(b, pairAt, name, 0, name.length)) found = valueAt;
    pairAt = pairEnd + 1;
  }
  return found;
}

/** Where the value that starts at `valueAt` ends: at its separator, or at the end of all. */
export function propertyValueEnd(b: Uint8Array, valueAt: number, end: number): number {
  let i = valueAt;
  while (i < end && b[i] !== PROPERTY_SEPARATOR) i++;
  return i;
}

/** The value as text; null where there is none. */
export function readProperty(b: Uint8Array, at: number, end: number, name: string): string | null {
  const valueAt = findProperty(b, at, end, Buffer.from(name, 'utf8'));
  return valueAt < 0 ? null : readUtf8(b, valueAt, propertyValueEnd(b, valueAt, end));
}
