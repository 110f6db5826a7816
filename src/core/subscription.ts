// What one member of a group subscribed to, and how the subscriptions of all members become the one that pulls are judged by.
import type { SubscriptionData } from '../protocol/bodies/subscription-data.ts';

export type Subscription = SubscriptionData;

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

/** The same with how it reads, where that is not what most do: by itself, or every message to every member. */
export function memberShapeOf(subscriptions: Iterable<Subscription>, messageModel: string, consumeType: string): string {
  const model = messageModel === 'CLUSTERING' ? '' : ` ${messageModel}`;
  const type = consumeType === 'CONSUME_PASSIVELY' ? '' : ` ${consumeType}`;
  return shapeOf(subscriptions) + model + type;
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
