// What one member of a group subscribed to, and how the subscriptions of all members become the one that pulls are judged by.
import { javaHash } from '../base/bytes.ts';
import { boolOf, isObject, listOf, textListOf, textOf } from '../protocol/bodies/json-body.ts';

export interface Subscription {
  readonly topic: string;
  readonly expression: string;
  /** TAG or SQL92; clients may leave it out for TAG. */
  readonly type: string;
  readonly tags: readonly string[];
  readonly codes: readonly number[];
  /** Decimal text: some clients count in nanoseconds, beyond what a number holds exactly. */
  readonly version: string;
  readonly classFilter: boolean;
}

const versionText = /^-?\d{1,19}$/;

/** Reads one element of `subscriptionDataSet`; a text is the fault. */
export function subscriptionOf(json: unknown): Subscription | string {
  if (!isObject(json)) return 'subscription is no object';
  const topic = textOf(json, 'topic', '');
  if (topic === '') return 'subscription has no topic';
  const version = textOf(json, 'subVersion', '0');
  if (!versionText.test(version)) return `subVersion is no whole number subVersion=${version} topic=${topic}`;
  const tags = textListOf(json, 'tagsSet');
  // Some clients write the codes as text.
  const codes = listOf(json, 'codeSet').map(Number).filter(Number.isSafeInteger);
  const type = textOf(json, 'expressionType', '');
  return {
    topic,
    expression: textOf(json, 'subString', '*'),
    type: type === '' ? 'TAG' : type,
    tags,
    // The codes are what messages are compared with, so tags without one get it.
    codes: codes.length >= tags.length ? codes : tags.map(javaHash),
    version,
    classFilter: boolOf(json, 'classFilterMode'),
  };
}

/** The same in the shape in which clients and tools exchange it, but for `subVersion`, which the caller writes as a bare number. */
export function subscriptionFields(s: Subscription): Record<string, unknown> {
  return {
    classFilterMode: s.classFilter,
    codeSet: s.codes,
    expressionType: s.type,
    subString: s.expression,
    tagsSet: s.tags,
    topic: s.topic,
  };
}

export function takesAll(s: Subscription): boolean {
  return s.type === 'TAG' && (s.expression === '*' || s.expression === '');
}

/** Compares decimal texts as 64-bit numbers: below, equal or above 0. */
export function compareVersions(a: string, b: string): number {
  const aNegative = a.startsWith('-');
  if (aNegative !== b.startsWith('-')) return aNegative ? -1 : 1;
  const aDigits = a.replace(/^-?0*/, '');
  const bDigits = b.replace(/^-?0*/, '');
  const order = aDigits.length - bDigits.length || (aDigits < bDigits ? -1 : Number(aDigits > bDigits));
  return aNegative ? -order : order;
}

/** What a member reads, without versions: members of one group are meant to have the same. */
export function shapeOf(subscriptions: Iterable<Subscription>): string {
  const parts: string[] = [];
  for (const s of subscriptions) parts.push(`${s.topic}[${s.type} ${takesAll(s) ? '*' : normalExpression(s)}]`);
  return parts.sort().join(' ');
}

/** The order of tags makes no difference. */
function normalExpression(s: Subscription): string {
  if (s.type !== 'TAG') return s.expression;
  return s.expression
    .split('||')
    .map((tag) => tag.trim())
    .sort()
    .join('||');
}

export function sameSubscription(a: Subscription, b: Subscription): boolean {
  return a.version === b.version && a.expression === b.expression && a.type === b.type && a.classFilter === b.classFilter;
}

/** Takes `s` into the table where its topic is new or its version is larger; true when the table changed. */
export function mergeSubscription(table: Map<string, Subscription>, s: Subscription): boolean {
  const old = table.get(s.topic);
  if (old !== undefined && compareVersions(s.version, old.version) <= 0) return false;
  table.set(s.topic, s);
  return true;
}
