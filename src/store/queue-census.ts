// What a walk over the log says about the queues: which offsets each has there, and from where on records lack their unit.
import { equalBytes, extendJavaHash, readUtf8 } from '../base/bytes.ts';
import { readQueueId, readQueueOffset, readSysFlag, SysFlags, topicAt, topicSize } from '../message/record-layout.ts';

export class QueueCount {
  readonly topic: string;
  readonly queueId: number;
  /** Offsets below this have their unit. */
  readonly unitsEnd: number;
  /** Records before this position are of a topic of the same name that was removed. */
  readonly from: number;
  /** Offset of the first record seen of the queue's present life; -1 before one is seen. */
  first = -1;
  /** Offset that the next record will have. */
  next = -1;
  /** Where the queue began anew; -1 while it did not. */
  restartedAt = -1;
  /** Position of the first record without a unit; -1 where all have theirs. */
  missingFrom = -1;
  /** Offsets that no record has, between others. */
  holeCount = 0;
  /** Records with an offset that an earlier one has. */
  doubleCount = 0;

  constructor(topic: string, queueId: number, unitsEnd: number, from: number) {
    this.topic = topic;
    this.queueId = queueId;
    this.unitsEnd = unitsEnd;
    this.from = from;
  }

  note(queueOffset: number, position: number): void {
    if (position < this.from) return;
    if (this.next >= 0 && queueOffset === 0) {
      // Deleted and made anew: what came before is a life that is over.
      this.restartedAt = position;
      this.first = -1;
      this.missingFrom = -1;
    } else if (queueOffset < this.next) {
      this.doubleCount++;
      return;
    } else if (this.next >= 0) {
      this.holeCount += queueOffset - this.next;
    }
    if (this.first < 0) this.first = queueOffset;
    if (this.missingFrom < 0 && queueOffset >= this.unitsEnd) this.missingFrom = position;
    this.next = queueOffset + 1;
  }
}

/** A queue as records name it: in bytes, so that a record costs no text. */
interface Row {
  readonly hash: number;
  readonly topic: Uint8Array;
  /** null for a queue of another kind. */
  readonly count: QueueCount | null;
  readonly queueId: number;
}

const ROWS_MIN = 1_024;

export class QueueCensus {
  readonly #counts = new Map<string, QueueCount>();
  /** Open addressing, at most half full. */
  #rows: (Row | undefined)[] = new Array<Row | undefined>(ROWS_MIN).fill(undefined);
  #rowCount = 0;
  readonly #unitsEndOf: (topic: string, queueId: number) => number;
  readonly #passedTopics: ReadonlySet<string>;
  readonly #removed: ReadonlyMap<string, number>;

  /**
   * @param passedTopics topics whose queues are of another kind.
   * @param removed position in the log at which a topic was removed.
   */
  constructor(
    unitsEndOf: (topic: string, queueId: number) => number,
    passedTopics: ReadonlySet<string>,
    removed: ReadonlyMap<string, number> = new Map(),
  ) {
    this.#unitsEndOf = unitsEndOf;
    this.#removed = removed;
    this.#passedTopics = passedTopics;
  }

  noteRecord(bytes: Uint8Array, at: number, position: number): void {
    const sysFlag = readSysFlag(bytes, at);
    const transaction = sysFlag & SysFlags.transactionMask;
    if (transaction === SysFlags.prepared || transaction === SysFlags.rollback || (sysFlag & SysFlags.innerBatch) !== 0) return;
    const topicBegin = topicAt(bytes, at);
    const count = this.#countOf(bytes, topicBegin, topicSize(bytes, at), readQueueId(bytes, at));
    count?.note(readQueueOffset(bytes, at), position);
  }

  get(topic: string, queueId: number): QueueCount | undefined {
    const count = this.#counts.get(`${queueId} ${topic}`);
    return count === undefined || count.next < 0 ? undefined : count;
  }

  /** Queues that have records in their present life. */
  all(): QueueCount[] {
    return [...this.#counts.values()].filter((count) => count.next >= 0);
  }

  #countOf(bytes: Uint8Array, topicBegin: number, size: number, queueId: number): QueueCount | null {
    const hash = extendJavaHash(queueId, bytes, topicBegin, topicBegin + size);
    const mask = this.#rows.length - 1;
    let slot = hash & mask;
    for (let row = this.#rows[slot]; row !== undefined; row = this.#rows[slot]) {
      const { topic } = row;
      if (row.queueId === queueId && topic.length === size && equalBytes(bytes, topicBegin, topic, 0, size)) return row.count;
      slot = (slot + 1) & mask;
    }
    return this.#add(hash, bytes, topicBegin, size, queueId);
  }

  #add(hash: number, bytes: Uint8Array, topicBegin: number, size: number, queueId: number): QueueCount | null {
    const topic = readUtf8(bytes, topicBegin, topicBegin + size);
    const count = this.#passedTopics.has(topic)
      ? null
      : new QueueCount(topic, queueId, this.#unitsEndOf(topic, queueId), this.#removed.get(topic) ?? 0);
    if (count !== null) this.#counts.set(`${queueId} ${topic}`, count);
    if (++this.#rowCount * 2 > this.#rows.length) this.#grow();
    this.#put({ hash, topic: new Uint8Array(bytes.subarray(topicBegin, topicBegin + size)), count, queueId });
    return count;
  }

  #put(row: Row): void {
    const mask = this.#rows.length - 1;
    let slot = row.hash & mask;
    while (this.#rows[slot] !== undefined) slot = (slot + 1) & mask;
    this.#rows[slot] = row;
  }

  #grow(): void {
    const before = this.#rows;
    this.#rows = new Array<Row | undefined>(before.length * 2).fill(undefined);
    for (const row of before) if (row !== undefined) this.#put(row);
  }
}
