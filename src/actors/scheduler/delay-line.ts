// A stretch of one level's queue on its way out: what is fetched of it, what is under way to the log, and up to where it is delivered.
import type { DelaySpan } from '../../core/delay-levels.ts';

/** So many messages are known ahead at most; more are asked for when fewer than the second are left. */
const AHEAD_COUNT_MAX = 512;
const REFILL_COUNT = 256;
/** After an answer that brings nothing the queue is asked again in so long. */
const ASK_AGAIN_MS = 100;
/** Marks of what is delivered and not on stable storage; beyond it the newest one grows instead. */
const MARK_COUNT_MAX = 1024;

export interface WaitingMessage {
  /** In its level's queue. */
  readonly offset: number;
  readonly position: number;
  readonly size: number;
  /** Steady time at which it was seen first. */
  readonly seenMs: number;
  /** Store time plus delay; NaN until the record was looked at. */
  dueMs: number;
  /** See `steadyLimitMs`. */
  limitMs: number;
  /** How often it could not be read. */
  failureCount: number;
  state: 'waiting' | 'sent' | 'done';
}

interface Mark {
  /** Everything before this offset is delivered, by records that end at `logEnd` or before. */
  offset: number;
  logEnd: number;
}

export class DelayLine {
  readonly level: number;
  readonly queueKey: number;
  readonly span: DelaySpan;
  /** A pull is open. */
  asked = false;
  /** Nothing is sent before this steady time: something could not be stored or read. */
  retryAtMs = Number.NEGATIVE_INFINITY;
  underWayCount = 0;
  /** Up to this offset the deliveries are on stable storage, as far as was looked. */
  durable: number;
  /** Everything before this offset is delivered, or never will be, by what came back in this life; -1: nothing did. */
  deliveredTo = -1;
  /** The last record of the log that `deliveredTo` rests on. */
  recordAt = -1;
  recordEnd = -1;
  #askAtMs = Number.NEGATIVE_INFINITY;
  #fetchedTo: number;
  /** Fetched and not yet known to be delivered, in order of their offsets. */
  readonly #messages: WaitingMessage[] = [];
  /** In `#messages`: none before it is waiting. */
  #next = 0;
  readonly #marks: Mark[] = [];

  /**
   * @param position everything before this offset is delivered already. @param durable up to here the deliveries are on stable storage.
   * @param logEnd the others are in the log before this position.
   */
  constructor(level: number, queueKey: number, span: DelaySpan, position: number, durable = position, logEnd = 0) {
    this.level = level;
    this.queueKey = queueKey;
    this.span = span;
    this.#fetchedTo = position;
    this.durable = durable;
    if (durable < position) this.#marks.push({ offset: position, logEnd });
  }

  /** Everything before this offset is delivered. */
  get position(): number {
    return this.#messages[0]?.offset ?? this.#fetchedTo;
  }

  get isFinished(): boolean {
    return this.position >= this.span.to;
  }

  /** The offset to ask from; -1 while nothing is to be asked. */
  askFrom(nowMs: number): number {
    if (this.asked || nowMs < this.#askAtMs || this.#fetchedTo >= this.span.to) return -1;
    const isLow = this.#messages.length - this.#next < REFILL_COUNT && this.#messages.length < AHEAD_COUNT_MAX;
    return isLow ? this.#fetchedTo : -1;
  }

  /** Steady time at which it asks again by itself; Infinity where an answer or a delivery leads to that. */
  get askAtMs(): number {
    return this.asked || this.#askAtMs === Number.NEGATIVE_INFINITY ? Number.POSITIVE_INFINITY : this.#askAtMs;
  }

  /** An answer without messages. @param next the offset to go on from. */
  nothing(next: number, nowMs: number): void {
    this.asked = false;
    if (next > this.#fetchedTo) this.#moveTo(next);
    else this.#askAtMs = nowMs + ASK_AGAIN_MS;
  }

  /** The queue does not reach as far as was thought. */
  endsAt(offset: number): void {
    this.asked = false;
    this.#fetchedTo = Math.min(this.#fetchedTo, offset);
    this.durable = Math.min(this.durable, this.#fetchedTo);
  }

  /** An answer with messages. Those behind the span belong to another line. */
  fetched(offset: number, position: number, size: number, nowMs: number): void {
    if (offset < this.#fetchedTo || offset >= this.span.to) return;
    this.#messages.push({
      offset,
      position,
      size,
      seenMs: nowMs,
      dueMs: Number.NaN,
      limitMs: Number.POSITIVE_INFINITY,
      failureCount: 0,
      state: 'waiting',
    });
    this.#fetchedTo = offset + 1;
  }

  answered(next: number): void {
    this.asked = false;
    this.#askAtMs = Number.NEGATIVE_INFINITY;
    this.#fetchedTo = Math.max(this.#fetchedTo, Math.min(next, this.span.to));
  }

  /** The next message to send; undefined where there is none, or where one that failed waits for those under way to come back. */
  head(nowMs: number): WaitingMessage | undefined {
    while (this.#next < this.#messages.length && this.#messages[this.#next]?.state !== 'waiting') this.#next++;
    if (nowMs < this.retryAtMs || (this.retryAtMs > Number.NEGATIVE_INFINITY && this.underWayCount > 0)) return undefined;
    this.retryAtMs = Number.NEGATIVE_INFINITY;
    return this.#messages[this.#next];
  }

  get hasWaiting(): boolean {
    return this.#next < this.#messages.length;
  }

  sent(message: WaitingMessage): void {
    message.state = 'sent';
    this.underWayCount++;
  }

  /** It is stored again, by a record of this size at this position of the log. */
  stored(message: WaitingMessage, position: number, size: number): void {
    this.underWayCount--;
    this.#restOn(position, size);
    this.done(message);
  }

  /** It could not be stored: it is sent again, and what comes after it waits for that. */
  failed(message: WaitingMessage, retryAtMs: number): void {
    this.underWayCount--;
    message.state = 'waiting';
    this.#next = Math.min(this.#next, this.#messages.indexOf(message));
    this.retryAtMs = Math.max(this.retryAtMs, retryAtMs);
  }

  /** It needs no delivery any more. */
  done(message: WaitingMessage): void {
    message.state = 'done';
    // One that was not stored again: that it is dealt with means nothing in a log that does not have it.
    this.#restOn(message.position, message.size);
    let count = 0;
    while (this.#messages[count]?.state === 'done') count++;
    if (count === 0) return;
    this.deliveredTo = (this.#messages[count - 1] as WaitingMessage).offset + 1;
    this.#messages.splice(0, count);
    this.#next = Math.max(0, this.#next - count);
    const last = this.#marks.at(-1);
    if (last !== undefined && (last.logEnd === this.recordEnd || this.#marks.length >= MARK_COUNT_MAX)) {
      last.offset = this.position;
      last.logEnd = this.recordEnd;
    } else this.#marks.push({ offset: this.position, logEnd: this.recordEnd });
  }

  /** Notes how far the log is on stable storage; true where nothing delivered is left that is not. */
  settle(synced: number): boolean {
    let count = 0;
    while (count < this.#marks.length && (this.#marks[count] as Mark).logEnd <= synced) count++;
    if (count > 0) {
      this.durable = (this.#marks[count - 1] as Mark).offset;
      this.#marks.splice(0, count);
    }
    if (this.#marks.length > 0) return false;
    this.durable = this.position;
    return true;
  }

  #restOn(position: number, size: number): void {
    if (position + size <= this.recordEnd) return;
    this.recordAt = position;
    this.recordEnd = position + size;
  }

  /** What is between was taken by retention. */
  #moveTo(offset: number): void {
    this.#fetchedTo = Math.min(offset, this.span.to);
    this.#askAtMs = Number.NEGATIVE_INFINITY;
  }
}
