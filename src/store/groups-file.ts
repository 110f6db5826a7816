// The file subscriptionGroup.json: every consumer group's configuration, and the topics that a group may not use.

import { prettyJavaJson } from '../base/json-writer.ts';
import type { JsonObject } from '../base/lenient-json.ts';
import type { Log } from '../base/log.ts';
import { EntryTexts } from './entry-texts.ts';
import type { Files } from './files/files.ts';
import { StateFile } from './state-file.ts';
import {
  objectsOf,
  otherMembers,
  parseState,
  type StoredMembers,
  type StoredVersion,
  sortedMembers,
  versionMembers,
  versionOf,
} from './state-json.ts';

const TABLE = 'subscriptionGroupTable';
const FORBIDDEN = 'forbiddenTable';

export interface StoredGroups {
  readonly dataVersion: StoredVersion | null;
  /** By name: members as in the file (`consumeEnable`, `retryMaxTimes`, …). */
  readonly groups: ReadonlyMap<string, StoredMembers>;
  /** Group -> topic -> bits of what is forbidden. */
  readonly forbidden: ReadonlyMap<string, ReadonlyMap<string, number>>;
}

export class GroupsFile {
  readonly #file: StateFile;
  #others: JsonObject = {};
  readonly #texts = new EntryTexts();

  /** @param folder the folder `config`. */
  constructor(files: Files, folder: string, log: Log) {
    this.#file = new StateFile(files, `${folder}/subscriptionGroup.json`, log);
  }

  load(): StoredGroups | null {
    return this.#file.load((text) => {
      const state = parseState(text, TABLE);
      this.#others = otherMembers(state, ['dataVersion', TABLE, FORBIDDEN]);
      const groups = objectsOf(state[TABLE]);
      this.#texts.load(groups);
      const forbidden = new Map<string, Map<string, number>>();
      for (const [group, topics] of objectsOf(state[FORBIDDEN])) {
        forbidden.set(group, new Map(Object.entries(topics).map(([topic, bits]) => [topic, Number(bits)])));
      }
      return { dataVersion: versionOf(state), groups, forbidden };
    });
  }

  /** An object of members that comes again must still hold the same. */
  save(state: StoredGroups): void {
    const table = this.#texts.of(state.groups);
    const dataVersion = state.dataVersion === null ? null : versionMembers(state.dataVersion);
    this.#file.save(prettyJavaJson(sortedMembers(this.#others, { dataVersion, [FORBIDDEN]: state.forbidden, [TABLE]: table })));
  }
}
