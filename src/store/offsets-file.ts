// The file consumerOffset.json: how far each group has read each queue.

import { prettyJavaJson } from '../base/json-writer.ts';
import type { JsonObject } from '../base/lenient-json.ts';
import type { Log } from '../base/log.ts';
import type { Files } from './files/files.ts';
import { StateFile } from './state-file.ts';
import {
  numbersOf,
  objectsOf,
  otherMembers,
  parseState,
  type StoredVersion,
  sortedMembers,
  versionMembers,
  versionOf,
} from './state-json.ts';

const TABLE = 'offsetTable';
/** Stored by accident and read by nobody: old contents would only be wrong. */
const ACCIDENT = 'groupTopicMap';

export interface StoredOffsets {
  /** Absent in old files. */
  readonly dataVersion: StoredVersion | null;
  /** `topic@group` -> queueId -> offset of the next message to read. */
  readonly rows: ReadonlyMap<string, ReadonlyMap<number, number>>;
}

export class OffsetsFile {
  readonly #file: StateFile;
  #others: JsonObject = {};

  /** @param folder the folder `config`. */
  constructor(files: Files, folder: string, log: Log) {
    this.#file = new StateFile(files, `${folder}/consumerOffset.json`, log);
  }

  load(): StoredOffsets | null {
    return this.#file.load((text) => {
      const state = parseState(text, TABLE);
      this.#others = otherMembers(state, ['dataVersion', TABLE, ACCIDENT]);
      const rows = new Map<string, Map<number, number>>();
      for (const [key, offsets] of objectsOf(state[TABLE])) rows.set(key, numbersOf(offsets));
      return { dataVersion: versionOf(state), rows };
    });
  }

  save(state: StoredOffsets): void {
    const dataVersion = state.dataVersion === null ? null : versionMembers(state.dataVersion);
    this.#file.save(prettyJavaJson(sortedMembers(this.#others, { dataVersion, [TABLE]: state.rows })));
  }
}
