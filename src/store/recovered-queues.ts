// The queues of a store at its start: which of their units can be trusted, and where the log must be read again for them.
import { type ConsumeQueue, UNIT_SIZE } from './consume-queue.ts';
import { ConsumeQueues } from './consume-queues.ts';
import type { Files } from './files/files.ts';
import { QueueCensus, type QueueCount } from './queue-census.ts';
import { readUnitPosition, readUnitSize } from './queue-unit.ts';
import type { RecordProbe } from './record-probe.ts';

/** The folder of queues of another kind (batches in one record), which are left as they are. */
const BATCH_FOLDER = 'batchconsumequeue';
/** Among thousands of queues the very first record behind a position is not worth looking for. */
const NEAR_SIZE = 1_048_576;

export interface RecoveredQueue {
  readonly topic: string;
  readonly queueId: number;
  readonly offsetMin: number;
  /** Offset of the next message that is appended. */
  readonly offsetNext: number;
  /** Records of its name before this position in the log are of a topic that was removed. */
  readonly from: number;
}

export class RecoveredQueues {
  readonly warnings: string[] = [];
  readonly #queues: ConsumeQueues;
  readonly #byName = new Map<string, ConsumeQueue>();
  readonly #probe: RecordProbe;
  readonly #positionMin: number;
  readonly #batchTopics: ReadonlySet<string>;
  readonly #removed: ReadonlyMap<string, number>;
  readonly #unit = new Uint8Array(UNIT_SIZE);
  #verifiedFrom = -1;

  /**
   * @param written see ConsumeQueues
   * @param removed position in the log at which a topic was removed
   */
  constructor(
    files: Files,
    folder: string,
    fileSizeBytes: number,
    probe: RecordProbe,
    positionMin: number,
    written: boolean,
    removed: ReadonlyMap<string, number> = new Map(),
  ) {
    this.#removed = removed;
    this.#queues = new ConsumeQueues(files, folder, fileSizeBytes, undefined, written);
    this.#probe = probe;
    this.#positionMin = positionMin;
    let key = 0;
    for (const topic of files.list(folder)) {
      for (const name of files.list(`${folder}/${topic}`)) {
        if (!/^\d+$/.test(name)) continue;
        const queue = this.#queues.open(key++, topic, Number(name));
        // While its file is open: among thousands each later look would open it anew.
        queue.logPositionEnd();
        this.#byName.set(nameOf(topic, Number(name)), queue);
      }
    }
    this.#dropFormerLives();
    const batchFolder = folder.replace(/[^/]*$/, BATCH_FOLDER);
    this.#batchTopics = new Set(files.list(batchFolder));
    for (const topic of this.#batchTopics) this.warnings.push(`batch queues are not served; they are left as they are: topic=${topic}`);
  }

  newCensus(): QueueCensus {
    return new QueueCensus((topic, queueId) => this.#byName.get(nameOf(topic, queueId))?.offsetMax ?? 0, this.#batchTopics, this.#removed);
  }

  /** End in the log of the newest message that any queue knows; -1 where none knows any. */
  logPositionEnd(): number {
    let end = -1;
    for (const [, queue] of this.#queues.all()) end = Math.max(end, queue.logPositionEnd());
    return end;
  }

  /** Start of some record at or not far behind this position that a queue knows; the log's start where none does. */
  recordStartFrom(position: number): number {
    let start = Number.POSITIVE_INFINITY;
    for (const [, queue] of this.#queues.all()) {
      if (start < position + NEAR_SIZE) break;
      const offset = queue.offsetAtOrBehind(position);
      if (offset >= queue.offsetMin && offset < queue.offsetMax) start = Math.min(start, queue.positionOf(offset));
    }
    return start === Number.POSITIVE_INFINITY ? this.#positionMin : start;
  }

  /** Units of records at or behind the position go. */
  cutTo(position: number): void {
    for (const [, queue] of this.#queues.all()) queue.truncateTo(position);
  }

  /**
   * Cuts each queue behind its last unit that points at a sound record of just this place in just this queue. Returns from where
   * on the log must be read for what was cut; Infinity where nothing was. Looks only once.
   */
  verifyTails(): number {
    if (this.#verifiedFrom >= 0) return this.#verifiedFrom;
    let from = Number.POSITIVE_INFINITY;
    for (const [, queue] of this.#queues.all()) from = Math.min(from, this.#verifyTail(queue));
    this.#verifiedFrom = from;
    return from;
  }

  /** Where the earliest record lies that has no unit; Infinity where all have theirs. Queues that live again lose their old units. */
  missingFrom(census: QueueCensus): number {
    let from = Number.POSITIVE_INFINITY;
    for (const count of census.all()) {
      if (this.#livesAgain(count)) {
        this.#byName.get(nameOf(count.topic, count.queueId))?.remove();
        from = Math.min(from, count.restartedAt);
      } else if (count.missingFrom >= 0) {
        from = Math.min(from, count.missingFrom);
      }
    }
    return from;
  }

  /** Where to walk from to find the records in front of the walk that lack units; Infinity where there can be none. */
  earliestGap(census: QueueCensus): number {
    let from = Number.POSITIVE_INFINITY;
    for (const count of census.all()) {
      if (count.restartedAt >= 0 || count.first <= count.unitsEnd) continue;
      const queue = this.#byName.get(nameOf(count.topic, count.queueId));
      from = Math.min(from, Math.max(this.#positionMin, queue?.logPositionEnd() ?? -1));
    }
    return from;
  }

  /** Brings min offsets up to the log's start, syncs what was changed where that is wanted, and lists all queues of files and log. */
  finish(census: QueueCensus, sync: boolean): RecoveredQueue[] {
    const found: RecoveredQueue[] = [];
    this.#queues.correctMin(this.#positionMin);
    for (const count of census.all()) this.#dropDead(count);
    for (const [, queue] of this.#queues.all()) {
      const count = census.get(queue.topic, queue.queueId);
      const offsetNext = count === undefined ? queue.offsetMax : Math.max(count.next, count.restartedAt >= 0 ? 0 : queue.offsetMax);
      const offsetMin = queue.offsetMax === 0 ? Math.max(0, count?.first ?? 0) : queue.offsetMin;
      found.push({ topic: queue.topic, queueId: queue.queueId, offsetMin, offsetNext, from: this.#removed.get(queue.topic) ?? 0 });
    }
    for (const count of census.all()) {
      if (count.holeCount > 0) this.#warn('messages are missing in the log', count, count.holeCount);
      if (count.doubleCount > 0) this.#warn('offsets occur twice in the log; the first message has it', count, count.doubleCount);
      if (this.#byName.has(nameOf(count.topic, count.queueId))) continue;
      found.push({ topic: count.topic, queueId: count.queueId, offsetMin: count.first, offsetNext: count.next, from: count.from });
    }
    this.#queues.flushAll();
    if (sync) this.#queues.syncAll();
    return found;
  }

  close(): void {
    this.#queues.close();
  }

  /** A queue of which the log holds nothing below a later record begins anew there. */
  #dropDead(count: QueueCount): void {
    const queue = this.#byName.get(nameOf(count.topic, count.queueId));
    if (queue === undefined || queue.offsetMin < queue.offsetMax || count.first <= queue.offsetMax) return;
    queue.remove();
  }

  /** The process may have ended between the note that a topic is removed and the removal of its queues. */
  #dropFormerLives(): void {
    for (const queue of this.#byName.values()) {
      const from = this.#removed.get(queue.topic) ?? 0;
      if (queue.offsetMax > queue.offsetMin && queue.positionOf(queue.offsetMin) < from) queue.remove();
    }
  }

  #livesAgain(count: QueueCount): boolean {
    const queue = this.#byName.get(nameOf(count.topic, count.queueId));
    if (count.restartedAt < 0 || queue === undefined || queue.offsetMax === 0) return count.restartedAt >= 0;
    return queue.offsetMin > 0 || queue.positionOf(0) < count.restartedAt;
  }

  #verifyTail(queue: ConsumeQueue): number {
    const { offsetMax } = queue;
    if (offsetMax === 0) return Number.POSITIVE_INFINITY;
    const topic = Buffer.from(queue.topic);
    const first = queue.offsetAtOrBehind(0);
    if (this.#isSound(queue, topic, offsetMax - 1)) return Number.POSITIVE_INFINITY;
    let sound = first - 1;
    let unsound = offsetMax - 1;
    for (let step = 1; unsound > first; step *= 2) {
      const offset = Math.max(first, unsound - step);
      if (this.#isSound(queue, topic, offset)) {
        sound = offset;
        break;
      }
      unsound = offset;
    }
    while (unsound - sound > 1) {
      const middle = Math.floor((sound + unsound) / 2);
      if (this.#isSound(queue, topic, middle)) sound = middle;
      else unsound = middle;
    }
    const low = sound + 1;
    queue.cutTo(low);
    this.warnings.push(
      `units that point at no record of their queue were cut: topic=${queue.topic} queueId=${queue.queueId} count=${offsetMax - low}`,
    );
    return Math.max(this.#positionMin, queue.logPositionEnd());
  }

  /** Also true of a unit whose record is older than the log. */
  #isSound(queue: ConsumeQueue, topic: Uint8Array, offset: number): boolean {
    const isLast = offset === queue.offsetMax - 1;
    if (!isLast && queue.readUnits(offset, 1, this.#unit, 0) !== 1) return false;
    const position = isLast ? queue.lastPosition() : readUnitPosition(this.#unit, 0);
    if (position < this.#positionMin) return true;
    return this.#probe.holds(position, isLast ? queue.lastSize() : readUnitSize(this.#unit, 0), topic, queue.queueId, offset);
  }

  #warn(text: string, count: QueueCount, howMany: number): void {
    this.warnings.push(`${text}: topic=${count.topic} queueId=${count.queueId} count=${howMany}`);
  }
}

function nameOf(topic: string, queueId: number): string {
  return `${queueId} ${topic}`;
}
