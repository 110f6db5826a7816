// The file delayLevels.json: which lists of delay levels hold for messages that wait, oldest first. Apache's brokers have no such file.

import { prettyJavaJson } from '../base/json-writer.ts';
import type { Log } from '../base/log.ts';
import type { Files } from './files/files.ts';
import { StateFile } from './state-file.ts';
import { numbersOf, objectsOf, parseState } from './state-json.ts';

const TABLE = 'delayLists';

export interface StoredDelayList {
  readonly levels: string;
  /** Level -> offset in its queue of the first message that the list holds for. */
  readonly begins: ReadonlyMap<number, number>;
}

export class DelayListsFile {
  readonly #file: StateFile;

  /** @param folder the folder `config`. */
  constructor(files: Files, folder: string, log: Log) {
    this.#file = new StateFile(files, `${folder}/delayLevels.json`, log);
  }

  /** null where there is none yet. */
  load(): readonly StoredDelayList[] | null {
    return this.#file.load((text) => {
      const lists = objectsOf(parseState(text, TABLE)[TABLE]);
      return [...lists.values()].map((list) => ({ levels: String(list['levels']), begins: numbersOf(list['begins']) }));
    });
  }

  save(lists: readonly StoredDelayList[]): void {
    const table = new Map(lists.map((list, i) => [`list${String(i).padStart(2, '0')}`, { begins: list.begins, levels: list.levels }]));
    this.#file.save(prettyJavaJson({ [TABLE]: table }));
  }
}
