// The file delayOffset.json: up to which message of its queue each delay level is delivered.

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
/** Unknown to Apache's brokers, which begin with the lower offset of the other table. */
const LATER = 'laterOffsetTable';

export interface StoredDelayOffsets {
  /** Absent in old files. */
  readonly dataVersion: StoredVersion | null;
  /** Delay level (from 1; its queue's id is one less) -> offset of the next message to look at. */
  readonly offsets: ReadonlyMap<number, number>;
  /** Where a level's queue is delivered in several parts (see core/delay-levels.ts): level -> where a later part begins -> its offset. */
  readonly later: ReadonlyMap<number, ReadonlyMap<number, number>>;
}

export class DelayOffsetsFile {
  readonly #file: StateFile;
  #others: JsonObject = {};

  /** @param folder the folder `config`. */
  constructor(files: Files, folder: string, log: Log) {
    this.#file = new StateFile(files, `${folder}/delayOffset.json`, log);
  }

  load(): StoredDelayOffsets | null {
    return this.#file.load((text) => {
      const state = parseState(text, TABLE);
      this.#others = otherMembers(state, ['dataVersion', TABLE, LATER]);
      return { dataVersion: versionOf(state), offsets: numbersOf(state[TABLE]), later: laterOf(state[LATER]) };
    });
  }

  save(state: StoredDelayOffsets): void {
    const dataVersion = state.dataVersion === null ? null : versionMembers(state.dataVersion);
    this.#file.save(
      prettyJavaJson(
        sortedMembers(this.#others, { dataVersion, [TABLE]: state.offsets, [LATER]: state.later.size > 0 ? state.later : null }),
      ),
    );
  }
}

function laterOf(table: unknown): Map<number, Map<number, number>> {
  return new Map([...objectsOf(table)].map(([level, offsets]) => [Number(level), numbersOf(offsets)] as const));
}
