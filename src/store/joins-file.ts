// The file groupJoins.json: when each group first subscribed to each topic. Only this broker has it; others ignore it.
//
//   {"joins":{"topic@group":{"joinedAtMs":1700000000000,"consumeFromWhere":"CONSUME_FROM_LAST_OFFSET","ends":[10,12]}}}
//   ends[queueId] = where the queue ended at that time
import { compactJson } from '../base/json-writer.ts';
import type { Log } from '../base/log.ts';
import type { Files } from './files/files.ts';
import { StateFile } from './state-file.ts';
import { objectsOf, parseState } from './state-json.ts';

const TABLE = 'joins';

export interface StoredJoin {
  readonly joinedAtMs: number;
  readonly consumeFromWhere: string;
  readonly ends: readonly number[];
}

export type StoredJoins = ReadonlyMap<string, StoredJoin>;

export class JoinsFile {
  readonly #file: StateFile;

  /** @param folder the folder `config`. */
  constructor(files: Files, folder: string, log: Log) {
    this.#file = new StateFile(files, `${folder}/groupJoins.json`, log);
  }

  load(): StoredJoins | null {
    return this.#file.load((text) => {
      const joins = new Map<string, StoredJoin>();
      for (const [key, join] of objectsOf(parseState(text, TABLE)[TABLE])) {
        const ends = join['ends'];
        joins.set(key, {
          joinedAtMs: Number(join['joinedAtMs'] ?? 0),
          consumeFromWhere: String(join['consumeFromWhere'] ?? ''),
          ends: Array.isArray(ends) ? ends.map(Number) : [],
        });
      }
      return joins;
    });
  }

  save(joins: StoredJoins): void {
    this.#file.save(compactJson({ [TABLE]: joins }));
  }
}
