// What the checker can find, each kind with what it means and what to do about it, and the list that a check fills.

/**
 * damage: something is lost or wrong, and no start repairs it. repairable: the next start of RingMQ repairs it. note: worth knowing,
 * and harmless.
 */
export const Severities = { damage: 'damage', repairable: 'repairable', note: 'note' } as const;
export type Severity = (typeof Severities)[keyof typeof Severities];

export const findingMeanings = {
  alienFile: 'a file that is no part of the store lies among its files: a start refuses the store; move the file away',
  fileSize: 'a file does not have the size of the others: it was cut, or grew, and a start refuses the store; restore the file',
  fileMissing: 'a file is missing in the middle of a row: what it held is lost, and a start refuses the store; restore the file',
  fileEmpty: 'the making of a file was cut short: the next start removes it',
  logMissing: 'the log has no file but queues hold messages: a start refuses the store; restore the log, or remove the queues',
  notCleanlyStopped: 'the last broker did not stop cleanly: the end may be torn, and the next start repairs it',
  recordDamaged: 'bytes are no sound record although the log goes on behind them: what was there is lost; restore it from a copy',
  logTorn: 'the log ends in what is no sound record: the next start cuts it there, with all that lies behind',
  bytesBehindEnd: 'old bytes lie behind the end of the log, as a broker leaves them where it cut it; they count for nothing',
  recordPosition: 'a record says that it lies elsewhere: its bytes were altered or moved, and another broker may lose it from its queue',
  blankSize: 'a blank that ends a log file does not reach to the end of the file: records may be hidden behind it',
  fileFull: 'no room is left for a blank behind the last record of a log file: a recovery by Apache’s broker would end the log there',
  storeTimeBack: 'a record was stored earlier than one before it, as the clock was set back: searches by time are inexact there',
  recordOffset: 'a record says that it has another offset than the place that its queue gives it: its bytes were altered',
  offsetTwice: 'two messages have the same offset in a queue: consumers get only one of them',
  offsetHole: 'offsets of a queue that no message has: messages are missing in the log',
  queueRestarted: 'the queue was deleted and made anew: the log has messages of both lives, the queue those of the last',
  unitMissing: 'a message has no unit in its queue: consumers do not get it',
  unitAstray: 'a unit leads to no record: consumers get nothing at its offset',
  unitOfOther: 'a unit leads to another message than the one that has its offset',
  unitSize: 'a unit gives a message another size than its record has',
  unitTagsCode: 'a unit holds another tag’s hash than its message has: consumers that select by tag miss the message',
  unitDeliverTime: 'a delayed message is due at another time than its level says; so it is after a change of messageDelayLevel',
  unitOrder: 'units of messages that are older than the log are out of order',
  unitBeyondLog: 'units lead behind the end of the log: these messages are lost, or were cut off by a recovery',
  queueOfFillers: 'a queue holds fillers and no message, which Apache’s broker misreads: the next start of RingMQ removes it',
  queueFileUnused: 'the last file of a queue holds no unit: the next start removes it',
  batchQueues: 'queues of batches are of a kind that is not served here, and not checked',
  indexHeader: 'the header of an index file does not agree with its entries; remove the folder index, the next start makes it anew',
  indexChain: 'an index file’s slots and chains are broken: queries by key miss messages; remove the folder index',
  indexSlotsAhead: 'slots of an index file lead to entries that its header does not count, as after a kill while they were written',
  indexEntryAstray: 'an index entry leads to no record; remove the folder index, the next start makes it anew',
  indexEntryKey: 'an index entry leads to a record without that key; remove the folder index, the next start makes it anew',
  indexEntryTime: 'an index entry gives a record another time than it has; remove the folder index, the next start makes it anew',
  indexOrder: 'index entries are out of order; queries find them all the same',
  indexBeyondLog: 'the index knows records behind the end of the log: the next start removes those files',
  indexLags: 'the newest records are not in the index yet: the next start goes on there',
  keyMissing: 'keys of records are not in the index, so queries by key do not find these; remove the folder index to have it made anew',
  stateTorn: 'a state file cannot be read',
  stateMissing: 'a state file is missing between the two renames of a save: the next start takes the other one',
  stateBackup: 'the backup of a state file cannot be read; the file itself is sound',
  offsetNegative: 'a committed offset is below 0',
  offsetAbove: 'a committed offset lies behind the end of its queue: the group gets nothing until the queue has grown to there',
  offsetBelow: 'a committed offset lies before the start of its queue: messages went before the group had read them',
  topicUnknown: 'a topic is not configured: nobody can find its messages until it is created again',
  checkpointAhead:
    'the checkpoint vouches for more than the log holds; the time of the log itself makes a repair begin too late: remove the file',
} as const;
export type FindingKind = keyof typeof findingMeanings;

export interface Finding {
  readonly severity: Severity;
  readonly kind: FindingKind;
  /** The file, or the folder of a queue. */
  readonly path: string;
  /** The first place there, such as `position=4096` (a byte of the log) or `offset=7` (a message of the queue). */
  readonly where: string;
  readonly seen: string;
  readonly expected: string;
  /** Places of this kind in that file or queue. */
  readonly count: number;
}

export type NewFinding = Omit<Finding, 'count'> & { readonly count?: number };

/** Where something was seen, and what; `position` is the place in the log that it is about. */
export interface Sight {
  readonly position: number;
  readonly where: string;
  readonly seen: string;
  readonly expected: string;
}

const LISTED_PER_KIND_MAX = 100;

export class Findings {
  readonly counts: Record<Severity, number> = { damage: 0, repairable: 0, note: 0 };
  readonly #listed: Finding[] = [];
  readonly #listedOf = new Map<string, number>();

  /** A store that is damaged all over has no endless report: of each kind the first are listed, all are counted. */
  add(finding: NewFinding): void {
    this.counts[finding.severity]++;
    const kind = `${finding.severity} ${finding.kind}`;
    const listed = this.#listedOf.get(kind) ?? 0;
    if (listed === LISTED_PER_KIND_MAX) return;
    this.#listedOf.set(kind, listed + 1);
    this.#listed.push({ ...finding, count: finding.count ?? 1 });
  }

  /** The worst first, else in the order in which they were found. */
  sorted(): Finding[] {
    const rank = Object.keys(this.counts);
    return [...this.#listed].sort((a, b) => rank.indexOf(a.severity) - rank.indexOf(b.severity));
  }
}

/** What was seen in one queue or file: of each kind the first place, and how many there are. */
export class Sights {
  readonly #byKind = new Map<FindingKind, { readonly sight: Sight; count: number }>();

  /** @param describe is asked for the first of a kind only. */
  add(kind: FindingKind, describe: () => Sight): void {
    const seen = this.#byKind.get(kind);
    if (seen === undefined) this.#byKind.set(kind, { sight: describe(), count: 1 });
    else seen.count++;
  }

  moveTo(other: Sights): void {
    if (this.#byKind.size === 0) return;
    for (const [kind, { sight, count }] of this.#byKind) {
      const seen = other.#byKind.get(kind);
      if (seen === undefined) other.#byKind.set(kind, { sight, count });
      else seen.count += count;
    }
    this.#byKind.clear();
  }

  clear(): void {
    this.#byKind.clear();
  }

  report(into: Findings, path: string, severityOf: (kind: FindingKind, position: number) => Severity): void {
    for (const [kind, { sight, count }] of this.#byKind) {
      const { position, where, seen, expected } = sight;
      into.add({ severity: severityOf(kind, position), kind, path, where, seen, expected, count });
    }
  }
}
