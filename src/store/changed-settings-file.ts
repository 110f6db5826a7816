// The file changedSettings.json: settings that a tool changed while the broker ran. Only this broker has it; others ignore it.
//
//   {"changes":{"fileReservedTime":{"value":"48","insteadOf":"72"}}}
import { compactJson } from '../base/json-writer.ts';
import type { Log } from '../base/log.ts';
import type { Files } from './files/files.ts';
import { StateFile } from './state-file.ts';
import { objectsOf, parseState } from './state-json.ts';

const TABLE = 'changes';

export interface StoredChange {
  readonly value: string;
  /** What the configuration said: once it says something else, that counts. */
  readonly insteadOf: string;
}

export class ChangedSettingsFile {
  readonly #file: StateFile;

  /** @param folder the folder `config`. */
  constructor(files: Files, folder: string, log: Log) {
    this.#file = new StateFile(files, `${folder}/changedSettings.json`, log);
  }

  load(): Map<string, StoredChange> | null {
    return this.#file.load((text) => {
      const changes = new Map<string, StoredChange>();
      for (const [name, change] of objectsOf(parseState(text, TABLE)[TABLE]))
        changes.set(name, { value: String(change['value'] ?? ''), insteadOf: String(change['insteadOf'] ?? '') });
      return changes;
    });
  }

  save(changes: ReadonlyMap<string, StoredChange>): void {
    this.#file.save(compactJson({ [TABLE]: changes }));
  }
}
