// The file offsetResets.json: resets of offsets that no member knows of yet. Only this broker has it; others ignore it.
//
//   {"resets":{"topic@group":{"0":2000,"1":1800}}}     queueId -> the offset that the group is to go on from
import { compactJson } from '../base/json-writer.ts';
import type { Log } from '../base/log.ts';
import type { Files } from './files/files.ts';
import { StateFile } from './state-file.ts';
import { numbersOf, objectsOf, parseState } from './state-json.ts';

const TABLE = 'resets';

/** `topic@group` -> queueId -> offset. */
export type StoredResets = ReadonlyMap<string, ReadonlyMap<number, number>>;

export class ResetsFile {
  readonly #file: StateFile;

  /** @param folder the folder `config`. */
  constructor(files: Files, folder: string, log: Log) {
    this.#file = new StateFile(files, `${folder}/offsetResets.json`, log);
  }

  load(): StoredResets | null {
    return this.#file.load((text) => {
      const rows = new Map<string, Map<number, number>>();
      for (const [key, offsets] of objectsOf(parseState(text, TABLE)[TABLE])) rows.set(key, numbersOf(offsets));
      return rows;
    });
  }

  save(resets: StoredResets): void {
    this.#file.save(compactJson({ [TABLE]: resets }));
  }
}
