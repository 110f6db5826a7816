// Holds one queue against the records of the log as these go by: each must have its unit at its offset, and no unit may be left over.
//
//   units:     |  older than the log  | r r r r r r r r | behind the end
//              begin                  first             next
//
// What is wrong behind the last sound unit is repaired by the next start, which cuts a queue back to there and reads the log again.
import { FILLER_SIZE, isExtended, isFiller, isUnit, readUnitPosition, readUnitSize, readUnitTagsCode } from '../queue-unit.ts';
import type { CheckContext, LogEnds } from './check-context.ts';
import { type FindingKind, Severities, type Sight, Sights } from './findings.ts';
import type { RecordFacts } from './record-facts.ts';
import type { UnitReader } from './unit-reader.ts';

const NO_UNIT = 'no unit';

/** What the other queues and the walk over the log say, once they are through. */
export interface CheckVerdict {
  /** Some queue knows the record that should lie at the log's end. */
  readonly lostBehindEnd: boolean;
  /** A start reads the log from here on, whatever the queues say. */
  readonly verifiedFrom: number;
  /** Its topic was removed, and the queue with it: what the log still has of it belongs to nobody. */
  readonly removed: boolean;
}

/** No start repairs these, wherever they are. */
const ofTheLog: ReadonlySet<FindingKind> = new Set(['offsetTwice', 'offsetHole', 'recordOffset']);

export class QueueCheck {
  readonly topic: string;
  readonly queueId: number;
  readonly reader: UnitReader;
  /** Offset of the first record of the queue's present life in the log; -1 before one is seen. */
  first = -1;
  /** Offset that the next record has; -1 before one is seen. */
  next = -1;
  readonly #context: CheckContext;
  /** Faults with no sound unit behind them yet. */
  readonly #open = new Sights();
  readonly #settled = new Sights();
  readonly #notes = new Sights();
  /** Where the first record of the present life lies. */
  #lifeBegin = 0;
  #lastPosition = -1;
  /** Index behind the units in front of the first record. */
  #frontEnd = 0;

  constructor(context: CheckContext, topic: string, queueId: number, reader: UnitReader) {
    this.#context = context;
    this.topic = topic;
    this.queueId = queueId;
    this.reader = reader;
  }

  /** Records come in the order of the log. @param deliverTimeMs of a delayed message; 0 of all others */
  onRecord(record: RecordFacts, deliverTimeMs: number): void {
    const { position } = record;
    const queueOffset = this.#offsetOf(record);
    if (this.next > 0 && queueOffset === 0) this.#restart(position);
    if (queueOffset < this.next) {
      const expected = `one message with offset=${queueOffset}`;
      this.#settled.add('offsetTwice', () => sight(position, queueOffset, `another at position=${position}`, expected));
      return;
    }
    if (this.first < 0) {
      this.#lifeBegin = position;
      this.first = queueOffset;
      this.#checkFront(queueOffset);
    } else if (queueOffset > this.next) {
      this.#checkHole(this.next, queueOffset, position);
    }
    this.#judge(record, queueOffset, deliverTimeMs);
    this.next = queueOffset + 1;
    this.#lastPosition = position;
  }

  /** Looks at the units that no record asked for. Returns the lowest position behind the log's end that one of them leads to. */
  finish(ends: LogEnds): number {
    const { reader } = this;
    if (this.first < 0) this.#checkFront(reader.indexBegin);
    let index = Math.max(this.next, this.first < 0 ? this.#frontEnd : 0, reader.indexBegin);
    let beyond = Number.POSITIVE_INFINITY;
    for (; reader.isUnitAt(index); index++) {
      const at = reader.at(index);
      if (isFiller(reader.bytes, at)) continue;
      const position = readUnitPosition(reader.bytes, at);
      if (position < ends.positionMax) this.#judgeLeftOver(index, at, this.#open);
      else if (!this.#context.lost.covers(position)) {
        beyond = Math.min(beyond, position);
        const expected = `below ${ends.positionMax}, the end of the log`;
        this.#notes.add('unitBeyondLog', () => sight(position, index, unitText(reader.bytes, at), expected));
      }
    }
    this.#checkFiles(index);
    return beyond;
  }

  /** After `finish` of all queues. */
  report({ lostBehindEnd, verifiedFrom, removed }: CheckVerdict): void {
    const { findings, rebuiltFrom } = this.#context;
    const path = this.reader.row.folder;
    const { damage, repairable, note } = Severities;
    this.#settled.report(findings, path, (kind, position) => (position >= rebuiltFrom && !ofTheLog.has(kind) ? repairable : damage));
    // A queue that only ends too early looks sound to a start that reads no record of it.
    const unseen = this.#lastPosition < Math.min(verifiedFrom, rebuiltFrom);
    this.#open.report(findings, path, (kind) => {
      if (kind !== 'unitMissing') return repairable;
      return removed ? note : unseen ? damage : repairable;
    });
    this.#notes.report(findings, path, (kind) => {
      if (kind === 'unitBeyondLog') return lostBehindEnd ? damage : repairable;
      return kind === 'queueOfFillers' || kind === 'queueFileUnused' ? repairable : note;
    });
  }

  /** Offsets that committed ones must lie within. */
  get bounds(): { readonly min: number; readonly max: number } {
    const end = this.#frontEnd;
    return this.first < 0 ? { min: end, max: end } : { min: this.first, max: this.next };
  }

  #restart(position: number): void {
    this.#open.clear();
    this.#settled.clear();
    this.#notes.add('queueRestarted', () => sight(position, 0, `a second message with offset=0 at position=${position}`, ''));
    this.first = -1;
    this.next = -1;
  }

  /** Units in front of the first record that the log has: of messages that it no longer has, or fillers. */
  #checkFront(end: number): void {
    const { reader } = this;
    const untilFirst = this.first >= 0;
    let before = -1;
    let index = reader.indexBegin;
    for (; untilFirst ? index < Math.min(end, reader.indexEnd) : reader.isUnitAt(index); index++) {
      const at = reader.at(index);
      if (at < 0 || isFiller(reader.bytes, at)) continue;
      const position = readUnitPosition(reader.bytes, at);
      if (!isUnit(reader.bytes, at)) this.#open.add('unitMissing', () => sight(position, index, NO_UNIT, 'a unit or a filler'));
      else if (position >= this.#context.look.positionMin) {
        if (!untilFirst) break;
        this.#judgeLeftOver(index, at, this.#open);
      } else if (position <= before) {
        const seen = unitText(reader.bytes, at);
        this.#settled.add('unitOrder', () => sight(position, index, seen, `behind position=${before}`));
      }
      before = Math.max(before, position);
    }
    this.#frontEnd = index;
  }

  /** Offsets [from, to) that no record has; a broker that notices puts fillers there. */
  #checkHole(from: number, to: number, position: number): void {
    const { reader } = this;
    let filled = to <= reader.indexEnd;
    for (let index = from; index < Math.min(to, reader.indexEnd); index++) {
      const at = reader.at(index);
      if (at >= 0 && isFiller(reader.bytes, at)) continue;
      filled = false;
      if (at >= 0 && isUnit(reader.bytes, at)) this.#judgeLeftOver(index, at, this.#open);
    }
    if (this.#context.lost.touches(this.#lastPosition, position)) return;
    const seen = `offset=${to} follows offset=${from - 1}`;
    (filled ? this.#notes : this.#settled).add('offsetHole', () => sight(position, from, seen, `offset=${from}`));
  }

  /** A unit for which no record of the queue came by. */
  #judgeLeftOver(index: number, at: number, into: Sights): void {
    const { look, lost } = this.#context;
    const { bytes } = this.reader;
    const position = readUnitPosition(bytes, at);
    if (lost.covers(position)) return;
    const found = look.at(position);
    const kind = found === null ? 'unitAstray' : 'unitOfOther';
    into.add(kind, () => sight(position, index, unitText(bytes, at), found === null ? 'a record there' : ownerText(found)));
  }

  /** What the record says, but where the queue has the record in the very next place, and so it is the record that is wrong. */
  #offsetOf(record: RecordFacts): number {
    const { queueOffset, position } = record;
    if (this.next < 0 || queueOffset === this.next) return queueOffset;
    const at = this.reader.at(this.next);
    if (at < 0 || !isUnit(this.reader.bytes, at) || readUnitPosition(this.reader.bytes, at) !== position) return queueOffset;
    const expected = `offset=${this.next}`;
    this.#settled.add('recordOffset', () => sight(position, this.next, `offset=${queueOffset} in the record`, expected));
    return this.next;
  }

  #judge(record: RecordFacts, queueOffset: number, deliverTimeMs: number): void {
    const { reader } = this;
    const { position } = record;
    const at = reader.at(queueOffset);
    // Of a file that is missing or wrong: that is told already.
    if (at < 0 && (reader.row.wrong.length > 0 || (queueOffset >= reader.indexBegin && queueOffset < reader.indexEnd))) return;
    const kind = this.#faultOf(record, at);
    if (kind !== null) {
      this.#open.add(kind, () => sight(position, queueOffset, this.#seen(at), `position=${position} size=${record.size}`));
      return;
    }
    // What was wrong before a sound unit stays: a start looks at the end of a queue only.
    this.#open.moveTo(this.#settled);
    if (readUnitPosition(reader.bytes, at) !== position) return;
    this.#judgeTagsCode(record, queueOffset, readUnitTagsCode(reader.bytes, at), deliverTimeMs);
  }

  #faultOf(record: RecordFacts, at: number): FindingKind | null {
    const { bytes } = this.reader;
    if (at < 0 || isFiller(bytes, at) || isBlank(bytes, at)) return 'unitMissing';
    if (readUnitPosition(bytes, at) === record.position) return readUnitSize(bytes, at) === record.size ? null : 'unitSize';
    if (this.#isTwin(record, at)) return null;
    return this.#context.look.at(readUnitPosition(bytes, at)) === null ? 'unitAstray' : 'unitOfOther';
  }

  #seen(at: number): string {
    const { bytes } = this.reader;
    if (at < 0 || isBlank(bytes, at)) return NO_UNIT;
    if (isFiller(bytes, at)) return 'a filler';
    const found = this.#context.look.at(readUnitPosition(bytes, at));
    return `${unitText(bytes, at)}${found === null ? '' : `, ${ownerText(found)}`}`;
  }

  #judgeTagsCode(record: RecordFacts, queueOffset: number, seen: number, deliverTimeMs: number): void {
    const { position, tagsCode } = record;
    if (isExtended(seen)) return;
    if (deliverTimeMs > 0) {
      const expected = `deliverTimeMs=${deliverTimeMs}`;
      if (seen !== deliverTimeMs) this.#notes.add('unitDeliverTime', () => sight(position, queueOffset, String(seen), expected));
    } else if (seen !== tagsCode) {
      this.#settled.add('unitTagsCode', () => sight(position, queueOffset, `tagsCode=${seen}`, `tagsCode=${tagsCode}`));
    }
  }

  /** The unit leads to another message with the same offset of this life: that there are two is told when the second comes. */
  #isTwin(record: RecordFacts, at: number): boolean {
    const position = readUnitPosition(this.reader.bytes, at);
    if (position < this.#lifeBegin) return false;
    const other = this.#context.look.at(position);
    return other?.topic === this.topic && other.queueId === this.queueId && other.queueOffset === record.queueOffset;
  }

  /** @param end index behind the last unit */
  #checkFiles(end: number): void {
    const { row } = this.reader;
    if (row.isEmpty) return;
    const { indexBegin, lastFileBegin } = this.reader;
    if (end > indexBegin && this.next < 0 && this.#holdsFillersOnly(end)) {
      this.#notes.add('queueOfFillers', () => sight(0, end, `${end - indexBegin} fillers`, 'a message behind them'));
    }
    if (end <= lastFileBegin && !this.reader.isUnitAt(lastFileBegin)) {
      this.#notes.add('queueFileUnused', () =>
        sight(0, lastFileBegin, `no unit in ${row.path(row.positionEnd - 1)}`, 'a unit, or no file'),
      );
    }
  }

  #holdsFillersOnly(end: number): boolean {
    for (let index = this.reader.indexBegin; index < end; index++) {
      const at = this.reader.at(index);
      if (at >= 0 && !isFiller(this.reader.bytes, at)) return false;
    }
    return true;
  }
}

function sight(position: number, offset: number, seen: string, expected: string): Sight {
  return { position, where: `offset=${offset}`, seen, expected };
}

function isBlank(b: Uint8Array, at: number): boolean {
  return readUnitPosition(b, at) === 0 && readUnitSize(b, at) === 0;
}

function unitText(b: Uint8Array, at: number): string {
  const size = readUnitSize(b, at);
  return `position=${readUnitPosition(b, at)} size=${size === FILLER_SIZE ? 'filler' : size}`;
}

function ownerText(record: RecordFacts): string {
  return `that of topic=${record.topic} queueId=${record.queueId} offset=${record.queueOffset}`;
}
