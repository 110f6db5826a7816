// What changed in a table since it was last written as a whole: so that a process that is killed in between loses none of it.
//
//   0       4          8           12            16
//   +-------+----------+-----------+-------------+---------+---------+---
//   | magic | baseSize | base CRC  | CRC of the  | entry   | entry   | …     each append is one write; nothing is synced
//   |       |          |           | former three|         |         |
//   +-------+----------+-----------+-------------+---------+---------+---
//   entry:  payloadSize, CRC; payload
//
// The base is the text that the entries go on top of, by size and checksum: once another text is there, written by us or by another broker, they
// count no longer. Each entry's checksum begins with the base's, so that entries of an earlier base are none of this one.
//
// Where a table is written that lacks some of what is noted, a second file is made for it first (`prepare`) and takes the place of the first
// one afterwards: whichever table a kill in between leaves, one of the two belongs to it.
import { crc32 } from 'node:zlib';
import { readI32, writeI32 } from '../base/bytes.ts';
import type { Files } from './files/files.ts';

const MAGIC = 0x524f4a31;
const HEAD_SIZE = 16;
const ENTRY_HEAD_SIZE = 8;
/** Larger than this, and it should be begun anew. */
const SIZE_MAX = 4 * 1024 * 1024;

/** Which text the entries go on top of; size 0: none was ever written. */
export interface TableBase {
  readonly sizeBytes: number;
  /** Unsigned. */
  readonly crc: number;
}

export const noTableBase: TableBase = { sizeBytes: 0, crc: 0 };

export function tableBaseOf(text: string): TableBase {
  const bytes = Buffer.from(text);
  return { sizeBytes: bytes.length, crc: crc32(bytes) };
}

interface Found {
  readonly payloads: Uint8Array[];
  readonly end: number;
}

export class TableJournal {
  readonly #files: Files;
  readonly #folder: string;
  readonly #path: string;
  readonly #sizeMax: number;
  #base: TableBase = noTableBase;
  #fd = -1;
  /** Where the next entry goes; 0: the file is yet to be begun. */
  #end = 0;
  /** Made for a table that is yet to be written. */
  #prepared: { readonly base: TableBase; readonly fd: number; readonly end: number } | null = null;

  /** @param folder the folder `config`. @param name of the file in it. */
  constructor(files: Files, folder: string, name: string, sizeMax = SIZE_MAX) {
    this.#files = files;
    this.#folder = folder;
    this.#path = `${folder}/${name}`;
    this.#sizeMax = sizeMax;
  }

  /**
   * The payloads on top of this base, oldest first; none where the journal belongs to another one. Ends at the first that is not whole, and
   * what is appended later takes its place.
   */
  load(base: TableBase): Uint8Array[] {
    this.begin(base);
    let found = this.#find(this.#path, base);
    if (found === null) {
      found = this.#find(this.#other, base);
      if (found === null) return [];
      this.#files.rename(this.#other, this.#path);
    }
    this.#end = found.end;
    return found.payloads;
  }

  /** What a killed process noted may be in the system's cache only: it is on stable storage when this returns. */
  settle(): void {
    const fd = this.#files.open(this.#path, 'write');
    try {
      this.#files.sync(fd);
    } finally {
      this.#files.close(fd);
    }
    this.#files.syncFolder(this.#folder);
  }

  /** The table is written as this base: what the journal holds is in it, or in what was prepared for it. */
  begin(base: TableBase): void {
    const prepared = this.#prepared;
    this.#prepared = null;
    this.#base = base;
    this.#end = 0;
    if (prepared === null) return;
    if (prepared.base.crc !== base.crc || prepared.base.sizeBytes !== base.sizeBytes) {
      this.#files.close(prepared.fd);
      return;
    }
    if (this.#fd >= 0) this.#files.close(this.#fd);
    this.#fd = prepared.fd;
    this.#end = prepared.end;
    this.#files.rename(this.#other, this.#path);
  }

  /** Before a table is written that lacks these: from its first moment on they are on top of it. Throws `io`; nothing is prepared then. */
  prepare(base: TableBase, payloads: readonly Uint8Array[]): void {
    this.#forgetPrepared();
    this.#files.makeFolder(this.#folder);
    const fd = this.#files.open(this.#other, 'create');
    try {
      const bytes = Buffer.concat([headOf(base), ...payloads.map((payload) => entryOf(payload, base))]);
      this.#files.truncate(fd, 0);
      this.#files.write(fd, bytes, 0, bytes.length, 0);
      this.#prepared = { base, fd, end: bytes.length };
    } catch (error) {
      this.#files.close(fd);
      throw error;
    }
  }

  get isFull(): boolean {
    return this.#end > this.#sizeMax;
  }

  /** In the system's hands when this returns: a kill does not lose it, a power cut may. Throws `io`; what it left behind is no entry. */
  append(payloads: readonly Uint8Array[]): void {
    if (this.#fd < 0 || this.#end === 0) this.#open();
    const bytes = Buffer.concat(payloads.map((payload) => entryOf(payload, this.#base)));
    this.#files.write(this.#fd, bytes, 0, bytes.length, this.#end);
    this.#end += bytes.length;
  }

  close(): void {
    this.#forgetPrepared();
    if (this.#fd >= 0) this.#files.close(this.#fd);
    this.#fd = -1;
    this.#end = 0;
  }

  get #other(): string {
    return `${this.#path}.tmp`;
  }

  #forgetPrepared(): void {
    const prepared = this.#prepared;
    this.#prepared = null;
    if (prepared !== null) this.#files.close(prepared.fd);
  }

  /** Nothing lies behind the end: old entries there would count again once new ones reach them. */
  #open(): void {
    if (this.#fd < 0) {
      this.#files.makeFolder(this.#folder);
      this.#fd = this.#files.open(this.#path, 'create');
    }
    this.#files.truncate(this.#fd, this.#end);
    if (this.#end > 0) return;
    this.#files.write(this.#fd, headOf(this.#base), 0, HEAD_SIZE, 0);
    this.#end = HEAD_SIZE;
  }

  /** null where the file is not there or belongs to another base. */
  #find(path: string, base: TableBase): Found | null {
    const stat = this.#files.stat(path);
    if (stat === null || stat.sizeBytes < HEAD_SIZE) return null;
    const bytes = new Uint8Array(stat.sizeBytes);
    const fd = this.#files.open(path, 'read');
    try {
      this.#files.read(fd, bytes, 0, bytes.length, 0);
    } finally {
      this.#files.close(fd);
    }
    if (!Buffer.from(bytes.subarray(0, HEAD_SIZE)).equals(headOf(base))) return null;
    const payloads: Uint8Array[] = [];
    let at = HEAD_SIZE;
    while (at + ENTRY_HEAD_SIZE < bytes.length) {
      const payloadAt = at + ENTRY_HEAD_SIZE;
      const end = payloadAt + readI32(bytes, at);
      if (end <= payloadAt || end > bytes.length) break;
      const payload = bytes.subarray(payloadAt, end);
      if (readI32(bytes, at + 4) !== (crc32(payload, base.crc) | 0)) break;
      payloads.push(payload);
      at = end;
    }
    return { payloads, end: at };
  }
}

function headOf(base: TableBase): Buffer {
  const head = Buffer.alloc(HEAD_SIZE);
  writeI32(head, 0, MAGIC);
  writeI32(head, 4, base.sizeBytes);
  writeI32(head, 8, base.crc | 0);
  writeI32(head, 12, crc32(head.subarray(0, 12)) | 0);
  return head;
}

function entryOf(payload: Uint8Array, base: TableBase): Buffer {
  const entry = Buffer.alloc(ENTRY_HEAD_SIZE + payload.length);
  writeI32(entry, 0, payload.length);
  writeI32(entry, 4, crc32(payload, base.crc) | 0);
  entry.set(payload, ENTRY_HEAD_SIZE);
  return entry;
}
