// Sends what is due to the log, many at a time and each level in order, and keeps account of what is under way.
import { errorText } from '../../base/errors.ts';
import { RateLimit } from '../../base/rate-limit.ts';
import { type DueClock, steadyLimitMs } from '../../core/due-clock.ts';
import { CounterIds } from '../../runtime/counters.ts';
import { SCHEDULER_APPEND_COUNT_MAX } from '../../topology.ts';
import { tryAppendCopy } from '../append-writer.ts';
import type { ActorContext } from '../context.ts';
import type { Outbox } from '../outbox.ts';
import type { DelayLine, WaitingMessage } from './delay-line.ts';
import type { Redelivery } from './redelivery.ts';

/** Of one line in one cycle, so that the other lines and actors of the thread have their turn. */
const CYCLE_COUNT_MAX = 256;
/** What could not be stored or read is tried again after so long; reading is given up after so many times. */
const RETRY_MS = 1_000;
const READ_COUNT_MAX = 60;
/** Whoever makes room in a ring does not ring for it. */
const ROOM_POLL_MS = 1;
const LINE_MS = 10_000;

interface UnderWay {
  readonly token: number;
  readonly line: DelayLine;
  readonly message: WaitingMessage;
  readonly size: number;
}

export class Deliveries {
  readonly #context: ActorContext;
  readonly #clock: DueClock;
  readonly #redelivery: Redelivery;
  readonly #log: Outbox;
  /** In the order of the appends, which is that of the acks; those before `#first` came back. */
  #underWay: UnderWay[] = [];
  #first = 0;
  #nextToken: number;
  readonly #faultLines = new RateLimit(LINE_MS);

  constructor(context: ActorContext, clock: DueClock, redelivery: Redelivery) {
    this.#context = context;
    this.#clock = clock;
    this.#redelivery = redelivery;
    this.#log = context.outbox('commit-log');
    // Acks of what a predecessor sent have tokens of another million.
    this.#nextToken = (context.incarnation << 20) | 0;
  }

  get underWayCount(): number {
    return this.#underWay.length - this.#first;
  }

  /** Sends what is due of a line; returns how many. */
  deliver(line: DelayLine, nowMs: number): number {
    let count = 0;
    for (; count < CYCLE_COUNT_MAX; count++) {
      const message = line.head(nowMs);
      if (message === undefined || this.underWayCount >= SCHEDULER_APPEND_COUNT_MAX) break;
      if (!this.#isDue(line, message, nowMs) || !this.#trySend(line, message, nowMs)) break;
    }
    return count;
  }

  flush(): void {
    this.#log.flush();
  }

  /** Steady time at which a line with waiting messages has something to do; Infinity where an ack leads to that. */
  dueAtMs(line: DelayLine, nowMs: number): number {
    if (nowMs < line.retryAtMs) return line.retryAtMs;
    const message = line.head(nowMs);
    if (message === undefined || this.underWayCount >= SCHEDULER_APPEND_COUNT_MAX) return Number.POSITIVE_INFINITY;
    const waitMs = message.dueMs - this.#clock.nowFor(message.position);
    // Not looked at yet, or due and not sent: another line had its turn, or the ring is full.
    if (!(waitMs > 0) || nowMs >= message.limitMs) return nowMs + ROOM_POLL_MS;
    return Math.min(nowMs + waitMs, message.limitMs);
  }

  /** Takes an ack. @param position where the record was stored; -1: it was not. */
  onAck(token: number, position: number, nowMs: number): void {
    const under = this.#underWay[this.#first];
    if (under === undefined || under.token !== token) return; // meant for a predecessor
    this.#first++;
    if (this.#first === this.#underWay.length) {
      this.#underWay = [];
      this.#first = 0;
    } else if (this.#first >= SCHEDULER_APPEND_COUNT_MAX) {
      this.#underWay.splice(0, this.#first);
      this.#first = 0;
    }
    const { line, message, size } = under;
    if (position < 0) {
      line.failed(message, nowMs + RETRY_MS);
      return;
    }
    line.stored(message, position, size);
    const { counters } = this.#context;
    counters.add(CounterIds.records, 1);
    counters.add(CounterIds.recordBytes, size);
  }

  #isDue(line: DelayLine, message: WaitingMessage, nowMs: number): boolean {
    const clockMs = this.#clock.nowFor(message.position);
    if (Number.isNaN(message.dueMs) && !this.#look(line, message, clockMs, nowMs)) return false;
    return clockMs >= message.dueMs || nowMs >= message.limitMs;
  }

  /** Finds out when it is due. False where its record cannot be read now. */
  #look(line: DelayLine, message: WaitingMessage, clockMs: number, nowMs: number): boolean {
    const { delayMs } = line.span;
    try {
      const storeTimeMs = this.#redelivery.storeTimeMs(message.position);
      // One that the log does not have any more is dealt with at once.
      message.dueMs = storeTimeMs < 0 ? clockMs : storeTimeMs + delayMs;
    } catch (error) {
      this.#cannotRead(line, message, nowMs, error);
      return false;
    }
    message.limitMs = steadyLimitMs(message.dueMs, delayMs, clockMs, message.seenMs);
    return true;
  }

  /** False where it has to be tried again later. */
  #trySend(line: DelayLine, message: WaitingMessage, nowMs: number): boolean {
    const plan = this.#tryPlan(line, message, nowMs);
    if (plan === null) return false;
    if ('fault' in plan) {
      this.#redelivery.drop(line.level, message.offset, message.position, plan.fault);
      line.done(message);
      return true;
    }
    if (!tryAppendCopy(this.#log.ring, this.#nextToken, plan.queueKey, plan.copy)) {
      this.#context.counters.add(CounterIds.mailFull, 1);
      return false;
    }
    this.#underWay.push({ token: this.#nextToken, line, message, size: plan.copy.size });
    this.#nextToken = (this.#nextToken + 1) | 0;
    line.sent(message);
    const lateMs = Math.max(0, this.#clock.nowFor(message.position) - message.dueMs);
    this.#context.counters.set(CounterIds.deliveryLateMs, lateMs);
    return true;
  }

  #tryPlan(line: DelayLine, message: WaitingMessage, nowMs: number): ReturnType<Redelivery['plan']> | null {
    try {
      return this.#redelivery.plan(message.position, message.size);
    } catch (error) {
      this.#cannotRead(line, message, nowMs, error);
      return null;
    }
  }

  /** One message does not hold its level up for ever. */
  #cannotRead(line: DelayLine, message: WaitingMessage, nowMs: number, error: unknown): void {
    if (++message.failureCount >= READ_COUNT_MAX) {
      this.#redelivery.drop(line.level, message.offset, message.position, `its record cannot be read: ${errorText(error)}`);
      line.done(message);
      return;
    }
    line.retryAtMs = nowMs + RETRY_MS;
    const suppressed = this.#faultLines.admit(nowMs);
    if (suppressed >= 0)
      this.#context.log.warn('a delayed message cannot be read now; it is tried again', { error: errorText(error), suppressed });
  }
}
