// What was sent, what was acknowledged, and what a broker shows of it after it was killed: told apart message by message.
import { decodeMessages } from '../system/pulled.ts';

interface QueueRows {
  /** Offset -> name of the message that was acknowledged with it. */
  readonly acked: Map<number, string>;
  ackedEnd: number;
  /** Offsets below it were looked at. */
  checkedTo: number;
  /** Sender -> number of its newest message that was seen. */
  readonly newest: Map<string, number>;
}

/** A message's name says all of its body: `sender.number.size`. */
export function bodyOf(name: string): Buffer {
  const size = Number(name.slice(name.lastIndexOf('.') + 1));
  const text = `${name}|`;
  return Buffer.from(text.padEnd(Math.max(text.length, size), 'abcdefghijklmnopqrstuvwxyz0123456789'));
}

export class Ledger {
  readonly faults: string[] = [];
  ackedCount = 0;
  seenCount = 0;
  readonly #queues: QueueRows[];
  readonly #seen = new Set<string>();

  constructor(queueCount: number) {
    this.#queues = Array.from({ length: queueCount }, () => ({ acked: new Map(), ackedEnd: 0, checkedTo: 0, newest: new Map() }));
  }

  /** The broker has answered SUCCESS for these, which follow each other in their queue. */
  acked(queueId: number, offset: number, names: readonly string[]): void {
    const rows = this.#rows(queueId);
    for (const [i, name] of names.entries()) {
      const before = rows.acked.get(offset + i);
      if (before !== undefined)
        this.#fault(`two acknowledged messages have one offset: ${name} and ${before} queue=${queueId} offset=${offset + i}`);
      rows.acked.set(offset + i, name);
      this.ackedCount++;
    }
    rows.ackedEnd = Math.max(rows.ackedEnd, offset + names.length);
  }

  checkedTo(queueId: number): number {
    return this.#rows(queueId).checkedTo;
  }

  /** Everything is to be looked at once more. */
  forgetSeen(): void {
    this.#seen.clear();
    for (const rows of this.#queues) {
      rows.checkedTo = 0;
      rows.newest.clear();
    }
  }

  /** What a pull from `checkedTo` has brought. */
  see(queueId: number, body: Uint8Array): void {
    const rows = this.#rows(queueId);
    for (const record of decodeMessages(body)) {
      const text = Buffer.from(record.body);
      const name = text.subarray(0, Math.max(0, text.indexOf('|'))).toString();
      const where = `queue=${queueId} offset=${record.queueOffset}`;
      if (record.queueOffset !== rows.checkedTo) this.#fault(`a gap: expected offset ${rows.checkedTo} ${where}`);
      rows.checkedTo = record.queueOffset + 1;
      if (!text.equals(bodyOf(name))) this.#fault(`a body is not what was sent: ${text.subarray(0, 60)} ${where}`);
      if (this.#seen.has(name)) this.#fault(`a message is there twice: ${name} ${where}`);
      this.#seen.add(name);
      this.seenCount++;
      const promised = rows.acked.get(record.queueOffset);
      if (promised !== undefined && promised !== name) this.#fault(`${name} stands where ${promised} was acknowledged ${where}`);
      this.#checkOrder(rows, name, where);
    }
  }

  /** Nothing more is behind `checkedTo`. */
  seenAll(queueId: number, maxOffset: number): void {
    const rows = this.#rows(queueId);
    if (maxOffset !== rows.checkedTo) this.#fault(`messages end at ${rows.checkedTo}, the queue says ${maxOffset} queue=${queueId}`);
    if (rows.ackedEnd > rows.checkedTo)
      this.#fault(`acknowledged messages are lost: seen up to ${rows.checkedTo} of ${rows.ackedEnd} queue=${queueId}`);
  }

  /** One sender's messages in one queue stand in the order in which it sent them. */
  #checkOrder(rows: QueueRows, name: string, where: string): void {
    const [sender = '', number = ''] = name.split('.');
    const before = rows.newest.get(sender) ?? -1;
    if (Number(number) <= before) this.#fault(`${name} comes after number ${before} of its sender ${where}`);
    rows.newest.set(sender, Number(number));
  }

  #rows(queueId: number): QueueRows {
    const rows = this.#queues[queueId];
    if (rows === undefined) throw new Error(`no queue ${queueId}`);
    return rows;
  }

  #fault(text: string): void {
    if (this.faults.length < 20) this.faults.push(text);
  }
}
