// Reads fields of JSON bodies as other programs write them: numbers as text, keys with and without quotes, fields left out.
import { asBuffer } from '../../base/bytes.ts';
import { errorText } from '../../base/errors.ts';
import { compactJson } from '../../base/json-writer.ts';
import { parseLenient } from '../../base/lenient-json.ts';
import type { Decoded } from '../ext.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

export function parseBody(body: Uint8Array): Decoded<unknown> {
  return parseText(asBuffer(body).toString('utf8'));
}

export function parseText(text: string): Decoded<unknown> {
  try {
    return { ok: true, value: parseLenient(text) };
  } catch (error) {
    return { ok: false, fault: errorText(error) };
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A member of an object; undefined where `json` is none. */
export function member(json: unknown, name: string): unknown {
  return isObject(json) && Object.hasOwn(json, name) ? json[name] : undefined;
}

/** An object where a text is due counts as its JSON, as Java's reader has it. */
export function textOf(json: unknown, name: string, missing: string): string {
  const value = member(json, name);
  return value === undefined || value === null ? missing : textOfValue(value);
}

export function textOfValue(value: unknown): string {
  return typeof value === 'object' ? compactJson(value) : String(value);
}

/** A whole number; `missing` where there is none. */
export function intOf(json: unknown, name: string, missing: number): number {
  const value = member(json, name);
  if (value === undefined || value === null || value === '' || typeof value === 'object') return missing;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : missing;
}

export function boolOf(json: unknown, name: string): boolean {
  const value = member(json, name);
  return value === true || (typeof value === 'string' && value.toLowerCase() === 'true');
}

export function entriesOf(json: unknown, name: string): [string, unknown][] {
  const value = member(json, name);
  return isObject(value) ? Object.entries(value) : [];
}

export function listOf(json: unknown, name: string): readonly unknown[] {
  const value = member(json, name);
  return Array.isArray(value) ? value : [];
}

export function textListOf(json: unknown, name: string): string[] {
  return listOf(json, name).map(textOfValue);
}

/** An object whose keys are whole numbers, such as broker ids; other keys are left out. */
export function idMapOf(json: unknown, name: string): Map<number, string> {
  const map = new Map<number, string>();
  for (const [key, value] of entriesOf(json, name)) {
    const id = Number(key);
    if (Number.isSafeInteger(id) && key.trim() !== '') map.set(id, textOfValue(value));
  }
  return map;
}
