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
import { noTableBase, type TableBase, tableBaseOf } from './table-journal.ts';

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
  /** The text that was read or written last, for what is noted on top of it. */
  base: TableBase = noTableBase;

  /** @param folder the folder `config`. */
  constructor(files: Files, folder: string, log: Log) {
    this.#file = new StateFile(files, `${folder}/delayOffset.json`, log);
  }

  load(): StoredDelayOffsets | null {
    return this.#file.load((text) => {
      const state = parseState(text, TABLE);
      this.#others = otherMembers(state, ['dataVersion', TABLE, LATER]);
      this.base = tableBaseOf(text);
      return { dataVersion: versionOf(state), offsets: numbersOf(state[TABLE]), later: laterOf(state[LATER]) };
    });
  }

  /** @param before is called with the new text, as a base, before it takes the place of the former one. */
  save(state: StoredDelayOffsets, before: (base: TableBase) => void = () => {}): void {
    const dataVersion = state.dataVersion === null ? null : versionMembers(state.dataVersion);
    const later = state.later.size > 0 ? state.later : null;
    const text = prettyJavaJson(sortedMembers(this.#others, { dataVersion, [TABLE]: state.offsets, [LATER]: later }));
    const base = tableBaseOf(text);
    before(base);
    this.#file.save(text);
    this.base = base;
  }
}

function laterOf(table: unknown): Map<number, Map<number, number>> {
  return new Map([...objectsOf(table)].map(([level, offsets]) => [Number(level), numbersOf(offsets)] as const));
}
