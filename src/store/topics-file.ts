// The file topics.json: every topic's configuration. What a topic's members mean is not known here, so none is lost.

import { prettyJavaJson, prettyJavaPart, type RawJson } from '../base/json-writer.ts';
import type { JsonObject } from '../base/lenient-json.ts';
import type { Log } from '../base/log.ts';
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
const TOPIC_DEPTH = 2;

export interface StoredTopics {
  readonly dataVersion: StoredVersion | null;
  /** By name: members as in the file (`readQueueNums`, `perm`, …). */
  readonly topics: ReadonlyMap<string, StoredMembers>;
}

export class TopicsFile {
  readonly #file: StateFile;
  #others: JsonObject = {};
  #topics: ReadonlyMap<string, JsonObject> = new Map();
  /** The text of each topic written lately: with a thousand topics making one more would cost 15 ms without it. */
  #texts = new WeakMap<StoredMembers, RawJson>();

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
      this.#topics = objectsOf(state[TABLE]);
      this.#texts = new WeakMap();
      return { dataVersion: versionOf(state), topics: this.#topics };
    });
  }

  /** An object of members that comes again must still hold the same. */
  save(state: StoredTopics): void {
    const table = new Map<string, unknown>();
    for (const [name, topic] of state.topics) table.set(name, this.#textOf(name, topic));
    const dataVersion = state.dataVersion === null ? null : versionMembers(state.dataVersion);
    this.#file.save(prettyJavaJson(sortedMembers(this.#others, { dataVersion, [TABLE]: table })));
  }

  #textOf(name: string, topic: StoredMembers): RawJson {
    let text = this.#texts.get(topic);
    if (text === undefined) {
      text = prettyJavaPart(sortedMembers(this.#topics.get(name) ?? {}, topic), TOPIC_DEPTH);
      this.#texts.set(topic, text);
    }
    return text;
  }
}
