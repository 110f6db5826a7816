// One index file: finds the positions of messages by the hash of a key, as a table of slots with chains of entries behind it.
//
//   0         8       16              24            32          36          40        40+S*4
//   +---------+-------+---------------+-------------+-----------+-----------+---------+---------+---------+--
//   | beginMs | endMs | beginPosition | endPosition | usedSlots | nextEntry | S slots | entry 0 | entry 1 | ...
//   |     i64 |   i64 |           i64 |         i64 |       i32 |       i32 |  i32... | unused  |         |
//   +---------+-------+---------------+-------------+-----------+-----------+---------+---------+---------+--
//
//   entry  0       4          12         16       20
//          +-------+----------+----------+--------+
//          | hash  | position | seconds  | before |      seconds: since beginMs; before: number of the slot's entry before this
//          |   i32 |      i64 |      i32 |    i32 |
//          +-------+----------+----------+--------+
//
// A slot holds the number of its newest entry. Entries are appended through a buffer; slots and header are written on flush:
// after the machine stopped uncleanly the file is deleted and made again from the log; after a kill it is taken as of its last flush, which
// therefore writes entries first and the header last.
import { assert } from '../base/assert.ts';
import { readI32, readI64, writeI32, writeI64 } from '../base/bytes.ts';
import type { Files } from './files/files.ts';
import { IndexSlots } from './index-slots.ts';

const BEGIN_MS_AT = 0;
const END_MS_AT = BEGIN_MS_AT + 8;
const BEGIN_POSITION_AT = END_MS_AT + 8;
const END_POSITION_AT = BEGIN_POSITION_AT + 8;
const USED_SLOTS_AT = END_POSITION_AT + 8;
const NEXT_ENTRY_AT = USED_SLOTS_AT + 4;
const HEADER_SIZE = NEXT_ENTRY_AT + 4;
const SLOT_SIZE = 4;

const HASH_AT = 0;
const POSITION_AT = HASH_AT + 4;
const SECONDS_AT = POSITION_AT + 8;
const BEFORE_AT = SECONDS_AT + 4;
const ENTRY_SIZE = BEFORE_AT + 4;
assert(HEADER_SIZE === 40 && ENTRY_SIZE === 20, 'index layout');

const BUFFER_ENTRIES = 1_024;
const SECONDS_MAX = 0x7fff_ffff;
/** Times in a file are whole seconds, rounded down. */
const RESOLUTION_MS = 1_000;

export interface IndexGeometry {
  readonly slotCount: number;
  /** A file is full one entry before this, as entry 0 is never used. */
  readonly entryCount: number;
}

export function indexFileSize(geometry: IndexGeometry): number {
  return indexEntryAt(geometry, geometry.entryCount);
}

/** Where in its file an entry lies. */
export function indexEntryAt(geometry: IndexGeometry, number: number): number {
  return HEADER_SIZE + geometry.slotCount * SLOT_SIZE + number * ENTRY_SIZE;
}

/** For those who read a file without opening it for writing. */
export const IndexLayout = {
  headerSize: HEADER_SIZE,
  slotSize: SLOT_SIZE,
  entrySize: ENTRY_SIZE,
  hashAt: HASH_AT,
  positionAt: POSITION_AT,
  secondsAt: SECONDS_AT,
  beforeAt: BEFORE_AT,
} as const;

/** As it is in the file, whatever that is. */
export interface IndexHeader {
  readonly beginMs: number;
  readonly endMs: number;
  readonly beginPosition: number;
  readonly endPosition: number;
  readonly usedSlots: number;
  readonly nextEntry: number;
}

export function readIndexHeader(files: Files, path: string): IndexHeader {
  const header = new Uint8Array(HEADER_SIZE);
  const fd = files.open(path, 'read');
  try {
    files.read(fd, header, 0, HEADER_SIZE, 0);
  } finally {
    files.close(fd);
  }
  return {
    beginMs: readI64(header, BEGIN_MS_AT),
    endMs: readI64(header, END_MS_AT),
    beginPosition: readI64(header, BEGIN_POSITION_AT),
    endPosition: readI64(header, END_POSITION_AT),
    usedSlots: readI32(header, USED_SLOTS_AT),
    nextEntry: readI32(header, NEXT_ENTRY_AT),
  };
}

export class IndexFile {
  readonly path: string;
  beginMs = 0;
  endMs = 0;
  beginPosition = 0;
  endPosition = 0;
  usedSlots = 0;
  nextEntry = 1;
  readonly #files: Files;
  readonly #geometry: IndexGeometry;
  readonly #slots: IndexSlots;
  readonly #entry = new Uint8Array(ENTRY_SIZE);
  /** Holds the entries from this number on. */
  #buffer: Uint8Array | null = null;
  #bufferFrom = 1;
  #dirty = false;
  #fd = -1;

  private constructor(files: Files, path: string, geometry: IndexGeometry) {
    this.#files = files;
    this.path = path;
    this.#geometry = geometry;
    this.#slots = new IndexSlots(files, HEADER_SIZE, geometry.slotCount);
  }

  /** Begins with the end of the file before it, until its own first entry. */
  static create(files: Files, path: string, geometry: IndexGeometry, endMs: number, endPosition: number): IndexFile {
    const file = new IndexFile(files, path, geometry);
    file.beginMs = file.endMs = endMs;
    file.beginPosition = file.endPosition = endPosition;
    file.#fd = files.open(path, 'create');
    try {
      files.truncate(file.#fd, indexFileSize(geometry));
      file.#dirty = true;
      file.flush();
    } catch (error) {
      file.release();
      files.remove(path);
      throw error;
    }
    return file;
  }

  static open(files: Files, path: string, geometry: IndexGeometry): IndexFile {
    const file = new IndexFile(files, path, geometry);
    const header = readIndexHeader(files, path);
    file.beginMs = header.beginMs;
    file.endMs = header.endMs;
    file.beginPosition = header.beginPosition;
    file.endPosition = header.endPosition;
    file.usedSlots = header.usedSlots;
    file.nextEntry = Math.min(geometry.entryCount, Math.max(1, header.nextEntry));
    file.#bufferFrom = file.nextEntry;
    return file;
  }

  /** Something of it is in memory only. */
  get isDirty(): boolean {
    return this.#dirty;
  }

  get isFull(): boolean {
    return this.nextEntry >= this.#geometry.entryCount;
  }

  insert(hash: number, position: number, timeMs: number): void {
    assert(!this.isFull, 'room for an entry');
    const fd = this.#open();
    const number = this.nextEntry;
    if (number - this.#bufferFrom === BUFFER_ENTRIES) this.#flushEntries(fd);
    this.#buffer ??= new Uint8Array(BUFFER_ENTRIES * ENTRY_SIZE);
    if (number === 1) {
      this.beginMs = timeMs;
      this.beginPosition = position;
    }
    let before = this.#slots.exchange(fd, hash % this.#geometry.slotCount, number);
    if (before <= 0 || before >= number) before = 0;
    const seconds = this.beginMs <= 0 ? 0 : Math.floor((timeMs - this.beginMs) / RESOLUTION_MS);
    const at = (number - this.#bufferFrom) * ENTRY_SIZE;
    writeI32(this.#buffer, at + HASH_AT, hash);
    writeI64(this.#buffer, at + POSITION_AT, position);
    writeI32(this.#buffer, at + SECONDS_AT, Math.max(0, Math.min(seconds, SECONDS_MAX)));
    writeI32(this.#buffer, at + BEFORE_AT, before);
    if (before === 0) this.usedSlots++;
    this.nextEntry = number + 1;
    this.endMs = timeMs;
    this.endPosition = position;
    this.#dirty = true;
  }

  /** Adds positions of entries with this hash and about these times, the newest first, until there are `countMax`. */
  collect(hash: number, beginMs: number, endMs: number, countMax: number, found: Set<number>): void {
    const fd = this.#open();
    let number = this.#readSlot(fd, hash % this.#geometry.slotCount);
    // A chain leads to ever older entries; a damaged one must not lead in circles.
    for (let left = this.nextEntry; left > 0 && number > 0 && number < this.nextEntry && found.size < countMax; left--) {
      this.#readEntry(fd, number);
      const seconds = readI32(this.#entry, SECONDS_AT);
      if (seconds < 0) return;
      // Other brokers count the first entry's seconds from the file before.
      const timeMs = number === 1 ? this.beginMs : this.beginMs + seconds * RESOLUTION_MS;
      if (timeMs + RESOLUTION_MS <= beginMs) return;
      if (readI32(this.#entry, HASH_AT) === hash && timeMs <= endMs) found.add(readI64(this.#entry, POSITION_AT));
      const before = readI32(this.#entry, BEFORE_AT);
      if (before === number) return;
      number = before;
    }
  }

  flush(): void {
    if (!this.#dirty) return;
    const fd = this.#open();
    this.#flushEntries(fd);
    this.#slots.flush(fd);
    const header = new Uint8Array(HEADER_SIZE);
    writeI64(header, BEGIN_MS_AT, this.beginMs);
    writeI64(header, END_MS_AT, this.endMs);
    writeI64(header, BEGIN_POSITION_AT, this.beginPosition);
    writeI64(header, END_POSITION_AT, this.endPosition);
    writeI32(header, USED_SLOTS_AT, this.usedSlots);
    writeI32(header, NEXT_ENTRY_AT, this.nextEntry);
    this.#files.write(fd, header, 0, HEADER_SIZE, 0);
    this.#dirty = false;
  }

  /** After a kill in the midst of a flush: slots that lead to entries which the header does not count are led back to those before. */
  mend(): void {
    const fd = this.#open();
    this.#slots.mend(fd, this.nextEntry, (number) => {
      this.#readEntry(fd, number);
      return readI32(this.#entry, BEFORE_AT);
    });
    this.release();
  }

  sync(): void {
    this.#files.sync(this.#open());
  }

  /** Closes the descriptor; it is opened again when it is needed. */
  release(): void {
    if (this.#fd >= 0) this.#files.close(this.#fd);
    this.#fd = -1;
  }

  #flushEntries(fd: number): void {
    const count = this.nextEntry - this.#bufferFrom;
    const at = indexEntryAt(this.#geometry, this.#bufferFrom);
    if (count > 0 && this.#buffer !== null) this.#files.write(fd, this.#buffer, 0, count * ENTRY_SIZE, at);
    this.#bufferFrom = this.nextEntry;
  }

  /** Of a full file nothing is kept in memory. */
  #readSlot(fd: number, slot: number): number {
    if (this.#dirty || !this.isFull) return this.#slots.get(fd, slot);
    this.#files.read(fd, this.#entry, 0, SLOT_SIZE, HEADER_SIZE + slot * SLOT_SIZE);
    return readI32(this.#entry, 0);
  }

  #readEntry(fd: number, number: number): void {
    const buffered = number - this.#bufferFrom;
    if (buffered >= 0 && this.#buffer !== null) {
      this.#entry.set(this.#buffer.subarray(buffered * ENTRY_SIZE, (buffered + 1) * ENTRY_SIZE));
    } else {
      this.#files.read(fd, this.#entry, 0, ENTRY_SIZE, indexEntryAt(this.#geometry, number));
    }
  }

  #open(): number {
    if (this.#fd < 0) this.#fd = this.#files.open(this.path, 'write');
    return this.#fd;
  }
}
