// One consume queue: the messages of a (topic, queueId) in order, each as a 20-byte unit that says where it lies in the log.
//
//   index:   offsetMin                 flushed        offsetMax
//            |------- in files --------|--- in ring --|
//                          |------------ ring --------|     the newest 64 units; those in files too are read from here all the same
//
// Units are written when the ring's end is reached or on flush: a write per message would cost more than all else.
import { assert } from '../base/assert.ts';
import { copyBytes } from '../base/copy-bytes.ts';
import { SystemTopics } from '../message/names.ts';
import { findQueueBounds } from './queue-bounds.ts';
import { QueueFiles, type QueueSpace } from './queue-files.ts';
import { firstAtOrAfter, lastAtOrBefore, type StoreTimeOf, type TimedQueue } from './queue-time-search.ts';
import { FILLER_SIZE, isFiller, isUnit, readUnitPosition, readUnitSize, UNIT_SIZE, writeUnit } from './queue-unit.ts';
import type { UnitBlocks } from './unit-blocks.ts';

export { UNIT_SIZE } from './queue-unit.ts';

const RING_COUNT = 64;
const one = new Uint8Array(UNIT_SIZE);

/** Taken; held already; taken as the first message of a queue that was made anew; refused, as messages before it are not there. */
export type QueueAppend = 'appended' | 'repeated' | 'restarted' | 'gap';

/** Queues with units that are in no file yet. */
export type DirtyQueues = Set<ConsumeQueue>;

export class ConsumeQueue implements TimedQueue {
  readonly topic: string;
  readonly queueId: number;
  /** Its messages wait for a delay level: their codes are the times at which they are due. */
  readonly isSchedule: boolean;
  /** Offset of the first message that can be read. */
  offsetMin = 0;
  /** Offset of the next message. */
  offsetMax = 0;
  readonly #key: number;
  readonly #files: QueueFiles;
  readonly #blocks: UnitBlocks;
  readonly #dirty: DirtyQueues;
  /** Where the log began when the min offset was last looked at. */
  #logMin = 0;
  /** Units before this index are in files. */
  #flushed = 0;
  /** The ring holds the units from here on, as far as it reaches back. */
  #ringFrom = 0;
  #ring: Uint8Array | null = null;
  /** The unit before this index was read: of thousands of queues that are looked at again and again, each is opened once. */
  #lastEnd = 0;
  #lastPosition = 0;
  #lastSize = 0;

  constructor(space: QueueSpace, dirty: DirtyQueues, key: number, topic: string, queueId: number) {
    this.topic = topic;
    this.queueId = queueId;
    this.isSchedule = topic === SystemTopics.schedule;
    this.#key = key;
    this.#files = new QueueFiles(space, key, topic, queueId);
    this.#blocks = space.blocks;
    this.#dirty = dirty;
  }

  /** Takes over what the files hold. */
  load(): void {
    this.#files.load();
    const { begin, end } = findQueueBounds(this.#files);
    if (begin === end) {
      // Fillers or an empty file and no message: Apache's recovery would misread it, so it begins anew.
      if (this.#files.fileCount > 0) this.#files.remove();
      this.#setBounds(0, 0);
      return;
    }
    this.#setBounds(begin, end);
    if (end <= this.#files.indexEnd - this.#files.unitsPerFile) this.#files.cut(end);
  }

  get fileCount(): number {
    return this.#files.fileCount;
  }

  append(index: number, position: number, size: number, tagsCode: number): QueueAppend {
    let outcome: QueueAppend = 'appended';
    if (index !== this.offsetMax) {
      outcome = this.#judge(index, position);
      if (outcome === 'repeated' || outcome === 'gap') return outcome;
    }
    const slot = index % RING_COUNT;
    // Before anything changes: where this write fails, the same append can be tried again.
    if (slot === 0 && this.#flushed < index) this.flush();
    if (this.#ring === null) {
      this.#ring = new Uint8Array(RING_COUNT * UNIT_SIZE);
      this.#ringFrom = index;
      if (index === 0 && this.#files.fileCount === 0) this.#files.announceFirst();
    }
    writeUnit(this.#ring, slot * UNIT_SIZE, position, size, tagsCode);
    if (this.#flushed === index) this.#dirty.add(this);
    this.offsetMax = index + 1;
    return outcome;
  }

  /** Puts fillers in the place of messages that the log does not have: a queue's offsets are those of its records. */
  skipTo(index: number): void {
    if (this.offsetMax === 0) return;
    while (this.offsetMax < index) this.append(this.offsetMax, 0, FILLER_SIZE, 0);
  }

  /** Writes what is in no file yet. */
  flush(): void {
    const ring = this.#ring;
    while (ring !== null && this.#flushed < this.offsetMax) {
      const slot = this.#flushed % RING_COUNT;
      const count = Math.min(this.offsetMax - this.#flushed, RING_COUNT - slot);
      this.#files.write(this.#flushed, count, ring, slot * UNIT_SIZE);
      this.#flushed += count;
    }
    this.#dirty.delete(this);
  }

  /** Copies up to `count` units from an offset on; returns how many there were within [offsetMin, offsetMax). */
  readUnits(fromIndex: number, count: number, into: Uint8Array, at: number): number {
    if (fromIndex < this.offsetMin || fromIndex >= this.offsetMax) return 0;
    const total = Math.min(count, this.offsetMax - fromIndex);
    const ringFrom = Math.max(this.#ringFrom, this.offsetMax - RING_COUNT);
    const fromFiles = Math.min(total, Math.max(0, ringFrom - fromIndex));
    if (fromFiles > 0) this.#blocks.read(this.#files, this.#key, fromIndex, fromFiles, this.#flushed, into, at);
    if (fromFiles < total) this.#readRing(fromIndex + fromFiles, total - fromFiles, into, at + fromFiles * UNIT_SIZE);
    return total;
  }

  positionOf(offset: number): number {
    assert(this.readUnits(offset, 1, one, 0) === 1, 'an offset of the queue');
    return readUnitPosition(one, 0);
  }

  firstAtOrAfter(timeMs: number, timeOf: StoreTimeOf): number {
    return firstAtOrAfter(this, timeMs, timeOf);
  }

  lastAtOrBefore(timeMs: number, timeOf: StoreTimeOf): number {
    return lastAtOrBefore(this, timeMs, timeOf);
  }

  /** The log begins at this position now: the min offset moves up, and files of which nothing is left go. The last file stays. */
  correctMin(logPositionMin: number): void {
    this.raiseMin(logPositionMin);
    while (this.hasExpiredFile) this.deleteExpiredFile();
  }

  /** The log begins at this position now: the min offset moves up. Costs nothing where the position is the one of the last call. */
  raiseMin(logPositionMin: number): void {
    if (logPositionMin === this.#logMin) return;
    this.#logMin = logPositionMin;
    if (this.offsetMin < this.offsetMax && this.isBelow(this.offsetMin, logPositionMin))
      this.offsetMin = this.#firstAtOrBehind(logPositionMin, this.offsetMin);
  }

  /** Nothing of its first file can be read any more, and it is not the last one. */
  get hasExpiredFile(): boolean {
    return this.#files.fileCount > 1 && this.offsetMin >= this.#files.indexBegin + this.#files.unitsPerFile;
  }

  deleteExpiredFile(): void {
    assert(this.hasExpiredFile, 'an expired file');
    this.#files.deleteFirst();
  }

  /** True where the message at an offset in [offsetMin, offsetMax) lies before this position of the log, or is a gap. */
  isBelow(offset: number, logPosition: number): boolean {
    this.#readAny(offset);
    return readUnitPosition(one, 0) < logPosition;
  }

  /** The log ends at this position now: later units go. Where no unit is left, the queue begins anew. */
  truncateTo(logPosition: number): void {
    // Most of thousands of queues lie before the position as a whole: one look at the last unit instead of a search.
    if (this.offsetMax === 0 || (this.lastPosition() < logPosition && this.#lastSize > 0 && this.#lastSize !== FILLER_SIZE)) return;
    this.cutTo(this.offsetAtOrBehind(logPosition));
  }

  /** Offset of the first message that lies at or behind a position in the log, also one below the min offset; the max offset if none. */
  offsetAtOrBehind(logPosition: number): number {
    return this.#firstAtOrBehind(logPosition, this.#firstKept());
  }

  /** Where the log goes on behind the last message; -1 of a queue without one. */
  logPositionEnd(): number {
    return this.offsetMax === 0 ? -1 : this.lastPosition() + this.#lastSize;
  }

  /** Where the last message lies, of a queue that has one. */
  lastPosition(): number {
    if (this.#lastEnd !== this.offsetMax) {
      this.#readAny(this.offsetMax - 1);
      this.#lastPosition = readUnitPosition(one, 0);
      this.#lastSize = readUnitSize(one, 0);
      this.#lastEnd = this.offsetMax;
    }
    return this.#lastPosition;
  }

  lastSize(): number {
    return this.logPositionEnd() - this.#lastPosition;
  }

  /** Position of the oldest message whose unit is in no file yet; Infinity where all are. */
  unwrittenFrom(): number {
    const ring = this.#ring;
    if (ring === null || this.#flushed >= this.offsetMax) return Number.POSITIVE_INFINITY;
    return readUnitPosition(ring, (this.#flushed % RING_COUNT) * UNIT_SIZE);
  }

  /** Units from this offset on go. */
  cutTo(offset: number): void {
    if (offset >= this.offsetMax) return;
    if (offset <= this.#firstKept() || this.#fillerAt(offset - 1)) {
      this.remove();
      return;
    }
    if (offset < this.#flushed) this.#files.cut(offset);
    this.#blocks.drop(this.#files);
    this.#flushed = Math.min(this.#flushed, offset);
    this.#ringFrom = Math.min(offset, Math.max(this.#ringFrom, this.offsetMax - RING_COUNT));
    this.offsetMax = offset;
    this.#lastEnd = -1;
    this.offsetMin = Math.min(this.offsetMin, offset);
    if (this.#flushed === offset) this.#dirty.delete(this);
  }

  /** The queue and its files are gone; it may begin anew at any offset. */
  remove(): void {
    this.#files.remove();
    this.#setBounds(0, 0);
  }

  #judge(index: number, position: number): QueueAppend {
    if (this.offsetMax === 0) {
      this.#setBounds(index, index);
      return 'appended';
    }
    if (index > this.offsetMax) return 'gap';
    // A first message behind the last one: the queue was deleted and made anew, and the log still holds both lives.
    if (index > 0 || position <= this.lastPosition()) return 'repeated';
    this.remove();
    return 'restarted';
  }

  #setBounds(min: number, max: number): void {
    this.#lastEnd = -1;
    this.offsetMin = min;
    this.offsetMax = max;
    this.#logMin = 0;
    this.#flushed = max;
    this.#ringFrom = max;
    this.#ring = null;
    this.#blocks.drop(this.#files);
    this.#dirty.delete(this);
  }

  #readRing(index: number, count: number, into: Uint8Array, at: number): void {
    const ring = this.#ring;
    assert(ring !== null, 'units in the ring');
    const slot = index % RING_COUNT;
    const part = Math.min(count, RING_COUNT - slot);
    copyBytes(ring, slot * UNIT_SIZE, (slot + part) * UNIT_SIZE, into, at);
    if (part < count) copyBytes(ring, 0, (count - part) * UNIT_SIZE, into, at + part * UNIT_SIZE);
  }

  /** Index of the first message that has a unit, also one below the min offset. */
  #firstKept(): number {
    return this.#files.fileCount === 0 ? this.offsetMin : Math.min(this.offsetMin, this.#files.indexBegin);
  }

  /** The first unit from `low` on that lies at or behind a position in the log; positions rise with the index. */
  #firstAtOrBehind(logPosition: number, low: number): number {
    let high = this.offsetMax;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      this.#readAny(middle);
      // A unit that a power failure swallowed counts as behind: all before the position are there, or it would not be asked for.
      if (!isUnit(one, 0) || (readUnitPosition(one, 0) >= logPosition && !isFiller(one, 0))) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  #fillerAt(index: number): boolean {
    this.#readAny(index);
    return isFiller(one, 0);
  }

  #readAny(index: number): void {
    if (index >= Math.max(this.#ringFrom, this.offsetMax - RING_COUNT)) this.#readRing(index, 1, one, 0);
    else this.#files.read(index, 1, one, 0);
  }
}
