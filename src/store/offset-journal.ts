// Offsets committed since consumerOffset.json was last written, in the file consumerOffset.journal: see table-journal.ts.
//
//   payload: queueId, offset as i64, then `topic@group`
import { readI32, readI64, readUtf8, writeI32, writeI64 } from '../base/bytes.ts';
import type { Files } from './files/files.ts';
import { type TableBase, TableJournal } from './table-journal.ts';

const HEAD_SIZE = 12;

export interface CommittedOffset {
  /** `topic@group`. */
  readonly key: string;
  readonly queueId: number;
  readonly offset: number;
}

export class OffsetJournal {
  readonly #journal: TableJournal;

  /** @param folder the folder `config`. */
  constructor(files: Files, folder: string) {
    this.#journal = new TableJournal(files, folder, 'consumerOffset.journal');
  }

  /** What was noted on top of this base, oldest first. Once a start has found it, a power cut does not take it any more. */
  load(base: TableBase): CommittedOffset[] {
    const payloads = this.#journal.load(base).filter(({ length }) => length >= HEAD_SIZE);
    if (payloads.length > 0) this.#journal.settle();
    return payloads.map((payload) => ({
      key: readUtf8(payload, HEAD_SIZE, payload.length),
      queueId: readI32(payload, 0),
      offset: readI64(payload, 4),
    }));
  }

  /** The table is written as this base: what the journal holds is in it. */
  begin(base: TableBase): void {
    this.#journal.begin(base);
  }

  /** The whole table should be written. */
  get isFull(): boolean {
    return this.#journal.isFull;
  }

  /** In the system's hands when this returns. Throws `io`. */
  append(changes: readonly CommittedOffset[]): void {
    this.#journal.append(changes.map(payloadOf));
  }

  close(): void {
    this.#journal.close();
  }
}

function payloadOf({ key, queueId, offset }: CommittedOffset): Uint8Array {
  const name = Buffer.from(key);
  const payload = Buffer.alloc(HEAD_SIZE + name.length);
  writeI32(payload, 0, queueId);
  writeI64(payload, 4, offset);
  name.copy(payload, HEAD_SIZE);
  return payload;
}
