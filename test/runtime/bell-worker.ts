// Threads that live by the doorbell alone, without time-outs: a lost wake-up stalls them for ever.
import type { Region } from '../../src/base/arena.ts';
import { SeededRandom } from '../../src/base/random.ts';
import { AsyncWaiter, Doorbell } from '../../src/runtime/doorbell.ts';
import { type RingHandler, RingReader, RingWriter } from '../../src/runtime/ring.ts';
import { report, workerTask } from './threads.ts';

export interface BellTask {
  /** echo: blocks, and sends everything back; block, react: receive from all rings; send: one ring, one message at a time. */
  readonly role: 'echo' | 'block' | 'react' | 'send' | 'ping';
  /** Rings that this thread reads (all but senders) and writes. */
  readonly from: readonly Region[];
  readonly to: readonly Region[];
  readonly bells: SharedArrayBuffer;
  readonly ownBell: number;
  readonly peerBell: number;
  readonly count: number;
  readonly seed: number;
}

const task = workerTask<BellTask>();
const own = new Doorbell(task.bells, task.ownBell);
const peer = new Doorbell(task.bells, task.peerBell);
const readers = task.from.map((memory) => new RingReader(memory));
const writers = task.to.map((memory) => new RingWriter(memory));
const random = new SeededRandom(task.seed);
let received = 0;
let sleeps = 0;

const counting: RingHandler = {
  onRecord: () => {
    received++;
    return true;
  },
};

function receive(): number {
  let count = 0;
  for (const reader of readers) count += reader.drain(counting, 64);
  return count;
}

function send(): void {
  for (const writer of writers) {
    while (writer.claim(8) === -1) idle(50);
    writer.commit(1);
    if (writer.publish()) peer.ring();
  }
}

function idle(turns: number): void {
  for (let i = 0; i < turns; i++) Atomics.load(idleWord, 0);
}
const idleWord = new Int32Array(1);

/** Sleeps unless there is mail; returns how much it received. */
function sleepOrReceive(): number {
  const seen = own.prepare();
  const count = receive();
  if (count > 0) {
    own.cancel();
    return count;
  }
  sleeps++;
  own.wait(seen, Number.POSITIVE_INFINITY);
  return receive();
}

function runBlocking(onMail: (count: number) => void): void {
  while (received < task.count) {
    const count = receive();
    onMail(count > 0 ? count : sleepOrReceive());
    idle(random.below(300));
  }
  report({ received, sleeps });
}

/** Duty cycles from rings and, as from sockets, from the event loop at odd times; then only from rings. */
function runReactive(): void {
  const waiter = new AsyncWaiter(own);
  const alive = setInterval(() => {}, 1_000_000);
  let events = 0;
  const cycle = (): void => {
    own.cancel();
    for (;;) {
      while (receive() > 0);
      waiter.arm(cycle);
      if (receive() === 0) break;
    }
    sleeps++;
    if (received >= task.count) {
      clearInterval(alive);
      report({ received, sleeps });
    } else if (random.below(2) === 0 && events++ < task.count) setImmediate(cycle);
  };
  cycle();
}

if (task.role === 'send') {
  for (let i = 0; i < task.count; i++) {
    send();
    idle(random.below(random.below(8) === 0 ? 20_000 : 200));
  }
  report({ received, sleeps });
} else if (task.role === 'ping') {
  send();
  runBlocking((count) => {
    for (let i = 0; i < count; i++) send();
  });
} else if (task.role === 'echo') {
  runBlocking((count) => {
    for (let i = 0; i < count; i++) send();
  });
} else if (task.role === 'block') runBlocking(() => {});
else runReactive();
