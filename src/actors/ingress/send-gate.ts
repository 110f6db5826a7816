// Whether sends are taken at all now: looked at once a cycle, so that a send pays for one field.
//
// A send that was handed to the log may be stored and is never answered "busy"; only those that come after it are. Times count only as far
// as this thread was there to see them pass: its own pauses are not the log's.
import { refusalText, unpackDiskState } from '../../core/retention.ts';
import { ResponseCodes } from '../../protocol/codes.ts';
import type { ActorContext } from '../context.ts';
import { Positions } from '../context.ts';
import type { PendingSends } from './pending-sends.ts';
import type { Refusal } from './send-checks.ts';

/** While sends are under way it is looked after them this often, and no more time than this is believed to have passed between two looks. */
const LOOK_MS = 50;
/** So many sends may wait for a moment: whatever a round of the event loop brings is still being read. */
const CROWDED_MS = 20;

export class SendGate {
  /** null: sends are taken. */
  refusal: Refusal | null = null;
  readonly #context: ActorContext;
  readonly #pending: PendingSends;
  #diskState = 0;
  #full: Refusal | null = null;
  #lookedAtMs = 0;
  /** Sends up to this one are watched until the last of them is acknowledged. */
  #watchedCount = 0;
  /** How long the oldest of them has waited at least. */
  #waitedMs = 0;
  #ackedCount = 0;
  /** How long nothing was acknowledged although something waits. */
  #stillMs = 0;
  #crowdedMs = 0;

  constructor(context: ActorContext, pending: PendingSends) {
    this.#context = context;
    this.#pending = pending;
  }

  deadlineMs(): number {
    return this.#pending.unackedCount > 0 ? this.#lookedAtMs + LOOK_MS : Number.POSITIVE_INFINITY;
  }

  /** Once a cycle, after acknowledgements were taken. */
  look(nowMs: number): void {
    const diskState = this.#context.positions.get(Positions.diskState);
    if (diskState !== this.#diskState) this.#onDisks(diskState);
    const passedMs = Math.min(LOOK_MS, nowMs - this.#lookedAtMs);
    this.#lookedAtMs = nowMs;
    this.refusal = this.#full ?? this.#tooEarly() ?? this.#busy(passedMs);
  }

  #onDisks(packed: number): void {
    this.#diskState = packed;
    const state = unpackDiskState(packed);
    this.#full =
      state.refuses === 0 ? null : { code: ResponseCodes.SERVICE_NOT_AVAILABLE, remark: refusalText(state, this.#context.settings) };
  }

  #tooEarly(): Refusal | null {
    const { settings, clock } = this.#context;
    const fromMs = settings.startAcceptSendRequestTimeStamp;
    if (fromMs === 0 || clock.wallMs() >= fromMs) return null;
    return { code: ResponseCodes.SYSTEM_ERROR, remark: `broker unable to service, until ${new Date(fromMs).toISOString()}` };
  }

  #busy(passedMs: number): Refusal | null {
    const pending = this.#pending;
    if (pending.unackedCount === 0) {
      this.#watchedCount = this.#ackedCount = pending.ackedCount;
      this.#waitedMs = this.#stillMs = this.#crowdedMs = 0;
      return null;
    }
    if (pending.ackedCount >= this.#watchedCount) {
      this.#watchedCount = pending.pushedCount;
      this.#waitedMs = 0;
    } else this.#waitedMs += passedMs;
    this.#stillMs = pending.ackedCount === this.#ackedCount ? this.#stillMs + passedMs : 0;
    this.#ackedCount = pending.ackedCount;
    this.#crowdedMs = pending.unackedCount >= this.#context.settings.sendThreadPoolQueueCapacity ? this.#crowdedMs + passedMs : 0;
    return this.#judge();
  }

  /** Texts begin as stock brokers' do: tools and people look for them. */
  #judge(): Refusal | null {
    const { osPageCacheBusyTimeOutMills, brokerFastFailureEnable, waitTimeMillsInSendQueue, sendThreadPoolQueueCapacity } =
      this.#context.settings;
    const size = this.#pending.unackedCount;
    if (this.#stillMs >= osPageCacheBusyTimeOutMills) {
      return busy(
        `[PC_SYNCHRONIZED]broker busy, start flow control for a while: an append takes ${Math.floor(this.#stillMs)}ms, allowed=${osPageCacheBusyTimeOutMills}ms (osPageCacheBusyTimeOutMills), see to the disk`,
      );
    }
    if (brokerFastFailureEnable && this.#waitedMs >= waitTimeMillsInSendQueue) {
      return busy(
        `[TIMEOUT_CLEAN_QUEUE]broker busy, start flow control for a while, period in queue: ${Math.floor(this.#waitedMs)}ms, size of queue: ${size}, allowed=${waitTimeMillsInSendQueue}ms (waitTimeMillsInSendQueue)`,
      );
    }
    if (this.#crowdedMs >= CROWDED_MS) {
      return busy(
        `[OVERLOAD]system busy, start flow control for a while: size of queue: ${size}, allowed=${sendThreadPoolQueueCapacity} (sendThreadPoolQueueCapacity)`,
      );
    }
    return null;
  }
}

function busy(remark: string): Refusal {
  return { code: ResponseCodes.SYSTEM_BUSY, remark };
}
