// What was delivered of the delay levels since delayOffset.json was last written, in the file delayOffset.journal: see table-journal.ts.
//
//   0          8        16          20
//   +----------+--------+-----------+----------------------------+---
//   | recordAt | logEnd | recordCrc | level, from i64, to i64    | …      all messages of the level's queue in [from, to)
//   +----------+--------+-----------+----------------------------+---
//
// The record is the last one of the log that the rows speak of: it begins at `recordAt`, ends at `logEnd`, and its head has that checksum. A log
// that lost its end, and has grown again since, has another record there or none; then its rows are void.
import { readI32, readI64, writeI32, writeI64 } from '../base/bytes.ts';
import type { Files } from './files/files.ts';
import { type TableBase, TableJournal } from './table-journal.ts';

const HEAD_SIZE = 20;
const ROW_SIZE = 20;

/** Messages of a level's queue that are all delivered. */
export interface DeliveredStretch {
  readonly level: number;
  readonly from: number;
  /** Behind the last. */
  readonly to: number;
}

export interface DelayNote {
  readonly recordAt: number;
  readonly logEnd: number;
  /** Unsigned. */
  readonly recordCrc: number;
  readonly rows: readonly DeliveredStretch[];
}

export class DelayJournal {
  readonly #journal: TableJournal;

  /** @param folder the folder `config`. */
  constructor(files: Files, folder: string, sizeMax?: number) {
    this.#journal = new TableJournal(files, folder, 'delayOffset.journal', sizeMax);
  }

  /** What was noted on top of this base, oldest first: whether the log still has what it speaks of is not looked at. */
  load(base: TableBase): DelayNote[] {
    return this.#journal
      .load(base)
      .filter(({ length }) => length >= HEAD_SIZE)
      .map(noteOf);
  }

  /** Before the table is written without what these say. Throws `io`. */
  prepare(base: TableBase, notes: readonly DelayNote[]): void {
    this.#journal.prepare(base, notes.map(payloadOf));
  }

  /** The table is written as this base. Throws `io`, and is begun all the same. */
  begin(base: TableBase): void {
    this.#journal.begin(base);
  }

  /** It should be begun anew. */
  get isFull(): boolean {
    return this.#journal.isFull;
  }

  /** In the system's hands when this returns. Throws `io`. */
  append(note: DelayNote): void {
    this.#journal.append([payloadOf(note)]);
  }

  close(): void {
    this.#journal.close();
  }
}

function noteOf(payload: Uint8Array): DelayNote {
  const rows: DeliveredStretch[] = [];
  for (let at = HEAD_SIZE; at + ROW_SIZE <= payload.length; at += ROW_SIZE)
    rows.push({ level: readI32(payload, at), from: readI64(payload, at + 4), to: readI64(payload, at + 12) });
  return { recordAt: readI64(payload, 0), logEnd: readI64(payload, 8), recordCrc: readI32(payload, 16) >>> 0, rows };
}

function payloadOf({ recordAt, logEnd, recordCrc, rows }: DelayNote): Uint8Array {
  const payload = Buffer.alloc(HEAD_SIZE + rows.length * ROW_SIZE);
  writeI64(payload, 0, recordAt);
  writeI64(payload, 8, logEnd);
  writeI32(payload, 16, recordCrc | 0);
  rows.forEach(({ level, from, to }, i) => {
    const at = HEAD_SIZE + i * ROW_SIZE;
    writeI32(payload, at, level);
    writeI64(payload, at + 4, from);
    writeI64(payload, at + 12, to);
  });
  return payload;
}
