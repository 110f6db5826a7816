// The checker's view of a simulated broker's store while nobody runs on it.
import { assert } from '../../src/base/assert.ts';
import type { Settings } from '../../src/config/settings.ts';
import { checkStore, type Severity } from '../../src/store/check/check-store.ts';
import type { Files } from '../../src/store/files/files.ts';

export class StoreLook {
  /** Of the last broker that started; null before there is one. */
  settings: Settings | null = null;
  readonly #files: Files;

  constructor(files: Files) {
    this.#files = files;
  }

  /** Findings of these severities fail. */
  expectNo(...severities: Severity[]): void {
    if (this.settings === null) return;
    const found = checkStore(this.#files, this.settings).findings.filter(({ severity }) => severities.includes(severity));
    assert(found.length === 0, `the checker finds ${JSON.stringify(found)}`);
  }
}
