// All queues of a store: hands each record of the log to its queue, and looks at what is left over when the log has gone by.
import { ErrorCodes, RingmqError } from '../../base/errors.ts';
import { LMQ_PREFIX } from '../../message/names.ts';
import { queueFileSize } from '../consume-queues.ts';
import type { CheckContext, LogEnds } from './check-context.ts';
import { FileRow } from './file-row.ts';
import { QueueCheck } from './queue-check.ts';
import type { RecordFacts } from './record-facts.ts';
import { removedTopics } from './state-check.ts';
import { UnitReader } from './unit-reader.ts';

const BATCH_FOLDER = 'batchconsumequeue';
/** So much of the log's end a start compares with the queues after a clean stop, too. */
const VERIFIED_SIZE = 67_108_864;
const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

export class QueuesCheck {
  readonly #context: CheckContext;
  readonly #folder: string;
  readonly #fileSizeBytes: number;
  readonly #queues = new Map<string, QueueCheck>();
  /** Topics whose queues are of another kind. */
  readonly #passedTopics: ReadonlySet<string>;
  readonly #delaysMs: readonly number[];
  /** Position in the log at which a topic was removed. */
  readonly #removed: ReadonlyMap<string, number>;

  /** Throws RingmqError `store` where no queue file has the size that is set. */
  constructor(context: CheckContext) {
    const { files, settings, findings } = context;
    this.#context = context;
    this.#removed = removedTopics(files, settings.storePathRootDir);
    this.#folder = `${settings.storePathRootDir}/consumequeue`;
    this.#fileSizeBytes = queueFileSize(settings.mappedFileSizeConsumeQueue);
    this.#delaysMs = settings.messageDelayLevel.split(' ').map((text) => Number(text.slice(0, -1)) * (unitMs[text.slice(-1)] ?? 0));
    const batchFolder = `${settings.storePathRootDir}/${BATCH_FOLDER}`;
    this.#passedTopics = new Set(files.list(batchFolder));
    for (const topic of this.#passedTopics) {
      findings.add({ severity: 'note', kind: 'batchQueues', path: `${batchFolder}/${topic}`, where: '', seen: topic, expected: '' });
    }
    this.#load();
  }

  get count(): number {
    return this.#queues.size;
  }

  /** Topics that have a queue. */
  get topics(): ReadonlySet<string> {
    return new Set([...this.#queues.values()].map((queue) => queue.topic));
  }

  /** Offsets that a committed one must lie within; null of a queue that neither log nor files know. */
  boundsOf(topic: string, queueId: number): { readonly min: number; readonly max: number } | null {
    return this.#queues.get(nameOf(topic, queueId))?.bounds ?? null;
  }

  /** Whether some queue has a unit for just this position of the log. */
  know(position: number): boolean {
    for (const queue of this.#queues.values()) if (queue.reader.leadsTo(position)) return true;
    return false;
  }

  get holdUnits(): boolean {
    for (const { reader } of this.#queues.values()) if (reader.findEnd() > reader.indexBegin) return true;
    return false;
  }

  onRecord(record: RecordFacts): void {
    if (!record.numbered || record.position < (this.#removed.get(record.topic) ?? 0)) return;
    const name = nameOf(record.topic, record.queueId);
    let queue = this.#queues.get(name);
    if (queue === undefined) {
      if (this.#passedTopics.has(record.topic) || record.topic.includes('/')) return;
      queue = this.#open(record.topic, record.queueId);
    }
    const level = Math.min(record.delayLevel, this.#delaysMs.length);
    queue.onRecord(record, level === 0 ? 0 : record.storeTimeMs + (this.#delaysMs[level - 1] ?? 0));
  }

  /** @param configured names of topics; null: not known. */
  finish(ends: LogEnds, cutByRecovery: boolean, configured: ReadonlySet<string> | null): void {
    let beyond = Number.POSITIVE_INFINITY;
    for (const queue of this.#queues.values()) beyond = Math.min(beyond, queue.finish(ends));
    const lostBehindEnd = !this.#context.abnormal && !cutByRecovery && beyond === ends.positionMax;
    const verifiedFrom = Math.max(ends.positionMin, ends.positionMax - VERIFIED_SIZE);
    for (const queue of this.#queues.values()) {
      const removed = queue.reader.row.isEmpty && configured !== null && !configured.has(queue.topic);
      queue.report({ lostBehindEnd, verifiedFrom, removed });
    }
  }

  #load(): void {
    const { files } = this.#context;
    for (const topic of files.list(this.#folder)) {
      if (topic.startsWith(LMQ_PREFIX)) continue;
      for (const name of files.stat(`${this.#folder}/${topic}`)?.isDirectory ? files.list(`${this.#folder}/${topic}`) : []) {
        if (/^\d+$/.test(name)) this.#open(topic, Number(name));
      }
    }
    const rows = [...this.#queues.values()].map((queue) => queue.reader.row);
    const wrong = rows.find((row) => row.wrong.length > 0)?.wrong[0];
    if (wrong !== undefined && rows.every((row) => row.isEmpty)) refuse(wrong.path, wrong.sizeBytes, this.#fileSizeBytes);
    for (const row of rows) row.reportWrong(this.#context.findings);
  }

  #open(topic: string, queueId: number): QueueCheck {
    const { files, findings } = this.#context;
    const row = FileRow.read(files, `${this.#folder}/${topic}/${queueId}`, this.#fileSizeBytes, findings);
    const queue = new QueueCheck(this.#context, topic, queueId, new UnitReader(files, row));
    this.#queues.set(nameOf(topic, queueId), queue);
    return queue;
  }
}

function nameOf(topic: string, queueId: number): string {
  return `${queueId} ${topic}`;
}

function refuse(path: string, sizeBytes: number, sizeBytesSet: number): never {
  throw new RingmqError(
    ErrorCodes.store,
    'the queue files do not have the size that is set; set mappedFileSizeConsumeQueue to what the store was made with',
    { path, sizeBytes, sizeBytesSet },
  );
}
