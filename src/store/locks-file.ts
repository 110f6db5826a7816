// The file queueLocks.json: which client owns which queue locks. Only this broker has it; others ignore it.
//
//   {"owners":{"group":{"10.0.0.1@4711#5@":{"topic":[0,1]}}}}     group -> client id -> topic -> queue ids
import { compactJson } from '../base/json-writer.ts';
import type { Log } from '../base/log.ts';
import type { Files } from './files/files.ts';
import { StateFile } from './state-file.ts';
import { isJsonObject, objectsOf, parseState } from './state-json.ts';

const TABLE = 'owners';

export type StoredLocks = ReadonlyMap<string, ReadonlyMap<string, ReadonlyMap<string, readonly number[]>>>;

export class LocksFile {
  readonly #file: StateFile;

  /** @param folder the folder `config`. */
  constructor(files: Files, folder: string, log: Log) {
    this.#file = new StateFile(files, `${folder}/queueLocks.json`, log);
  }

  /** null where no queue was ever locked. */
  load(): StoredLocks | null {
    return this.#file.load((text) => {
      const owners = new Map<string, Map<string, Map<string, number[]>>>();
      for (const [group, clients] of objectsOf(parseState(text, TABLE)[TABLE])) {
        owners.set(group, new Map([...objectsOf(clients)].map(([clientId, topics]) => [clientId, queuesOf(topics)])));
      }
      return owners;
    });
  }

  save(owners: StoredLocks): void {
    this.#file.save(compactJson({ [TABLE]: owners }));
  }
}

function queuesOf(topics: unknown): Map<string, number[]> {
  const found = new Map<string, number[]>();
  if (!isJsonObject(topics)) return found;
  for (const [topic, queueIds] of Object.entries(topics)) {
    if (Array.isArray(queueIds)) found.set(topic, queueIds.map(Number).filter(Number.isSafeInteger));
  }
  return found;
}
