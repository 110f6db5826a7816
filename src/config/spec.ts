// The shape of one row of the settings table, and short builders to write rows with.

export type SettingValue = number | boolean | string;

/**
 * used: RingMQ acts by it. accepted: Apache's brokers know it, RingMQ has nothing it could change. later: belongs to a feature
 * that RingMQ does not have yet.
 */
export type Effect = 'used' | 'accepted' | 'later';

export type Kind = 'integer' | 'number' | 'boolean' | 'text' | 'choice' | 'path' | 'name' | 'count';

export interface Spec<T extends SettingValue = SettingValue> {
  readonly kind: Kind;
  readonly default: T;
  readonly meaning: string;
  readonly effect: Effect;
  readonly unit?: Unit;
  /** Bounds of a number, both allowed. */
  readonly min?: number;
  readonly max?: number;
  readonly choices?: readonly string[];
  /** What a text must look like, with the words that say so. */
  readonly pattern?: RegExp;
  readonly allowed?: string;
  /** How the default comes about where it depends on other settings or on the host; the rules compute it. */
  readonly derived?: string;
}

export type Unit = 'ms' | 's' | 'h' | 'bytes' | '%' | 'pages' | '';

export interface Extra {
  readonly min?: number;
  readonly max?: number;
  readonly effect?: Effect;
  readonly derived?: string;
}

const HUGE = Number.MAX_SAFE_INTEGER;

/** A whole number of at least 0 unless `extra.min` says otherwise. */
export function integer(value: number, unit: Unit, meaning: string, extra: Extra = {}): Spec<number> {
  return { kind: 'integer', default: value, unit, meaning, effect: 'used', min: 0, max: HUGE, ...extra };
}

export function flag(value: boolean, meaning: string, effect: Effect = 'used'): Spec<boolean> {
  return { kind: 'boolean', default: value, meaning, effect };
}

/** One of a few words; the type of the value is their union. */
export function choice<const C extends string>(
  choices: readonly C[],
  value: NoInfer<C>,
  meaning: string,
  effect: Effect = 'used',
): Spec<C> {
  return { kind: 'choice', default: value, choices, meaning, effect };
}

export function text(value: string, meaning: string, extra: Partial<Spec<string>> = {}): Spec<string> {
  return { kind: 'text', default: value, meaning, effect: 'used', ...extra };
}

/** A file or folder; a lone backslash in a settings file is warned of. */
export function path(value: string, meaning: string, extra: Partial<Spec<string>> = {}): Spec<string> {
  return { kind: 'path', default: value, meaning, effect: 'used', ...extra };
}

/** A name that becomes part of topic names, and so takes their characters only. */
export function name(value: string, meaning: string): Spec<string> {
  const pattern = /^[%|a-zA-Z0-9_-]{1,100}$/;
  return { kind: 'name', default: value, meaning, effect: 'used', pattern, allowed: '1 to 100 of the characters a-z A-Z 0-9 _ - % |' };
}

/** How many actors of a kind: `auto`, a number, or a ratio per core such as `0.5x`. */
export function actorCount(value: string, meaning: string): Spec<string> {
  const pattern = /^(auto|[1-9]\d{0,2}|(\d{1,2}|\d{0,2}\.\d{1,3})x)$/;
  return {
    kind: 'count',
    default: value,
    meaning,
    effect: 'used',
    pattern,
    allowed: '"auto", a number from 1 to 999, or a ratio per core such as "0.5x"',
  };
}

/** The value type that a row stands for. */
export type ValueOf<S> = S extends Spec<infer T> ? T : never;
