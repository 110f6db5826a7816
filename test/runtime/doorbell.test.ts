// The doorbell: its contract on one thread, then threads that would stall for ever if one wake-up were lost.

import test, { type ExecutionContext } from 'ava';
import { allocateRegion, type Region } from '../../src/base/arena.ts';
import { AsyncWaiter, Doorbell, doorbellMemorySize } from '../../src/runtime/doorbell.ts';
import { ringMemorySize } from '../../src/runtime/ring.ts';
import type { BellTask } from './bell-worker.ts';
import { runWorker } from './threads.ts';

function newBell(): { owner: Doorbell; sender: Doorbell; words: Int32Array } {
  const memory = new SharedArrayBuffer(doorbellMemorySize(2));
  return { owner: new Doorbell(memory, 1), sender: new Doorbell(memory, 1), words: new Int32Array(memory) };
}

test('doorbell: a ring costs nothing and leaves no trace while the owner is awake', (t) => {
  const { owner, sender } = newBell();
  const seen = owner.prepare();
  owner.cancel();
  sender.ring();
  t.is(owner.prepare(), seen);
});

test('doorbell: a ring between prepare and wait keeps the owner awake', (t) => {
  const { owner, sender } = newBell();
  const seen = owner.prepare();
  sender.ring();
  owner.wait(seen, Number.POSITIVE_INFINITY);
  const again = owner.prepare();
  t.not(again, seen);
  sender.ring();
  t.is(owner.waitAsync(again), true);
});

test('doorbell: a wait ends by time-out where nobody rings, and the owner counts as awake', (t) => {
  const { owner, words } = newBell();
  owner.wait(owner.prepare(), 1);
  t.true(words.every((word) => word === 0));
});

test('doorbell: each index has its own words', (t) => {
  const memory = new SharedArrayBuffer(doorbellMemorySize(2));
  const first = new Doorbell(memory, 0);
  const second = new Doorbell(memory, 1);
  const seen = first.prepare();
  second.ring();
  t.is(first.prepare(), seen);
  t.throws(() => new Doorbell(memory, 2), { message: /out of range/ });
});

test('doorbell: only one asynchronous wait at a time, resolved by a ring', async (t) => {
  const { owner, sender } = newBell();
  const wait = owner.waitAsync(owner.prepare());
  t.throws(() => owner.waitAsync(owner.prepare()), { message: /already outstanding/ });
  sender.ring();
  await wait;
  const next = owner.waitAsync(owner.prepare());
  t.not(next, true);
  sender.ring();
  await next;
});

test('doorbell: arm is idempotent, and an armed wait serves the sleeps after it', async (t) => {
  const { owner, sender } = newBell();
  const waiter = new AsyncWaiter(owner);
  let wakes = 0;
  const woken = new Promise<void>((resolve) => {
    const wake = (): void => {
      wakes++;
      resolve();
    };
    waiter.arm(wake);
    waiter.arm(wake);
    // A socket event: awake, nothing to do, asleep again with the first wait still armed.
    owner.cancel();
    sender.ring();
    waiter.arm(wake);
  });
  t.true(waiter.armed);
  sender.ring();
  sender.ring();
  t.is(wakes, 0);
  await woken;
  t.is(wakes, 1);
  t.false(waiter.armed);
  const seen = owner.prepare();
  owner.cancel();
  sender.ring();
  t.is(owner.prepare(), seen);
});

const count = 30_000;

function rings(n: number): Region[] {
  return Array.from({ length: n }, () => allocateRegion(ringMemorySize(1024)));
}

async function twoSenders(t: ExecutionContext, role: 'block' | 'react'): Promise<void> {
  const from = rings(2);
  const bells = new SharedArrayBuffer(doorbellMemorySize(2));
  const start = (task: Partial<BellTask>): Promise<{ received: number; sleeps: number }> =>
    runWorker(t, './bell-worker.js', import.meta.url, { from: [], to: [], bells, ownBell: 1, peerBell: 0, count, seed: 1, ...task });
  const owner = start({ role, from, ownBell: 0, peerBell: 1, count: count * 2 });
  const senders = from.map((memory, i) => start({ role: 'send', to: [memory], seed: i + 2 }));
  const { received, sleeps } = await owner;
  await Promise.all(senders);
  t.is(received, count * 2);
  t.true(sleeps > 0);
  t.log(`${received} messages, ${sleeps} sleeps`);
}

test.serial('doorbell: two senders and a blocking owner never stall, without time-outs', (t) => twoSenders(t, 'block'));
test.serial('doorbell: two senders and a reactive owner with socket events never stall, without time-outs', (t) => twoSenders(t, 'react'));

test.serial('doorbell: two threads that wake each other for every message never stall', async (t) => {
  const [there, back] = rings(2) as [Region, Region];
  const bells = new SharedArrayBuffer(doorbellMemorySize(2));
  const task = { bells, count: 20_000 };
  const start = (data: BellTask): Promise<{ received: number; sleeps: number }> => runWorker(t, './bell-worker.js', import.meta.url, data);
  const echo = start({ ...task, role: 'echo', from: [there], to: [back], ownBell: 0, peerBell: 1, seed: 8 });
  const ping = start({ ...task, role: 'ping', from: [back], to: [there], ownBell: 1, peerBell: 0, seed: 9 });
  const results = await Promise.all([echo, ping]);
  t.deepEqual(
    results.map((result) => result.received),
    [task.count, task.count],
  );
  t.log(`sleeps: ${results.map((result) => result.sleeps).join(', ')}`);
});
