// Files of which a test can fail and count the writes and syncs below one folder.
import { ErrorCodes, RingmqError } from '../../src/base/errors.ts';
import type { Files } from '../../src/store/files/files.ts';
import { type Operation, WatchedFiles } from '../faults/watched-files.ts';

export class FaultFiles extends WatchedFiles {
  failsWrites = false;
  failsSyncs = false;
  syncCount = 0;
  readonly #folder: string;

  /** @param folder only files below it are failed and counted. */
  constructor(inner: Files, folder: string) {
    super(inner);
    this.#folder = folder;
    this.watch({ before: (operation) => this.#fail(operation), after: (operation) => this.#count(operation) });
  }

  /** Of the watched files. */
  get openCount(): number {
    return this.openCountBelow(this.#folder);
  }

  #fail({ kind, path }: Operation): void {
    if (!path.startsWith(`${this.#folder}/`)) return;
    if (kind === 'write' && this.failsWrites) throw new RingmqError(ErrorCodes.io, 'write failed on purpose');
    if (kind === 'sync' && this.failsSyncs) throw new RingmqError(ErrorCodes.io, 'sync failed on purpose');
  }

  #count({ kind, path }: Operation): void {
    if (kind === 'sync' && path.startsWith(`${this.#folder}/`)) this.syncCount++;
  }
}
