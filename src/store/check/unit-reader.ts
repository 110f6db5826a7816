// Reads the units of one queue in order, a block at a time; it keeps no file open, so that ten thousand of them cost little.
import type { Files } from '../files/files.ts';
import { isUnit, readUnitPosition, UNIT_SIZE } from '../queue-unit.ts';
import type { FileRow } from './file-row.ts';

const UNITS_PER_BLOCK = 128;

export class UnitReader {
  readonly row: FileRow;
  /** Holds the unit of the last `at`. */
  bytes: Uint8Array = new Uint8Array(0);
  readonly #files: Files;
  readonly #unitsPerFile: number;
  /** The bytes hold the units [from, from + count). */
  #from = 0;
  #count = 0;

  constructor(files: Files, row: FileRow) {
    this.#files = files;
    this.row = row;
    this.#unitsPerFile = row.sizeBytes / UNIT_SIZE;
  }

  /** Index of the first unit that has a place in a file. */
  get indexBegin(): number {
    return this.row.positionMin / UNIT_SIZE;
  }

  /** Index behind the last place. */
  get indexEnd(): number {
    return this.row.positionEnd / UNIT_SIZE;
  }

  /** Index of the first place in the last file. */
  get lastFileBegin(): number {
    return this.row.isEmpty ? 0 : this.indexEnd - this.#unitsPerFile;
  }

  /** Where in `bytes` the unit lies, until the next call; -1 where no file holds it. */
  at(index: number): number {
    if (index < this.#from || index >= this.#from + this.#count) {
      if (!this.row.holds(index * UNIT_SIZE)) return -1;
      this.#read(index);
    }
    return (index - this.#from) * UNIT_SIZE;
  }

  isUnitAt(index: number): boolean {
    const at = this.at(index);
    return at >= 0 && isUnit(this.bytes, at);
  }

  /** Index behind the last unit, as a start finds it: units without a gap are taken for granted. */
  findEnd(): number {
    for (let file = this.indexEnd - this.#unitsPerFile; file >= this.indexBegin; file -= this.#unitsPerFile) {
      if (this.isUnitAt(file)) return this.#firstWhere(file, file + this.#unitsPerFile, (index) => !this.isUnitAt(index));
    }
    return this.indexBegin;
  }

  /** Whether some unit leads to just this position: by halving, as positions rise. */
  leadsTo(position: number): boolean {
    const end = this.findEnd();
    const index = this.#firstWhere(this.indexBegin, end, (each) => {
      const at = this.at(each);
      return at < 0 || readUnitPosition(this.bytes, at) >= position;
    });
    const at = index < end ? this.at(index) : -1;
    return at >= 0 && readUnitPosition(this.bytes, at) === position;
  }

  #firstWhere(low: number, high: number, is: (index: number) => boolean): number {
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (is(middle)) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  #read(index: number): void {
    const within = index % this.#unitsPerFile;
    const block = within - (within % UNITS_PER_BLOCK);
    const count = Math.min(UNITS_PER_BLOCK, this.#unitsPerFile - block);
    if (this.bytes.length === 0) this.bytes = new Uint8Array(UNITS_PER_BLOCK * UNIT_SIZE);
    this.bytes.fill(0);
    const fd = this.#files.open(this.row.path(index * UNIT_SIZE), 'read');
    try {
      this.#files.read(fd, this.bytes, 0, count * UNIT_SIZE, block * UNIT_SIZE);
    } finally {
      this.#files.close(fd);
    }
    this.#from = index - within + block;
    this.#count = count;
  }
}
