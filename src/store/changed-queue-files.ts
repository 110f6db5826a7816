// Finds the queue files that were written since they were last synced, by their time of change: whoever writes them need not tell.
//
//   consumequeue/<topic>/<queueId>/<file>
import type { Files } from './files/files.ts';

/** A file changed so lately may change again under the same time. */
const SETTLED_MS = 2_000;

export class ChangedQueueFiles {
  readonly #files: Files;
  readonly #root: string;
  /** Path -> time of change of the contents that are on stable storage. */
  #synced = new Map<string, number>();
  /** The same of all files that the present pass has seen: what is gone is forgotten. */
  #seen = new Map<string, number>();

  constructor(files: Files, root: string) {
    this.#files = files;
    this.#root = root;
  }

  get root(): string {
    return this.#root;
  }

  /** Begins a pass: these are to be collected. */
  topics(): string[] {
    this.#seen = new Map();
    return this.#files.list(this.#root);
  }

  /** Adds the files of a topic that were changed, and the folders of new ones; all of them in the first pass. */
  collect(topic: string, into: Map<string, number>): void {
    const topicFolder = `${this.#root}/${topic}`;
    for (const queueId of this.#files.list(topicFolder)) {
      const folder = `${topicFolder}/${queueId}`;
      let fresh = false;
      for (const name of this.#files.list(folder)) {
        const path = `${folder}/${name}`;
        const stat = this.#files.stat(path);
        if (stat === null || stat.isDirectory) continue;
        const known = this.#synced.get(path);
        if (known !== undefined) this.#seen.set(path, known);
        if (known === stat.mtimeMs) continue;
        into.set(path, stat.mtimeMs);
        fresh ||= known === undefined;
      }
      if (fresh) for (const each of [folder, topicFolder, this.#root]) into.set(each, FOLDER);
    }
  }

  /** Syncs one of what was collected; nothing happens where it is gone. */
  sync(path: string, changedAtMs: number): void {
    try {
      if (changedAtMs === FOLDER) {
        this.#files.syncFolder(path);
        return;
      }
      const fd = this.#files.open(path, 'write');
      try {
        this.#files.sync(fd);
      } finally {
        this.#files.close(fd);
      }
    } catch (error) {
      if (this.#files.stat(path) !== null) throw error;
    }
  }

  /** Ends the pass: all that was collected is on stable storage. @param nowMs wall time at which the pass began. */
  confirm(collected: ReadonlyMap<string, number>, nowMs: number): void {
    for (const [path, changedAtMs] of collected) {
      if (changedAtMs === FOLDER) continue;
      this.#seen.set(path, changedAtMs < nowMs - SETTLED_MS ? changedAtMs : Number.NaN);
    }
    this.#synced = this.#seen;
  }
}

/** In the place of a file's time of change. */
const FOLDER = -1;
