// The file removedTopics.json: where the log ended when a topic was removed. Only this broker has it; others ignore it.
//
//   {"removed":{"topic":123456}}
import { compactJson } from '../base/json-writer.ts';
import type { JsonObject } from '../base/lenient-json.ts';
import type { Log } from '../base/log.ts';
import type { Files } from './files/files.ts';
import { StateFile } from './state-file.ts';
import { isJsonObject, parseState } from './state-json.ts';

const TABLE = 'removed';

export class RemovedTopicsFile {
  readonly #file: StateFile;

  /** @param folder the folder `config`. */
  constructor(files: Files, folder: string, log: Log) {
    this.#file = new StateFile(files, `${folder}/removedTopics.json`, log);
  }

  /** Positions by topic, in the order of their removal; empty where none was. */
  load(): Map<string, number> {
    return this.#file.load((text) => removedPositionsOf(parseState(text, TABLE))) ?? new Map();
  }

  save(positions: ReadonlyMap<string, number>): void {
    this.#file.save(compactJson({ [TABLE]: positions }));
  }
}

/** Positions by topic, of the object that the file holds. */
export function removedPositionsOf(state: JsonObject): Map<string, number> {
  const table = state[TABLE];
  const positions = Object.entries(isJsonObject(table) ? table : {}).map(([topic, position]) => [topic, Number(position)] as const);
  return new Map(positions.filter(([, position]) => Number.isSafeInteger(position)));
}
