// The version stamp of a broker's topic table as it travels: {"counter":1,"stateVersion":0,"timestamp":1700000000000}.
import { compactJson } from '../../base/json-writer.ts';
import type { Decoded } from '../ext.ts';
import { intOf, isObject, parseBody } from './json-body.ts';

export interface DataVersion {
  readonly stateVersion: number;
  readonly timestamp: number;
  readonly counter: number;
}

export function dataVersionJson(version: DataVersion): Record<string, number> {
  return { counter: version.counter, stateVersion: version.stateVersion, timestamp: version.timestamp };
}

/** Missing numbers are 0, as Java's reader has it. */
export function dataVersionOf(json: unknown): DataVersion {
  return {
    stateVersion: intOf(json, 'stateVersion', 0),
    timestamp: intOf(json, 'timestamp', 0),
    counter: intOf(json, 'counter', 0),
  };
}

export function encodeDataVersion(version: DataVersion): Buffer {
  return Buffer.from(compactJson(dataVersionJson(version)));
}

export function decodeDataVersion(body: Uint8Array): Decoded<DataVersion> {
  const parsed = parseBody(body);
  if (!parsed.ok) return parsed;
  if (!isObject(parsed.value)) return { ok: false, fault: 'body is not a data version' };
  return { ok: true, value: dataVersionOf(parsed.value) };
}
