// The doorbell: wakes a thread that has found no mail and sleeps, without a system call while it is awake.
import { assert } from '../base/assert.ts';

// One per thread, on its own cache lines:
//
//   +0    i32  PARKED   1 while the owner sleeps or is about to   written by the owner only
//   +4    i32  SIGNAL   counts rings; what the owner sleeps on    added to by senders
//   +8         unused
//
//   sender                               owner
//   S1  publish mail                     R1  seen = load SIGNAL
//   S2  load PARKED; 0: done             R2  store PARKED = 1
//   S3  add 1 to SIGNAL                  R3  look for mail; some: store PARKED = 0, work
//   S4  notify SIGNAL                    R4  sleep, unless SIGNAL != seen
//                                        R5  store PARKED = 0, work
//
// Why no mail is slept on. All of these are sequentially consistent atomics, so they have one total order, and each side first writes
// its own word and then reads the other's (Dekker's argument):
// - S2 finds 0. Then S2, and S1 before it, come before the R2 of the owner's next sleep, and its R3 finds the mail.
// - S2 finds 1, stored by some R2. Then S3 comes after that R2 and its R1, so SIGNAL differs from that `seen` from S3 on. If S3 comes before
//   R4, the owner does not sleep (comparing and falling asleep are one step); if after, S4 finds it asleep. Either way the owner is awake
//   after S3, and so after S1, and its next look finds the mail.
//
// Why `seen` is loaded before the look for mail: loaded after it, a message and its ring between the two would already be in `seen`, and
// R4 would sleep on it.
//
// Why a sender never clears PARKED: it would clear it for a later sleep than the one it saw. Between its S2 and its store the owner may
// wake, work, and set PARKED for the next sleep; that sleep would be invisible to all senders. A late S3 and S4 cost one needless look only.
const parkedAt = 0;
const signalAt = parkedAt + 4;
const doorbellSize = 128;
assert(signalAt + 4 <= doorbellSize);

export function doorbellMemorySize(count: number): number {
  return count * doorbellSize;
}

export class Doorbell {
  readonly #words: Int32Array;
  readonly #parked: number;
  readonly #signal: number;
  #asyncWaits = 0;

  constructor(memory: SharedArrayBuffer, index: number) {
    assert(index >= 0 && (index + 1) * doorbellSize <= memory.byteLength, 'doorbell index out of range');
    this.#words = new Int32Array(memory);
    this.#parked = (index * doorbellSize + parkedAt) >> 2;
    this.#signal = (index * doorbellSize + signalAt) >> 2;
  }

  /** For senders, after publishing. */
  ring(): void {
    if (Atomics.load(this.#words, this.#parked) === 0) return;
    Atomics.add(this.#words, this.#signal, 1);
    Atomics.notify(this.#words, this.#signal);
  }

  // The rest is for the owner alone.

  /** First step towards sleep. Look for mail after it; then `wait` with the answer, or `cancel`. */
  prepare(): number {
    const seen = Atomics.load(this.#words, this.#signal);
    Atomics.store(this.#words, this.#parked, 1);
    return seen;
  }

  /** Sleeps until a sender rings or the time is over; not at all where one has rung since `prepare`. */
  wait(seen: number, timeoutMs: number): void {
    Atomics.wait(this.#words, this.#signal, seen, timeoutMs);
    Atomics.store(this.#words, this.#parked, 0);
  }

  /**
   * The same for a thread with an event loop: true where a sender has rung since `prepare`. One such wait cannot be cancelled, and one
   * that nobody notifies stays for ever, so at most one is allowed to be outstanding. PARKED stays 1 until `cancel`.
   */
  waitAsync(seen: number): true | Promise<void> {
    assert(this.#asyncWaits === 0, 'a wait is already outstanding');
    const result = Atomics.waitAsync(this.#words, this.#signal, seen);
    if (!result.async) return true;
    this.#asyncWaits++;
    return result.value.then(() => {
      this.#asyncWaits--;
    });
  }

  /** Awake again: senders need not ring. */
  cancel(): void {
    Atomics.store(this.#words, this.#parked, 0);
  }
}

/**
 * The sleep of an owner with an event loop, whose duty cycles are started by rings and by socket events alike:
 *
 *   doorbell.cancel(); work…; waiter.arm(wake); look for mail once more (some: work…, arm again); return to the event loop
 *
 * A socket event may come while the wait of an earlier cycle is still outstanding, armed with the SIGNAL of that time. It is kept and
 * serves for every later sleep as well. For it began when SIGNAL was what it had seen, so each ring after that notifies it: either it
 * still stands in the list of waiters, and the next ring wakes it; or a ring has taken it from the list, and then its call-back is on its way
 * and has not run, since `#armed` is still true. In both cases a wake follows every ring that comes after `arm`, and mail whose sender
 * found PARKED = 0 was published before `arm` stored 1 and is found by the look after it. A second wait would never be needed.
 */
export class AsyncWaiter {
  readonly #doorbell: Doorbell;
  #armed = false;
  #onWake: (() => void) | undefined;

  readonly #woken = (): void => {
    this.#armed = false;
    this.#doorbell.cancel();
    this.#onWake?.();
  };

  constructor(doorbell: Doorbell) {
    this.#doorbell = doorbell;
  }

  get armed(): boolean {
    return this.#armed;
  }

  /** Calls the newest `onWake`, never from within, once after a sender rings. Look for mail after it. */
  arm(onWake: () => void): void {
    this.#onWake = onWake;
    const seen = this.#doorbell.prepare();
    if (this.#armed) return;
    this.#armed = true;
    const wait = this.#doorbell.waitAsync(seen);
    if (wait === true) queueMicrotask(this.#woken);
    else void wait.then(this.#woken);
  }
}
