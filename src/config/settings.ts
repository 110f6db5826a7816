// The type of the settings as every actor gets them: plain values, read off the table.
import type { identitySettings, networkSettings } from './schema/identity.ts';
import type { delaySettings, transactionSettings } from './schema/later-delivery.ts';
import type { nameServerSettings } from './schema/names.ts';
import type { readSettings } from './schema/reading.ts';
import type { replicationSettings } from './schema/replication.ts';
import type { runtimeSettings } from './schema/runtime.ts';
import type { flushSettings, retentionSettings, storeSettings } from './schema/store.ts';
import type { groupSettings, sendSettings, topicSettings } from './schema/topics.ts';
import type { ValueOf } from './spec.ts';

type Table = typeof identitySettings &
  typeof networkSettings &
  typeof runtimeSettings &
  typeof storeSettings &
  typeof flushSettings &
  typeof retentionSettings &
  typeof topicSettings &
  typeof sendSettings &
  typeof readSettings &
  typeof groupSettings &
  typeof delaySettings &
  typeof transactionSettings &
  typeof replicationSettings &
  typeof nameServerSettings;

export type SettingName = keyof Table;

/** Values while they are put together; names outside the table are those of Apache's that nothing acts by. */
export type Draft = { -readonly [K in SettingName]: ValueOf<Table[K]> };

/** What an actor gets: plain values, safe to send to another thread. */
export type Settings = Readonly<Draft> & {
  /** The texts that were given, by name: also those without effect. Everything else is a default. */
  readonly given: Readonly<Record<string, string>>;
};
