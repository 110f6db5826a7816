// The one door to zod: turns the text of one setting into its value, or says what is allowed.
import { z } from 'zod';
import type { SettingValue, Spec } from './spec.ts';

export type Parsed = { readonly ok: true; readonly value: SettingValue } | { readonly ok: false; readonly allowed: string };

const schemas = new WeakMap<Spec, z.ZodType<SettingValue, string>>();

function numberText(spec: Spec): z.ZodType<number, string> {
  const written = spec.kind === 'integer' ? /^[+-]?\d{1,17}$/ : /^[+-]?\d{1,17}(\.\d{1,9})?$/;
  const bounded = z
    .number()
    .gte(spec.min ?? Number.MIN_SAFE_INTEGER)
    .lte(spec.max ?? Number.MAX_SAFE_INTEGER);
  return z.string().regex(written).transform(Number).pipe(bounded);
}

function build(spec: Spec): z.ZodType<SettingValue, string> {
  switch (spec.kind) {
    case 'integer':
    case 'number':
      return numberText(spec);
    case 'boolean':
      return z
        .string()
        .toLowerCase()
        .pipe(z.enum(['true', 'false']))
        .transform((word) => word === 'true');
    case 'choice':
      return z.enum(spec.choices ?? []);
    default:
      return spec.pattern === undefined ? z.string() : z.string().regex(spec.pattern);
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
  const result = schema.safeParse(text.trim());
  return result.success ? { ok: true, value: result.data } : { ok: false, allowed: allowedText(spec) };
}
