// The runner of threads with sockets: a turn after each round of the event loop that asked for one, the bell, and deadlines.
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { FakeClock, systemClock } from '../../src/base/clock.ts';
import { Doorbell, doorbellMemorySize } from '../../src/runtime/doorbell.ts';
import { Duty } from '../../src/runtime/duty.ts';
import { ReactiveRunner } from '../../src/runtime/reactive-runner.ts';
import { noMeter, PlainActor } from './plain-actor.ts';

interface Rig {
  readonly runner: ReactiveRunner;
  readonly sender: Doorbell;
  readonly actor: PlainActor;
  /** Settles when the actor is called the next time. */
  nextPass(): Promise<void>;
}

async function rig(t: ExecutionContext, clock = systemClock): Promise<Rig> {
  const duty = new Duty(clock, () => {});
  const actor = new PlainActor('socket');
  let onPass = (): void => {};
  actor.work = () => {
    onPass();
    return 0;
  };
  duty.add(actor, noMeter);
  await duty.start('socket');
  const memory = new SharedArrayBuffer(doorbellMemorySize(1));
  const runner = new ReactiveRunner(duty, new Doorbell(memory, 0), clock);
  t.teardown(() => runner.close());
  const nextPass = (): Promise<void> => new Promise((resolve) => (onPass = resolve));
  return { runner, sender: new Doorbell(memory, 0), actor, nextPass };
}

test('reactive runner: many wakes of one round become one turn, after it', async (t) => {
  const { runner, actor } = await rig(t);
  for (let i = 0; i < 10; i++) runner.wake();
  t.is(actor.passes, 0);
  await turn();
  await turn();
  // One look, and one more after the wake-up is armed.
  t.is(actor.passes, 2);
});

test('reactive runner: the bell wakes it from its sleep, again and again', async (t) => {
  const { runner, sender, actor, nextPass } = await rig(t);
  runner.start();
  await turn();
  await turn();
  for (let i = 0; i < 20; i++) {
    const before = actor.passes;
    const woken = nextPass();
    sender.ring();
    await woken;
    await turn();
    t.true(actor.passes > before);
  }
});

test('reactive runner: passes that take long let the sockets have their say in between', async (t) => {
  const clock = new FakeClock();
  const { runner, actor } = await rig(t, clock);
  let passes = 0;
  let workMs = 0;
  actor.work = () => {
    passes++;
    clock.advance(workMs);
    return passes < 40 ? 1 : 0;
  };
  const passesOfTurn = async (): Promise<number> => {
    const before = passes;
    await turn();
    return passes - before;
  };
  runner.wake();
  t.is(await passesOfTurn(), 16);
  workMs = 3;
  t.is(await passesOfTurn(), 2);
  workMs = 90;
  t.is(await passesOfTurn(), 1);
  workMs = 0;
  t.is(await passesOfTurn(), 16);
});

test('reactive runner: mail within the thread makes a turn, and within a turn one more look instead of a turn', async (t) => {
  const { runner, actor } = await rig(t);
  runner.start();
  await turn();
  await turn();
  const before = actor.passes;
  runner.ring();
  t.is(actor.passes, before);
  // The first look says that it sent mail, though it did no other work.
  actor.work = () => {
    actor.work = () => 0;
    runner.ring();
    return 0;
  };
  await turn();
  await turn();
  t.is(actor.passes, before + 3, 'the mail is looked for, and once more after the wake-up is armed');
  await turn();
  await turn();
  t.is(actor.passes, before + 3);
});

test('reactive runner: mail sent by the last look before the sleep is not slept on', async (t) => {
  const { runner, actor } = await rig(t);
  let looks = 0;
  actor.work = () => {
    looks++;
    if (looks === 2) runner.ring();
    return 0;
  };
  runner.start();
  await turn();
  await turn();
  await turn();
  t.is(looks, 4, 'another turn came, with its look and the one before the sleep');
});

test('reactive runner: a deadline wakes it, and a nearer one that comes later does too', async (t) => {
  const { runner, actor, nextPass } = await rig(t);
  actor.dueMs = systemClock.steadyMs() + 60_000;
  runner.start();
  await turn();
  await turn();
  actor.dueMs = systemClock.steadyMs() + 5;
  runner.wake();
  await turn();
  await turn();
  const woken = nextPass();
  await woken;
  t.true(systemClock.steadyMs() >= actor.dueMs - 1);
  actor.dueMs = Number.POSITIVE_INFINITY;
});

test('reactive runner: work without end leaves the sockets their turns', async (t) => {
  const { runner, actor } = await rig(t);
  actor.work = () => 1;
  runner.start();
  for (let i = 0; i < 5; i++) {
    const before = actor.passes;
    await turn();
    await turn();
    t.true(actor.passes > before);
    t.true(actor.passes - before < 100);
  }
});

test('reactive runner: closed, it neither turns nor keeps a timer', async (t) => {
  const { runner, sender, actor } = await rig(t, new FakeClock());
  actor.dueMs = 1;
  runner.start();
  await turn();
  await turn();
  runner.close();
  const before = actor.passes;
  runner.wake();
  sender.ring();
  await sleep(10);
  t.is(actor.passes, before);
});
