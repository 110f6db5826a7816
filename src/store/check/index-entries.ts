// Reads all entries of all index files in order, and on the way holds each file's slots, chains and header against them.
import { readI32, readI64 } from '../../base/bytes.ts';
import type { Files } from '../files/files.ts';
import { type IndexGeometry, type IndexHeader, IndexLayout, indexEntryAt, readIndexHeader } from '../index-file.ts';
import { type FindingKind, Sights } from './findings.ts';

const ENTRIES_PER_BLOCK = 4_096;
const SLOTS_PER_BLOCK = 16_384;

/** What is known of one file, and what was seen in it. */
export interface IndexSeen {
  readonly path: string;
  readonly header: IndexHeader;
  readonly sights: Sights;
}

export class IndexEntries {
  readonly seen: IndexSeen[] = [];
  /** Of the present entry, while `has`. */
  has = false;
  number = 0;
  hash = 0;
  position = 0;
  seconds = 0;
  count = 0;
  readonly #files: Files;
  readonly #geometry: IndexGeometry;
  readonly #paths: readonly string[];
  /** By slot: the number of its newest entry so far. */
  readonly #newest: Int32Array;
  readonly #block = new Uint8Array(ENTRIES_PER_BLOCK * IndexLayout.entrySize);
  #blockFrom = 0;
  #blockCount = 0;
  #nextPath = 0;
  #fd = -1;
  #usedSlots = 0;
  /** Number behind the last entry of the present file. */
  #end = 1;

  /** @param paths of files of the right size, oldest first */
  constructor(files: Files, paths: readonly string[], geometry: IndexGeometry) {
    this.#files = files;
    this.#paths = paths;
    this.#geometry = geometry;
    this.#newest = new Int32Array(paths.length === 0 ? 0 : geometry.slotCount);
    this.advance();
  }

  /** The file of the present entry. */
  get file(): IndexSeen {
    return this.seen.at(-1) as IndexSeen;
  }

  /** The present entry is the last of its file. */
  get isLast(): boolean {
    return this.number === this.#end - 1;
  }

  /** Position of the entry behind the present one; Infinity where its file has none. */
  get nextPosition(): number {
    return this.isLast ? Number.POSITIVE_INFINITY : readI64(this.#block, this.#at(this.number + 1) + IndexLayout.positionAt);
  }

  /** Goes to the next entry, maybe of the next file; `has` is false behind the last of all. */
  advance(): void {
    this.number++;
    while (this.#fd < 0 || this.number >= this.#end) {
      if (this.#fd >= 0) this.#closeFile();
      if (!this.#openFile()) {
        this.has = false;
        return;
      }
    }
    const at = this.#at(this.number);
    this.has = true;
    this.count++;
    this.hash = readI32(this.#block, at + IndexLayout.hashAt);
    this.position = readI64(this.#block, at + IndexLayout.positionAt);
    this.seconds = readI32(this.#block, at + IndexLayout.secondsAt);
    this.#link(readI32(this.#block, at + IndexLayout.beforeAt));
  }

  fault(kind: FindingKind, seen: string, expected: string): void {
    const { number, position } = this;
    this.file.sights.add(kind, () => ({ position, where: `entry=${number}`, seen, expected }));
  }

  close(): void {
    if (this.#fd >= 0) this.#files.close(this.#fd);
    this.#fd = -1;
  }

  /** Each entry leads to the one before it of the same slot. */
  #link(before: number): void {
    const slot = this.hash % this.#geometry.slotCount;
    if (this.hash < 0) {
      this.fault('indexChain', `hash=${this.hash}`, 'a hash of at least 0');
      return;
    }
    const expected = this.#newest[slot] as number;
    if (before !== expected) this.fault('indexChain', `before=${before}`, `before=${expected}`);
    if (expected === 0) this.#usedSlots++;
    this.#newest[slot] = this.number;
  }

  #openFile(): boolean {
    const path = this.#paths[this.#nextPath++];
    if (path === undefined) return false;
    const header = readIndexHeader(this.#files, path);
    const sights = new Sights();
    const { nextEntry } = header;
    // A file without an entry may have either.
    this.#end = Math.min(this.#geometry.entryCount, Math.max(1, nextEntry));
    if (nextEntry !== this.#end && nextEntry !== 0) {
      const expected = `1 to ${this.#geometry.entryCount}`;
      sights.add('indexHeader', () => ({ position: header.endPosition, where: 'header', seen: `nextEntry=${nextEntry}`, expected }));
    }
    this.seen.push({ path, header, sights });
    this.#fd = this.#files.open(path, 'read');
    this.#newest.fill(0);
    this.#usedSlots = 0;
    this.#blockCount = 0;
    this.number = 1;
    return true;
  }

  /** All entries have gone by: slots and header must agree with them. */
  #closeFile(): void {
    const { header, sights } = this.file;
    const place = { position: header.endPosition, where: 'header' };
    if (header.usedSlots !== this.#usedSlots) {
      const [seen, expected] = [`usedSlots=${header.usedSlots}`, `usedSlots=${this.#usedSlots}`];
      sights.add('indexHeader', () => ({ ...place, seen, expected }));
    }
    this.#checkSlots(sights, header.endPosition);
    this.close();
  }

  #checkSlots(sights: Sights, position: number): void {
    const { slotCount } = this.#geometry;
    const block = new Uint8Array(Math.min(SLOTS_PER_BLOCK, slotCount) * IndexLayout.slotSize);
    for (let from = 0; from < slotCount; from += SLOTS_PER_BLOCK) {
      const count = Math.min(SLOTS_PER_BLOCK, slotCount - from);
      this.#files.read(this.#fd, block, 0, count * IndexLayout.slotSize, IndexLayout.headerSize + from * IndexLayout.slotSize);
      for (let i = 0; i < count; i++) {
        const seen = readI32(block, i * IndexLayout.slotSize);
        const expected = this.#newest[from + i] as number;
        if (seen === expected) continue;
        const kind = seen >= this.#end ? 'indexSlotsAhead' : 'indexChain';
        sights.add(kind, () => ({ position, where: `slot=${from + i}`, seen: `entry=${seen}`, expected: `entry=${expected}` }));
      }
    }
  }

  /** Where in the block the entry lies; a block holds one more than its step, so that the next one is there as well. */
  #at(number: number): number {
    if (this.#blockCount === 0 || number < this.#blockFrom || number >= this.#blockFrom + this.#blockCount) this.#read(number);
    return (number - this.#blockFrom) * IndexLayout.entrySize;
  }

  #read(number: number): void {
    const count = Math.min(ENTRIES_PER_BLOCK, this.#end - number);
    this.#files.read(this.#fd, this.#block, 0, count * IndexLayout.entrySize, indexEntryAt(this.#geometry, number));
    this.#blockFrom = number;
    this.#blockCount = count;
  }
}
