// The file topics.json: every topic's configuration. What a topic's members mean is not known here, so none is lost.

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

const TABLE = 'topicConfigTable';

export interface StoredTopics {
  readonly dataVersion: StoredVersion | null;
  /** By name: members as in the file (`readQueueNums`, `perm`, …). */
  readonly topics: ReadonlyMap<string, StoredMembers>;
}

export class TopicsFile {
  readonly #file: StateFile;
  #others: JsonObject = {};
  readonly #texts = new EntryTexts();

  /** @param folder the folder `config`. */
  constructor(files: Files, folder: string, log: Log) {
    this.#file = new StateFile(files, `${folder}/topics.json`, log);
  }

  /** The last load found the last but one state only. */
  get fellBack(): boolean {
    return this.#file.fellBack;
  }

  load(): StoredTopics | null {
    return this.#file.load((text) => {
      const state = parseState(text, TABLE);
      this.#others = otherMembers(state, ['dataVersion', TABLE]);
      const topics = objectsOf(state[TABLE]);
      this.#texts.load(topics);
      return { dataVersion: versionOf(state), topics };
    });
  }

  /** An object of members that comes again must still hold the same. */
  save(state: StoredTopics): void {
    const table = this.#texts.of(state.topics);
    const dataVersion = state.dataVersion === null ? null : versionMembers(state.dataVersion);
    this.#file.save(prettyJavaJson(sortedMembers(this.#others, { dataVersion, [TABLE]: table })));
  }
}
