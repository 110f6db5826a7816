// The common parts of Apache's state files: the version stamp, tables by name, tables by number, and members nobody here knows.
import { ErrorCodes, RingmqError } from '../base/errors.ts';
import { type JsonObject, parseLenient } from '../base/lenient-json.ts';

/** How often a table changed; peers re-read it when any of the three differs. */
export interface StoredVersion {
  readonly stateVersion: number;
  readonly timestamp: number;
  readonly counter: number;
}

/** Members of one entry, by name. */
export type StoredMembers = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The text's object; it must have this table, as a file without it would be taken for an empty one. */
export function parseState(text: string, table: string): JsonObject {
  const value = parseLenient(text);
  if (isJsonObject(value) && isJsonObject(value[table])) return value;
  throw new RingmqError(ErrorCodes.malformed, 'a state file lacks its table', { table });
}

export function versionOf(state: JsonObject): StoredVersion | null {
  const version = state['dataVersion'];
  if (!isJsonObject(version)) return null;
  return {
    stateVersion: toNumber(version['stateVersion']),
    timestamp: toNumber(version['timestamp']),
    counter: toNumber(version['counter']),
  };
}

/** For writing: in the alphabetical order of Java's writer. */
export function versionMembers(version: StoredVersion): StoredMembers {
  return { counter: version.counter, stateVersion: version.stateVersion, timestamp: version.timestamp };
}

export function objectsOf(table: unknown): Map<string, JsonObject> {
  const found = new Map<string, JsonObject>();
  if (isJsonObject(table)) for (const [name, value] of Object.entries(table)) if (isJsonObject(value)) found.set(name, value);
  return found;
}

/** A map with whole numbers as keys and values; what is no number is left out. */
export function numbersOf(table: unknown): Map<number, number> {
  const found = new Map<number, number>();
  if (!isJsonObject(table)) return found;
  for (const [key, value] of Object.entries(table)) {
    if (/^-?\d+$/.test(key) && /^-?\d+$/.test(String(value))) found.set(Number(key), toNumber(value));
  }
  return found;
}

/** Texts are numbers beyond 2^53, which no offset or time reaches. */
function toNumber(value: unknown): number {
  const number = Number(value ?? 0);
  return Number.isFinite(number) ? Math.min(number, Number.MAX_SAFE_INTEGER) : 0;
}

/** Members that this program does not know, to be written back as they were: newer brokers may need them. */
export function otherMembers(state: JsonObject, known: readonly string[]): JsonObject {
  const others: JsonObject = Object.create(null) as JsonObject;
  for (const [name, value] of Object.entries(state)) if (!known.includes(name)) others[name] = bareKeys(value);
  return others;
}

/** Java writes maps from numbers with bare keys, which a Map with number keys stands for. */
function bareKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(bareKeys);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(([name, member]): [string, unknown] => [name, bareKeys(member)]);
  if (members.length === 0 || !members.every(([name]) => /^-?\d+$/.test(name))) return Object.fromEntries(members);
  return new Map(members.map(([name, member]) => [Number(name), member]));
}

export function sortedMembers(...parts: readonly StoredMembers[]): Map<string, unknown> {
  const all: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const part of parts) for (const [name, value] of Object.entries(part)) if (value !== null && value !== undefined) all[name] = value;
  return new Map(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1)));
}
