// A command's fields as a small grammar: from one table come its type, its decoding with faults that name the field, and its encoding.
import { type FieldName, nameOf } from './field-plan.ts';
import type { ExtFields, Header } from './header.ts';
import { integerOf } from './header.ts';

export type Decoded<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly fault: string };

export interface Field<T> {
  /** What may stand in it, for faults. */
  readonly allowed: string;
  /** Undefined where the text is not allowed. */
  parse(text: string): T | undefined;
}
export interface RequiredField<T> extends Field<T> {
  readonly optional: false;
}
export interface OptionalField<T> extends Field<T> {
  readonly optional: true;
}
export type Grammar = Record<string, RequiredField<unknown> | OptionalField<unknown>>;

type RequiredKeys<G extends Grammar> = { [K in keyof G]: G[K] extends RequiredField<unknown> ? K : never }[keyof G];
type OptionalKeys<G extends Grammar> = { [K in keyof G]: G[K] extends OptionalField<unknown> ? K : never }[keyof G];
type ValueOf<F> = F extends Field<infer T> ? T : never;
/** The value that a grammar describes. */
export type ExtOf<G extends Grammar> = { [K in RequiredKeys<G>]: ValueOf<G[K]> } & {
  [K in OptionalKeys<G>]?: ValueOf<G[K]> | undefined;
};

const INT32_MIN = -(2 ** 31);
const INT32_MAX = 2 ** 31 - 1;
const INT64_TEXT = /^[+-]?\d{1,19}$/;
const INT64_BOUND = 2 ** 63;

/** Any text but an empty one, which counts as absent (the binary form cannot tell them apart). */
export const text: RequiredField<string> = { optional: false, allowed: 'text', parse: (value) => value };

export const int32: RequiredField<number> = {
  optional: false,
  allowed: `${INT32_MIN} to ${INT32_MAX}`,
  parse: parseInt32,
};

/** A number: rounded beyond 2^53, where only bounds such as "the end of time" are sent. */
export const int64: RequiredField<number> = { optional: false, allowed: '-2^63 to 2^63-1', parse: parseInt64 };

/** 64 bits that must come back as they were sent: the text. */
export const exactInt64: RequiredField<string> = {
  optional: false,
  allowed: '-2^63 to 2^63-1',
  parse: (value) => (parseInt64(value) === undefined ? undefined : value),
};

/** As Java reads it: everything but "true" is false. */
export const bool: RequiredField<boolean> = { optional: false, allowed: 'true, false', parse: (value) => value.toLowerCase() === 'true' };

/** Exactly one of these words, in any case. */
export function oneOf<T extends string>(...words: T[]): RequiredField<T> {
  return { optional: false, allowed: words.join(', '), parse: (value) => words.find((word) => word === value.toUpperCase()) };
}

export function optional<T>(field: RequiredField<T>): OptionalField<T> {
  return { ...field, optional: true };
}

function parseInt32(value: string): number | undefined {
  const number = parseInt64(value);
  return number === undefined || number < INT32_MIN || number > INT32_MAX ? undefined : number;
}

export function parseInt64(value: string): number | undefined {
  const quick = integerOf(value);
  if (!Number.isNaN(quick)) return quick;
  if (!INT64_TEXT.test(value)) return undefined;
  const number = Number(value);
  if (Math.abs(number) !== INT64_BOUND) return Math.abs(number) < INT64_BOUND ? number : undefined;
  const exact = BigInt(value.startsWith('+') ? value.slice(1) : value);
  return exact === BigInt.asIntN(64, exact) ? number : undefined;
}

/** The text of an int64 kept as a number; the rounded ends of its range become the ends again. */
export function integerText(value: number): string | number {
  if (Number.isSafeInteger(value)) return value;
  return String(value > 0 ? minBig(BigInt(value), 2n ** 63n - 1n) : -minBig(BigInt(-value), 2n ** 63n));
}

function minBig(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

export interface ExtCodec<T> {
  decode(header: Header): Decoded<T>;
  encode(value: T): ExtFields;
}

/** The codec of a grammar; fields have the same names on the wire as in the value. */
export function defineExt<G extends Grammar>(grammar: G): ExtCodec<ExtOf<G>> {
  const fields = Object.entries(grammar);
  return {
    decode(header) {
      const value: Record<string, unknown> = {};
      for (const [name, field] of fields) {
        const seen = header.field(name);
        if (seen === undefined || seen === '') {
          if (!field.optional) return { ok: false, fault: fieldFault(header, name, field.allowed) };
          continue;
        }
        const parsed = field.parse(seen);
        if (parsed === undefined) return { ok: false, fault: fieldFault(header, name, field.allowed) };
        value[name] = parsed;
      }
      return { ok: true, value: value as ExtOf<G> };
    },
    encode(value) {
      const ext: ExtFields = {};
      for (const [name] of fields) {
        const part = (value as Record<string, string | number | boolean | undefined>)[name];
        if (part !== undefined) ext[name] = typeof part === 'number' ? integerText(part) : part;
      }
      return ext;
    },
  };
}

const SEEN_SIZE_MAX = 100;

/** The fault of a field that is absent or not as allowed. */
export function fieldFault(header: Header, field: FieldName, allowed: string): string {
  const seen = header.field(field);
  const name = nameOf(field);
  if (seen === undefined || seen === '') return `request field is absent field=${name} allowed=${allowed}`;
  return `request field is not as allowed field=${name} seen=${seen.slice(0, SEEN_SIZE_MAX)} allowed=${allowed}`;
}

/** For hot paths: a field as an int32, NaN for a fault, which `int32Fault` then explains. */
export function int32Of(header: Header, name: FieldName): number {
  const value = header.number(name);
  return (value | 0) === value ? value : (parseInt32(header.field(name) ?? '') ?? Number.NaN);
}

/** For hot paths: a field as an int64, rounded beyond 2^53; NaN for a fault. */
export function int64Of(header: Header, name: FieldName): number {
  const value = header.number(name);
  return Number.isNaN(value) ? (parseInt64(header.field(name) ?? '') ?? Number.NaN) : value;
}

/** An int32 that may be absent; NaN for a fault. */
export function int32Or(header: Header, name: FieldName, absent: number): number {
  const value = header.number(name);
  if ((value | 0) === value) return value;
  const seen = header.field(name);
  return seen === undefined || seen === '' ? absent : (parseInt32(seen) ?? Number.NaN);
}

export function boolOf(header: Header, name: FieldName): boolean {
  const seen = header.name(name);
  return seen === 'true' || (seen !== '' && seen.toLowerCase() === 'true');
}
