// One small text of state that survives any crash: the new one is complete before the old one goes, and the last but one is kept.
//
//   save:   write name.tmp, sync   name -> name.bak   name.tmp -> name   sync folder
//   load:   name; where it is missing: name.tmp if it is whole, else name.bak; where it is damaged: name.bak
import { ErrorCodes, errorText, RingmqError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { Files } from './files/files.ts';

export class StateFile {
  readonly path: string;
  readonly #files: Files;
  readonly #log: Log;
  /** The file under its own name is damaged: it must not take the place of the good backup. */
  #damaged = false;
  /** The last load found the last but one state only. */
  fellBack = false;

  constructor(files: Files, path: string, log: Log) {
    this.#files = files;
    this.path = path;
    this.#log = log;
  }

  /**
   * null where nothing was ever saved.
   * @param parse throws where the text is not a whole state; a state that is silently empty would replay or lose everything.
   */
  load<T>(parse: (text: string) => T): T | null {
    const faults: string[] = [];
    const found = this.#try(this.path, parse, faults);
    this.fellBack = false;
    if (found !== undefined) {
      this.#settle(this.path);
      return found;
    }
    // Between the two renames of a save only the other two names are there, and the new text is whole.
    const missing = faults.length === 0;
    const others = missing ? [`${this.path}.tmp`, `${this.path}.bak`] : [`${this.path}.bak`];
    for (const other of others) {
      const value = this.#try(other, parse, faults);
      if (value === undefined) continue;
      this.#damaged = !missing;
      this.fellBack = other !== `${this.path}.tmp`;
      this.#settle(other);
      this.#log.error('a state file was missing or damaged; an earlier one is used instead', {
        path: this.path,
        used: other,
        why: faults[0] ?? 'missing',
      });
      return value;
    }
    if (faults.length === 0) return null;
    // A text that was never finished before anything else existed says nothing.
    if (missing && this.#files.stat(`${this.path}.bak`) === null) return null;
    throw new RingmqError(ErrorCodes.store, 'a state file and its backup cannot be read; restore one, or remove both to begin without', {
      path: this.path,
      why: faults.join('; '),
    });
  }

  /** What a killed process wrote may be in the system's cache only, and more will be built on it now. */
  #settle(path: string): void {
    const fd = this.#files.open(path, 'write');
    try {
      this.#files.sync(fd);
    } finally {
      this.#files.close(fd);
    }
    this.#files.syncFolder(this.#folder);
  }

  get #folder(): string {
    const end = this.path.lastIndexOf('/');
    return end < 0 ? '.' : this.path.slice(0, end);
  }

  /** The text is on stable storage when this returns. */
  save(text: string): void {
    const folder = this.#folder;
    this.#files.makeFolder(folder);
    const bytes = Buffer.from(text);
    const fd = this.#files.open(`${this.path}.tmp`, 'create');
    try {
      this.#files.truncate(fd, 0);
      this.#files.write(fd, bytes, 0, bytes.length, 0);
      this.#files.sync(fd);
    } finally {
      this.#files.close(fd);
    }
    if (!this.#damaged && this.#files.stat(this.path) !== null) this.#files.rename(this.path, `${this.path}.bak`);
    this.#files.rename(`${this.path}.tmp`, this.path);
    this.#files.syncFolder(folder);
    this.#damaged = false;
  }

  /** undefined where the file is missing, or damaged: then a fault is added. */
  #try<T>(path: string, parse: (text: string) => T, faults: string[]): T | undefined {
    const stat = this.#files.stat(path);
    if (stat === null) return undefined;
    try {
      return parse(this.#read(path, stat.sizeBytes));
    } catch (error) {
      faults.push(`${path}: ${errorText(error)}`);
      return undefined;
    }
  }

  #read(path: string, sizeBytes: number): string {
    const bytes = Buffer.alloc(sizeBytes);
    const fd = this.#files.open(path, 'read');
    try {
      this.#files.read(fd, bytes, 0, sizeBytes, 0);
    } finally {
      this.#files.close(fd);
    }
    return bytes.toString('utf8');
  }
}
