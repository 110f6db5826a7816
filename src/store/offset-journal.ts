// Offsets committed since consumerOffset.json was last written: so that a process that is killed in between loses none of them.
//
//   0       4          8           12            16
//   +-------+----------+-----------+-------------+---------+---------+---
//   | magic | baseSize | base CRC  | CRC of the  | entry   | entry   | …     each append is one write; nothing is synced
//   |       |          |           | former three|         |         |
//   +-------+----------+-----------+-------------+---------+---------+---
//   entry:  payloadSize, CRC; payload: queueId, offset as i64, then `topic@group`
//
// The base is the text that the entries go on top of, by size and checksum: once another text is there, written by us or by another broker, they
// count no longer. Each entry's checksum begins with the base's, so that entries of an earlier base are none of this one.
import { crc32 } from 'node:zlib';
import { readI32, readI64, readUtf8, writeI32, writeI64 } from '../base/bytes.ts';
import type { Files } from './files/files.ts';

const MAGIC = 0x524f4a31;
const HEAD_SIZE = 16;
const ENTRY_HEAD_SIZE = 8;
const PAYLOAD_HEAD_SIZE = 12;
/** Larger than this, and the whole table should be written. */
const SIZE_MAX = 4 * 1024 * 1024;

/** Which text the entries go on top of; size 0: none was ever written. */
export interface OffsetBase {
  readonly sizeBytes: number;
  /** Unsigned. */
  readonly crc: number;
}

export const noOffsetBase: OffsetBase = { sizeBytes: 0, crc: 0 };

export function offsetBaseOf(text: string): OffsetBase {
  const bytes = Buffer.from(text);
  return { sizeBytes: bytes.length, crc: crc32(bytes) };
}

export interface CommittedOffset {
  /** `topic@group`. */
  readonly key: string;
  readonly queueId: number;
  readonly offset: number;
}

export class OffsetJournal {
  readonly #files: Files;
  readonly #folder: string;
  readonly #path: string;
  #base: OffsetBase = noOffsetBase;
  #fd = -1;
  /** Where the next entry goes; 0: the file is yet to be begun. */
  #end = 0;

  /** @param folder the folder `config`. */
  constructor(files: Files, folder: string) {
    this.#files = files;
    this.#folder = folder;
    this.#path = `${folder}/consumerOffset.journal`;
  }

  /**
   * The entries on top of this base, oldest first; none where the journal belongs to another one. Ends at the first that is not whole, and
   * what is appended later takes its place.
   */
  load(base: OffsetBase): CommittedOffset[] {
    this.begin(base);
    const stat = this.#files.stat(this.#path);
    if (stat === null || stat.sizeBytes < HEAD_SIZE) return [];
    const bytes = new Uint8Array(stat.sizeBytes);
    const fd = this.#files.open(this.#path, 'read');
    try {
      this.#files.read(fd, bytes, 0, bytes.length, 0);
    } finally {
      this.#files.close(fd);
    }
    if (!Buffer.from(bytes.subarray(0, HEAD_SIZE)).equals(headOf(base))) return [];
    const found: CommittedOffset[] = [];
    for (let at = HEAD_SIZE; at + ENTRY_HEAD_SIZE + PAYLOAD_HEAD_SIZE <= bytes.length; ) {
      const size = readI32(bytes, at);
      const payloadAt = at + ENTRY_HEAD_SIZE;
      if (size < PAYLOAD_HEAD_SIZE || payloadAt + size > bytes.length) break;
      if (readI32(bytes, at + 4) !== (crc32(bytes.subarray(payloadAt, payloadAt + size), base.crc) | 0)) break;
      const key = readUtf8(bytes, payloadAt + PAYLOAD_HEAD_SIZE, payloadAt + size);
      found.push({ key, queueId: readI32(bytes, payloadAt), offset: readI64(bytes, payloadAt + 4) });
      at = payloadAt + size;
      this.#end = at;
    }
    return found;
  }

  /** The table is written as this base: what the journal holds is in it. */
  begin(base: OffsetBase): void {
    this.#base = base;
    this.#end = 0;
  }

  get isFull(): boolean {
    return this.#end > SIZE_MAX;
  }

  /** In the system's hands when this returns: a kill does not lose it, a power cut may. Throws `io`; what it left behind is no entry. */
  append(changes: readonly CommittedOffset[]): void {
    if (this.#fd < 0 || this.#end === 0) this.#open();
    const bytes = Buffer.concat(changes.map((change) => entryOf(change, this.#base)));
    this.#files.write(this.#fd, bytes, 0, bytes.length, this.#end);
    this.#end += bytes.length;
  }

  close(): void {
    if (this.#fd >= 0) this.#files.close(this.#fd);
    this.#fd = -1;
    this.#end = 0;
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
}

function headOf(base: OffsetBase): Buffer {
  const head = Buffer.alloc(HEAD_SIZE);
  writeI32(head, 0, MAGIC);
  writeI32(head, 4, base.sizeBytes);
  writeI32(head, 8, base.crc | 0);
  writeI32(head, 12, crc32(head.subarray(0, 12)) | 0);
  return head;
}

function entryOf({ key, queueId, offset }: CommittedOffset, base: OffsetBase): Buffer {
  const name = Buffer.from(key);
  const entry = Buffer.alloc(ENTRY_HEAD_SIZE + PAYLOAD_HEAD_SIZE + name.length);
  writeI32(entry, 0, PAYLOAD_HEAD_SIZE + name.length);
  writeI32(entry, ENTRY_HEAD_SIZE, queueId);
  writeI64(entry, ENTRY_HEAD_SIZE + 4, offset);
  name.copy(entry, ENTRY_HEAD_SIZE + PAYLOAD_HEAD_SIZE);
  writeI32(entry, 4, crc32(entry.subarray(ENTRY_HEAD_SIZE), base.crc) | 0);
  return entry;
}
