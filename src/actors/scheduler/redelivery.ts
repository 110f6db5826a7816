// Makes of a waiting message's record the one that consumers get: under its real topic and queue, all else as its sender gave it.
import { RateLimit } from '../../base/rate-limit.ts';
import { bodyCrc } from '../../message/crc.ts';
import { SystemTopics } from '../../message/names.ts';
import { findProperty, PropertyNames, propertyValueEnd } from '../../message/properties.ts';
import { readDecimal } from '../../message/property-scan.ts';
import {
  BLANK_SIZE_MIN,
  checkRecord,
  propertiesAt,
  propertiesSize,
  readQueueOffset,
  readReconsumeTimes,
  readStorePort,
  readStoreTimeMs,
  readSysFlag,
  STORE_TIME_READ_SIZE,
  storeHostAt,
  storeHostSize,
} from '../../message/record.ts';
import { planCopy, type RecordCopy } from '../../message/record-copy.ts';
import { CounterIds } from '../../runtime/counters.ts';
import type { ActorContext } from '../context.ts';
import type { DirectoryTopic, TopicChange } from '../messages.ts';
import { RecordReader } from '../record-reader.ts';

const LINE_MS = 10_000;
const BUFFER_SIZE_MIN = 64 * 1024;

const names = { topic: Buffer.from(PropertyNames.realTopic), queueId: Buffer.from(PropertyNames.realQueueId) };

interface RealTopic {
  readonly name: Uint8Array;
  readonly units: number;
  readonly config: DirectoryTopic;
}

/** A copy and the queue it goes to; or why there is none, and never will be. */
export type Plan = { readonly copy: RecordCopy; readonly queueKey: number } | { readonly fault: string };

export class Redelivery {
  readonly records: RecordReader;
  readonly #context: ActorContext;
  readonly #topics = new Map<string, RealTopic>();
  readonly #head = new Uint8Array(STORE_TIME_READ_SIZE);
  readonly #dropLines = new RateLimit(LINE_MS);
  #bytes = Buffer.allocUnsafeSlow(BUFFER_SIZE_MIN);

  constructor(context: ActorContext) {
    this.#context = context;
    this.records = new RecordReader(context);
  }

  onTopic(change: TopicChange | null): void {
    if (change === null) return;
    if (change.config === null) this.#topics.delete(change.topic);
    else {
      const name = Buffer.from(change.topic, 'utf8');
      this.#topics.set(change.topic, { name, units: change.topic.length, config: change.config });
    }
  }

  forgetTopics(): void {
    this.#topics.clear();
  }

  /** The key of a queue; -1 for none. */
  queueKey(topic: string, queueId: number): number {
    return this.#topics.get(topic)?.config.keys[queueId] ?? -1;
  }

  /** Store time in ms of the record at a position; -1 where the log does not have it any more. */
  storeTimeMs(position: number): number {
    return this.records.read(position, STORE_TIME_READ_SIZE, this.#head, 0) ? readStoreTimeMs(this.#head, 0) : -1;
  }

  /** Offset in its queue of the record at a position; -1 where the log does not have it any more. */
  queueOffset(position: number): number {
    return this.records.read(position, STORE_TIME_READ_SIZE, this.#head, 0) ? readQueueOffset(this.#head, 0) : -1;
  }

  /** Checksum of the head of the record at a position, with its place in log and queue and its time; -1 where the log does not have it any more. */
  headCrc(position: number): number {
    return this.records.read(position, STORE_TIME_READ_SIZE, this.#head, 0) ? bodyCrc(this.#head, 0, STORE_TIME_READ_SIZE) : -1;
  }

  /** Valid until the next call. Throws where the log cannot be read just now. */
  plan(position: number, size: number): Plan {
    if (size > this.#bytes.length) this.#bytes = Buffer.allocUnsafeSlow(size);
    const bytes = this.#bytes;
    if (!this.records.read(position, size, bytes, 0)) return { fault: 'the log does not have it any more' };
    if (checkRecord(bytes, 0, size, true) !== size) return { fault: 'its record is damaged' };
    const at = propertiesAt(bytes, 0);
    const end = at + propertiesSize(bytes, 0);
    const topicName = textOf(bytes, at, end, names.topic);
    if (topicName === '') return { fault: 'it lacks REAL_TOPIC' };
    if (topicName === SystemTopics.half) return { fault: 'halves of transactions are not delivered by delay levels' };
    const topic = this.#topics.get(topicName);
    if (topic === undefined) return { fault: `its topic ${topicName} does not exist any more` };
    const queueId = queueIdOf(bytes, at, end, topic.config);
    const queueKey = topic.config.keys[queueId];
    if (queueKey === undefined) return { fault: `its topic ${topicName} has no queue` };
    const hostAt = storeHostAt(bytes, 0);
    const copy = planCopy(bytes, 0, {
      topic: topic.name,
      topicUnits: topic.units,
      queueId,
      sysFlag: readSysFlag(bytes, 0),
      reconsumeTimes: readReconsumeTimes(bytes, 0),
      storeHost: bytes.subarray(hostAt, hostAt + storeHostSize(bytes, 0)),
      storePort: readStorePort(bytes, 0),
      preparedPosition: 0,
      // Stock brokers leave DELAY and REAL_* in the text as well: outside of the schedule topic they mean nothing.
      drop: [],
      put: [],
    });
    // A file of the log holds a record, and the blank that may close it.
    const allowed = this.#context.settings.mappedFileSizeCommitLog - BLANK_SIZE_MIN;
    if (copy.size > allowed) return { fault: `it is too large for a file of the log size=${copy.size} allowed=${allowed}` };
    return { copy, queueKey };
  }

  /** A message that will never be delivered is counted and said. */
  drop(level: number, offset: number, position: number, fault: string): void {
    const { counters, log, clock } = this.#context;
    counters.add(CounterIds.droppedMessages, 1);
    const suppressed = this.#dropLines.admit(clock.steadyMs());
    if (suppressed >= 0) log.error('a delayed message is not delivered', { why: fault, level, offset, position, suppressed });
  }

  close(): void {
    this.records.close();
  }
}

function textOf(b: Buffer, at: number, end: number, name: Uint8Array): string {
  const valueAt = findProperty(b, at, end, name);
  return valueAt < 0 ? '' : b.toString('utf8', valueAt, propertyValueEnd(b, valueAt, end));
}

/** The queue it was sent to; where the topic has fewer by now, one of those that are left. */
function queueIdOf(b: Buffer, at: number, end: number, config: DirectoryTopic): number {
  const valueAt = findProperty(b, at, end, names.queueId);
  const sent = valueAt < 0 ? 0 : readDecimal(b, valueAt, propertyValueEnd(b, valueAt, end));
  const queueId = Number.isNaN(sent) ? 0 : Math.max(0, sent);
  return queueId < config.keys.length ? queueId : queueId % Math.max(1, config.writeQueueCount);
}
