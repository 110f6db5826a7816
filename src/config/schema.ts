// The settings table: every name RingMQ knows, by family.
import { foreignFamilies } from './schema/foreign.ts';
import { identitySettings, networkSettings } from './schema/identity.ts';
import { delaySettings, transactionSettings } from './schema/later-delivery.ts';
import { nameServerSettings } from './schema/names.ts';
import { readSettings } from './schema/reading.ts';
import { replicationSettings } from './schema/replication.ts';
import { runtimeSettings } from './schema/runtime.ts';
import { flushSettings, retentionSettings, storeSettings } from './schema/store.ts';
import { groupSettings, sendSettings, topicSettings } from './schema/topics.ts';
import type { Draft, SettingName } from './settings.ts';
import { type Effect, flag, integer, type SettingValue, type Spec, text } from './spec.ts';

export interface Family {
  readonly title: string;
  readonly settings: Readonly<Record<string, Spec>>;
}

export const families: readonly Family[] = [
  { title: 'Who the broker is', settings: identitySettings },
  { title: 'Network and name servers', settings: networkSettings },
  { title: 'Actors and memory (only RingMQ)', settings: runtimeSettings },
  { title: 'Store', settings: storeSettings },
  { title: 'Flushing', settings: flushSettings },
  { title: 'Retention', settings: retentionSettings },
  { title: 'Topics', settings: topicSettings },
  { title: 'Sending', settings: sendSettings },
  { title: 'Pulling, filters and queries', settings: readSettings },
  { title: 'Groups and clients', settings: groupSettings },
  { title: 'Delayed and timed messages', settings: delaySettings },
  { title: 'Transactions', settings: transactionSettings },
  { title: 'Replication', settings: replicationSettings },
  { title: 'Name server', settings: nameServerSettings },
];

/** Older spellings, by the name that they became. */
export const aliases: Readonly<Record<string, SettingName>> = {
  mapedFileSizeCommitLog: 'mappedFileSizeCommitLog',
  mapedFileSizeConsumeQueue: 'mappedFileSizeConsumeQueue',
  mappedFileSizeBatchConsumeQueue: 'mapperFileSizeBatchConsumeQueue',
  haSlaveFallbehindMax: 'haMaxGapNotInSync',
};

function foreignSpec(value: string, meaning: string, effect: Effect): Spec {
  if (value === 'true' || value === 'false') return flag(value === 'true', meaning, effect);
  if (/^-?\d+$/.test(value)) return integer(Number(value), '', meaning, { effect, min: Number.MIN_SAFE_INTEGER });
  if (/^-?\d+\.\d+$/.test(value)) return { kind: 'number', default: Number(value), meaning, effect };
  return text(value, meaning, { effect });
}

function buildSpecs(): Map<string, Spec> {
  const specs = new Map<string, Spec>();
  for (const family of families) for (const [name, spec] of Object.entries(family.settings)) specs.set(name, spec);
  for (const family of foreignFamilies) {
    for (const word of family.words.trim().split(/\s+/)) {
      const cut = word.indexOf('=');
      specs.set(word.slice(0, cut), foreignSpec(word.slice(cut + 1), family.meaning, family.effect));
    }
  }
  return specs;
}

/** Every known name, the settings of Apache's that nothing acts by included. */
export const specs: ReadonlyMap<string, Spec> = buildSpecs();

/** The defaults of the table; derived ones are not yet computed. */
export function defaultDraft(): Draft {
  const draft: Record<string, SettingValue> = {};
  for (const family of families) for (const [name, spec] of Object.entries(family.settings)) draft[name] = spec.default;
  return draft as unknown as Draft;
}
