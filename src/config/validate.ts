// The one door to valibot: turns the text of one setting into its value, or says what is allowed.
import * as v from 'valibot';
import type { SettingValue, Spec } from './spec.ts';

export type Parsed = { readonly ok: true; readonly value: SettingValue } | { readonly ok: false; readonly allowed: string };

type Schema = v.GenericSchema<string, SettingValue>;

const schemas = new WeakMap<Spec, Schema>();

function numberText(spec: Spec): Schema {
  const written = spec.kind === 'integer' ? /^[+-]?\d{1,17}$/ : /^[+-]?\d{1,17}(\.\d{1,9})?$/;
  const low = spec.min ?? Number.MIN_SAFE_INTEGER;
  const high = spec.max ?? Number.MAX_SAFE_INTEGER;
  return v.pipe(v.string(), v.regex(written), v.transform(Number), v.number(), v.minValue(low), v.maxValue(high));
}

function build(spec: Spec): Schema {
  switch (spec.kind) {
    case 'integer':
    case 'number':
      return numberText(spec);
    case 'boolean':
      return v.pipe(
        v.string(),
        v.toLowerCase(),
        v.picklist(['true', 'false']),
        v.transform((word) => word === 'true'),
      );
    case 'choice':
      return v.picklist(spec.choices ?? []);
    default:
      return spec.pattern === undefined ? v.string() : v.pipe(v.string(), v.regex(spec.pattern));
  }
}

/** What a value of this setting may be, in words that follow "must be". */
export function allowedText(spec: Spec): string {
  switch (spec.kind) {
    case 'integer': {
      const low = spec.min ?? Number.MIN_SAFE_INTEGER;
      const high = spec.max ?? Number.MAX_SAFE_INTEGER;
      if (high < Number.MAX_SAFE_INTEGER) return `a whole number from ${low} to ${high}`;
      return low > Number.MIN_SAFE_INTEGER ? `a whole number of at least ${low}` : 'a whole number';
    }
    case 'number':
      return 'a number';
    case 'boolean':
      return '"true" or "false"';
    case 'choice':
      return (spec.choices ?? []).map((word) => `"${word}"`).join(' or ');
    default:
      return spec.allowed ?? 'a text';
  }
}

export function parseValue(spec: Spec, text: string): Parsed {
  let schema = schemas.get(spec);
  if (schema === undefined) {
    schema = build(spec);
    schemas.set(spec, schema);
  }
  const result = v.safeParse(schema, text.trim());
  return result.success ? { ok: true, value: result.output } : { ok: false, allowed: allowedText(spec) };
}
