// The file consumerOffset.json: how far each group has read each queue.

import { prettyJavaJson } from '../base/json-writer.ts';
import type { JsonObject } from '../base/lenient-json.ts';
import type { Log } from '../base/log.ts';
import type { Files } from './files/files.ts';
import { type CommittedOffset, OffsetJournal } from './offset-journal.ts';
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
import { noTableBase, tableBaseOf } from './table-journal.ts';

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
  readonly #journal: OffsetJournal;
  #others: JsonObject = {};

  /** @param folder the folder `config`. */
  constructor(files: Files, folder: string, log: Log) {
    this.#file = new StateFile(files, `${folder}/consumerOffset.json`, log);
    this.#journal = new OffsetJournal(files, folder);
  }

  /** The table as it was written last, with what was noted since. */
  load(): StoredOffsets | null {
    let base = noTableBase;
    const stored = this.#file.load((text) => {
      const state = parseState(text, TABLE);
      this.#others = otherMembers(state, ['dataVersion', TABLE, ACCIDENT]);
      const rows = new Map<string, Map<number, number>>();
      for (const [key, offsets] of objectsOf(state[TABLE])) rows.set(key, numbersOf(offsets));
      base = tableBaseOf(text);
      return { dataVersion: versionOf(state), rows };
    });
    const noted = this.#journal.load(base);
    if (noted.length === 0) return stored;
    const rows = stored?.rows ?? new Map<string, Map<number, number>>();
    for (const { key, queueId, offset } of noted) rows.set(key, (rows.get(key) ?? new Map<number, number>()).set(queueId, offset));
    return { dataVersion: stored?.dataVersion ?? null, rows };
  }

  /** Beside the table, which is too long to be written for each commit: a kill loses none of these. */
  note(changes: readonly CommittedOffset[]): void {
    if (changes.length > 0) this.#journal.append(changes);
  }

  /** So much was noted that the table should be written. */
  get notedMany(): boolean {
    return this.#journal.isFull;
  }

  save(state: StoredOffsets): void {
    const dataVersion = state.dataVersion === null ? null : versionMembers(state.dataVersion);
    const text = prettyJavaJson(sortedMembers(this.#others, { dataVersion, [TABLE]: state.rows }));
    this.#file.save(text);
    this.#journal.begin(tableBaseOf(text));
  }

  close(): void {
    this.#journal.close();
  }
}
