// Delay levels: what the setting says, and which list holds for messages that were stored under an earlier one.
//
// A list holds for a level's queue from an offset on. When the setting changes, a new list begins at the end of every queue, so that each
// waiting message keeps the due time it was sent with.

const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Delays in ms, level 1 first. @param text a checked setting `messageDelayLevel`, such as `1s 5m 2h`. */
export function parseDelayLevels(text: string): number[] {
  return text
    .trim()
    .split(/\s+/)
    .map((level) => Number(level.slice(0, -1)) * (unitMs[level.slice(-1)] ?? 0));
}

export interface DelayList {
  /** As the setting says it. */
  readonly levels: string;
  /** Level -> offset in its queue of the first message that the list holds for; 0 where a level is absent. */
  readonly begins: ReadonlyMap<number, number>;
}

/** A stretch of a level's queue whose messages all wait equally long. */
export interface DelaySpan {
  readonly from: number;
  /** Behind the last offset; Infinity: still growing. */
  readonly to: number;
  readonly delayMs: number;
}

/** More lists than this are not kept: the oldest goes, and with it the due times of what still waits under it. */
export const DELAY_LIST_COUNT_MAX = 32;

interface ParsedList {
  readonly delaysMs: readonly number[];
  readonly begins: ReadonlyMap<number, number>;
}

export class DelayHistory {
  /** Newest first. */
  readonly #lists: readonly ParsedList[];
  /** Levels that can be asked for now. */
  readonly levelMax: number;
  /** Levels that a queue may still hold messages of. */
  readonly levelCount: number;

  /** @param lists oldest first, at least one. */
  constructor(lists: readonly DelayList[]) {
    this.#lists = lists.map(({ levels, begins }) => ({ delaysMs: parseDelayLevels(levels), begins })).reverse();
    this.levelMax = this.#lists[0]?.delaysMs.length ?? 0;
    this.levelCount = Math.max(0, ...this.#lists.map(({ delaysMs }) => delaysMs.length));
  }

  /** In ms, of a message at this offset of its level's queue. A level that its list does not have is the list's last. */
  delayMsOf(level: number, offset: number): number {
    const list = this.#lists.find(({ begins }) => offset >= (begins.get(level) ?? 0)) ?? this.#lists.at(-1);
    return list === undefined ? 0 : (list.delaysMs[Math.min(level, list.delaysMs.length) - 1] ?? 0);
  }

  /** A level's queue from 0 on, oldest part first; neighbours with the same delay are one. */
  spansOf(level: number): DelaySpan[] {
    const spans: DelaySpan[] = [];
    let to = Number.POSITIVE_INFINITY;
    for (const { begins } of this.#lists) {
      const from = begins.get(level) ?? 0;
      if (from >= to) continue;
      const delayMs = this.delayMsOf(level, from);
      const newer = spans[0];
      if (newer?.delayMs === delayMs) spans[0] = { from, to: newer.to, delayMs };
      else spans.unshift({ from, to, delayMs });
      to = from;
    }
    const oldest = spans[0];
    if (oldest !== undefined && oldest.from > 0) spans[0] = { ...oldest, from: 0 };
    return spans;
  }
}

export interface ContinuedLists {
  /** Oldest first. */
  readonly lists: readonly DelayList[];
  /** Of those that had to go though messages still wait under them: these are due by the oldest list that is left. */
  readonly forgotten: readonly DelayList[];
}

/**
 * The lists with which a start goes on: a changed setting adds one, and lists that no waiting message needs go.
 * @param stored oldest first; empty where nothing was ever kept: then the setting counts for all that waits.
 * @param endOf offset behind the last message of a level's queue. @param doneOf up to where it is delivered.
 */
export function continueDelayLists(
  stored: readonly DelayList[],
  levels: string,
  endOf: (level: number) => number,
  doneOf: (level: number) => number,
): ContinuedLists {
  // A log that lost its end: what is stored from there on is new.
  const lists = stored.map(({ levels: text, begins }) => ({
    levels: text,
    begins: new Map([...begins].map(([level, begin]) => [level, Math.min(begin, endOf(level))] as const)),
  }));
  const last = lists.at(-1);
  if (last === undefined) return { lists: [{ levels, begins: new Map() }], forgotten: [] };
  if (last.levels !== levels) {
    const count = Math.max(...[...lists.map((list) => list.levels), levels].map((text) => parseDelayLevels(text).length));
    const begins = new Map(Array.from({ length: count }, (_, i) => [i + 1, endOf(i + 1)] as const));
    lists.push({ levels, begins });
  }
  while (lists.length > 1 && [...(lists[1]?.begins ?? [])].every(([level, begin]) => doneOf(level) >= begin)) lists.shift();
  return { lists: lists.slice(-DELAY_LIST_COUNT_MAX), forgotten: lists.slice(0, -DELAY_LIST_COUNT_MAX) };
}
