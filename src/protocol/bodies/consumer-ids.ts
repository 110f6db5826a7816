// The ids of a group's members, exactly as the members sent them: `{"consumerIdList":["ip@pid",…]}`.
import { compactJson } from '../../base/json-writer.ts';
import type { Decoded } from '../ext.ts';
import { isObject, parseBody, textListOf } from './json-body.ts';

export function encodeConsumerIds(clientIds: readonly string[]): Buffer {
  return Buffer.from(compactJson({ consumerIdList: clientIds }));
}

export function decodeConsumerIds(body: Uint8Array): Decoded<string[]> {
  const parsed = parseBody(body);
  if (!parsed.ok) return parsed;
  if (!isObject(parsed.value)) return { ok: false, fault: 'body is not a list of consumer ids' };
  return { ok: true, value: textListOf(parsed.value, 'consumerIdList') };
}
