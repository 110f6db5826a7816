// Looks at single records of the log wherever a unit, an index entry or a doubt points to.
import { checkRecord } from '../../message/record-check.ts';
import { BLANK_SIZE_MIN, readTotalSize } from '../../message/record-layout.ts';
import { hasTornTopic } from '../../message/record-torn.ts';
import type { Files } from '../files/files.ts';
import { LogReader } from '../log-reader.ts';
import type { FileRow } from './file-row.ts';
import { RecordFacts } from './record-facts.ts';

/** The three bytes that the magics of all versions of records begin with; they lie behind the four of the size. */
const magicStart = Buffer.from([0xda, 0xa3, 0x20]);
const SIZE_SIZE = 4;
const SCAN_SIZE = 1_048_576;
const zeros = Buffer.alloc(SCAN_SIZE);

export class RecordLook {
  readonly #files: Files;
  readonly #row: FileRow;
  readonly #reader: LogReader;
  readonly #facts = new RecordFacts();
  #bytes = Buffer.allocUnsafeSlow(65_536);

  constructor(files: Files, row: FileRow) {
    this.#files = files;
    this.#row = row;
    this.#reader = new LogReader(files, row.folder, row.sizeBytes, { blockSizeBytes: 16_384, blockCount: 32 });
    // Nothing changes while the store is checked.
    this.#reader.setStable(row.positionEnd);
  }

  /** Where the log begins. */
  get positionMin(): number {
    return this.#row.positionMin;
  }

  /** The sound record that begins there and says so itself; null where there is none. Valid until the next call. */
  at(position: number): RecordFacts | null {
    const room = this.#row.fileEnd(position) - position;
    if (position < 0 || room < BLANK_SIZE_MIN || !this.#row.holds(position)) return null;
    const size = this.#read(position, BLANK_SIZE_MIN) ? readTotalSize(this.#bytes, 0) : 0;
    if (size < BLANK_SIZE_MIN || size > room || !this.#read(position, size)) return null;
    const checked = checkRecord(this.#bytes, 0, size, true);
    if (checked <= 0 || hasTornTopic(this.#bytes, 0)) return null;
    this.#facts.read(this.#bytes, 0, checked, position);
    return this.#facts.storedPosition === position ? this.#facts : null;
  }

  /** The size that the 8 bytes there give, whatever they are; 0 where nothing can be read. */
  sizeAt(position: number): number {
    return this.#read(position, BLANK_SIZE_MIN) ? readTotalSize(this.#bytes, 0) : 0;
  }

  /** Position of the first sound record behind this one, also in later files; -1 where there is none. */
  firstBehind(position: number): number {
    let from = position + 1;
    for (let file = position; file >= 0; file = this.#row.fileAfter(file), from = file) {
      if (!this.#row.holds(file)) continue;
      const found = this.#firstInFile(file, from);
      if (found >= 0) return found;
    }
    return -1;
  }

  /** Position of the first byte at or behind this one in its file that is not zero; -1 where all are. */
  firstUsed(position: number): number {
    const end = this.#row.fileEnd(position);
    const start = end - this.#row.sizeBytes;
    return this.#scan(this.#row.path(position), position - start, (block, size, at) => {
      if (block.compare(zeros, 0, size, 0, size) === 0) return -1;
      return start + at + block.findIndex((byte) => byte !== 0);
    });
  }

  close(): void {
    this.#reader.close();
  }

  #firstInFile(file: number, from: number): number {
    const start = this.#row.fileEnd(file) - this.#row.sizeBytes;
    return this.#scan(this.#row.path(file), from - start, (block, size, at) => {
      const part = block.subarray(0, size);
      for (let i = part.indexOf(magicStart); i >= 0; i = part.indexOf(magicStart, i + 1)) {
        const position = start + at + i - SIZE_SIZE;
        if (position >= from && this.at(position) !== null) return position;
      }
      return -1;
    });
  }

  /** Reads a file in blocks that overlap a little, until `find` gives something. */
  #scan(path: string, from: number, find: (block: Buffer, size: number, at: number) => number): number {
    const overlap = magicStart.length - 1;
    const block = Buffer.allocUnsafe(Math.min(SCAN_SIZE, this.#row.sizeBytes));
    const fd = this.#files.open(path, 'read');
    try {
      for (let at = from; ; ) {
        const size = this.#files.read(fd, block, 0, block.length, at);
        const found = find(block, size, at);
        if (found >= 0) return found;
        if (size < block.length || size <= overlap) return -1;
        at += size - overlap;
      }
    } finally {
      this.#files.close(fd);
    }
  }

  #read(position: number, size: number): boolean {
    if (this.#bytes.length < size) this.#bytes = Buffer.allocUnsafeSlow(size);
    return this.#reader.read(position, size, this.#bytes, 0);
  }
}
