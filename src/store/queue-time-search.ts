// Finds a message of a queue by its store time: by halving, as times do not decrease within a queue.

export interface TimedQueue {
  readonly offsetMin: number;
  readonly offsetMax: number;
  /** Position of the message in the log. */
  positionOf(offset: number): number;
}

/** Store time in ms of the record at a position; -1 where it is gone (it is then older than any time asked for). */
export type StoreTimeOf = (position: number) => number;

/** Offset of the first message stored at or after the time; the max offset after the last and of an empty queue. */
export function firstAtOrAfter(queue: TimedQueue, timeMs: number, timeOf: StoreTimeOf): number {
  let low = queue.offsetMin;
  let high = queue.offsetMax;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const seenMs = timeOf(queue.positionOf(middle));
    if (seenMs < 0 || seenMs < timeMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Offset of the last message stored at or before the time; the min offset before the first, the max offset of an empty queue. */
export function lastAtOrBefore(queue: TimedQueue, timeMs: number, timeOf: StoreTimeOf): number {
  if (queue.offsetMin >= queue.offsetMax) return queue.offsetMax;
  return Math.max(queue.offsetMin, firstAtOrAfter(queue, timeMs + 1, timeOf) - 1);
}
