// The body that is a table of texts by name: key-value settings of a namespace, runtime figures of a broker.
import { compactJson } from '../../base/json-writer.ts';
import type { Decoded } from '../ext.ts';
import { entriesOf, isObject, parseBody, textOfValue } from './json-body.ts';

export function encodeKvTable(table: ReadonlyMap<string, string>): Buffer {
  return Buffer.from(compactJson({ table }));
}

export function decodeKvTable(body: Uint8Array): Decoded<Map<string, string>> {
  const parsed = parseBody(body);
  if (!parsed.ok) return parsed;
  if (!isObject(parsed.value)) return { ok: false, fault: 'body is not a table' };
  return { ok: true, value: new Map(entriesOf(parsed.value, 'table').map(([name, value]) => [name, textOfValue(value)])) };
}
