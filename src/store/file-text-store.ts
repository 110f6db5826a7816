// One small text kept in a file: written beside it, synced and renamed over it, so that a crash leaves the old or the new one.
import type { Files } from './files/files.ts';

export class FileTextStore {
  readonly #files: Files;
  readonly #path: string;

  constructor(files: Files, path: string) {
    this.#files = files;
    this.#path = path;
  }

  /** null where nothing was saved yet. */
  load(): string | null {
    const stat = this.#files.stat(this.#path);
    if (stat === null) return null;
    const bytes = Buffer.alloc(stat.sizeBytes);
    const fd = this.#files.open(this.#path, 'read');
    try {
      this.#files.read(fd, bytes, 0, bytes.length, 0);
    } finally {
      this.#files.close(fd);
    }
    return bytes.toString('utf8');
  }

  /** The text is on stable storage when this returns. */
  save(text: string): void {
    const folder = this.#path.slice(0, Math.max(0, this.#path.lastIndexOf('/')));
    if (folder !== '') this.#files.makeFolder(folder);
    const bytes = Buffer.from(text, 'utf8');
    const fd = this.#files.open(`${this.#path}.tmp`, 'create');
    try {
      this.#files.truncate(fd, 0);
      this.#files.write(fd, bytes, 0, bytes.length, 0);
      this.#files.sync(fd);
    } finally {
      this.#files.close(fd);
    }
    this.#files.rename(`${this.#path}.tmp`, this.#path);
    if (folder !== '') this.#files.syncFolder(folder);
  }
}
