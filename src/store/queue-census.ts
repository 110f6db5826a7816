// What a walk over the log says about the queues: which offsets each has there, and from where on records lack their unit.
import { readUtf8 } from '../base/bytes.ts';
import { readQueueId, readQueueOffset, readSysFlag, SysFlags, topicAt, topicSize } from '../message/record-layout.ts';

export class QueueCount {
  readonly topic: string;
  readonly queueId: number;
  /** Offsets below this have their unit. */
  readonly unitsEnd: number;
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

  constructor(topic: string, queueId: number, unitsEnd: number) {
    this.topic = topic;
    this.queueId = queueId;
    this.unitsEnd = unitsEnd;
  }

  note(queueOffset: number, position: number): void {
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

export class QueueCensus {
  readonly #counts = new Map<string, QueueCount>();
  readonly #unitsEndOf: (topic: string, queueId: number) => number;
  readonly #passedTopics: ReadonlySet<string>;

  /** @param passedTopics topics whose queues are of another kind. */
  constructor(unitsEndOf: (topic: string, queueId: number) => number, passedTopics: ReadonlySet<string>) {
    this.#unitsEndOf = unitsEndOf;
    this.#passedTopics = passedTopics;
  }

  noteRecord(bytes: Uint8Array, at: number, position: number): void {
    const sysFlag = readSysFlag(bytes, at);
    const transaction = sysFlag & SysFlags.transactionMask;
    if (transaction === SysFlags.prepared || transaction === SysFlags.rollback || (sysFlag & SysFlags.innerBatch) !== 0) return;
    const topicBegin = topicAt(bytes, at);
    const topic = readUtf8(bytes, topicBegin, topicBegin + topicSize(bytes, at));
    const queueId = readQueueId(bytes, at);
    const key = `${queueId} ${topic}`;
    let count = this.#counts.get(key);
    if (count === undefined) {
      if (this.#passedTopics.has(topic)) return;
      count = new QueueCount(topic, queueId, this.#unitsEndOf(topic, queueId));
      this.#counts.set(key, count);
    }
    count.note(readQueueOffset(bytes, at), position);
  }

  get(topic: string, queueId: number): QueueCount | undefined {
    return this.#counts.get(`${queueId} ${topic}`);
  }

  all(): IterableIterator<QueueCount> {
    return this.#counts.values();
  }
}
