// Duty cycles: who is called when, what is measured, and what becomes of an actor that throws.
import test from 'ava';
import { FakeClock } from '../../src/base/clock.ts';
import { Duty } from '../../src/runtime/duty.ts';
import { noMeter, PlainActor } from './plain-actor.ts';

interface Rig {
  readonly clock: FakeClock;
  readonly duty: Duty;
  readonly failures: string[];
  readonly a: PlainActor;
  readonly b: PlainActor;
}

function rig(): Rig {
  const clock = new FakeClock();
  const failures: string[] = [];
  const duty = new Duty(clock, (name, error) => failures.push(`${name}: ${(error as Error).message}`));
  const a = new PlainActor('a');
  const b = new PlainActor('b');
  duty.add(a, noMeter);
  duty.add(b, noMeter);
  return { clock, duty, failures, a, b };
}

test('duty: an actor runs from the end of its start to the end of its stop', async (t) => {
  const { duty, a, b } = rig();
  let opened = (): void => {};
  a.starting = () => new Promise<void>((resolve) => (opened = resolve));
  let closed = (): void => {};
  a.stopping = () => new Promise<void>((resolve) => (closed = resolve));
  duty.pass();
  t.is(a.passes, 0);
  const starting = duty.start('a');
  duty.pass();
  t.is(a.passes, 0);
  opened();
  await starting;
  a.work = () => 3;
  t.is(duty.pass(), 3);
  t.is(b.passes, 0);
  const stopping = duty.stop('a');
  t.is(duty.stateOf('a'), 'stopping');
  t.is(duty.pass(), 3);
  closed();
  await stopping;
  t.is(duty.pass(), 0);
  t.deepEqual(a.calls, ['start', 'stop']);
  await duty.stop('a');
  t.deepEqual(a.calls, ['start', 'stop']);
});

test('duty: a failed start leaves the actor idle, a failed stop still stops it', async (t) => {
  const { duty, a, b } = rig();
  a.starting = () => Promise.reject(new Error('no port'));
  await t.throwsAsync(duty.start('a'), { message: 'no port' });
  duty.pass();
  t.is(a.passes, 0);
  await duty.start('b');
  b.stopping = () => {
    throw new Error('disk gone');
  };
  await t.throwsAsync(duty.stop('b'), { message: 'disk gone' });
  t.is(duty.stateOf('b'), 'stopped');
});

test('duty: an actor that throws gives up what it holds, is told of once and never runs again; the others do', async (t) => {
  const { duty, failures, a, b } = rig();
  await duty.start('a');
  await duty.start('b');
  a.work = () => {
    throw new Error('broken');
  };
  t.true(duty.pass() > 0, 'a failure is something that happened: the thread looks again');
  duty.pass();
  t.deepEqual(failures, ['a: broken']);
  t.deepEqual(a.calls, ['start', 'abandon']);
  t.is(a.passes, 1);
  t.is(b.passes, 2);
  t.is(duty.stateOf('a'), 'failed');
  await duty.stop('a');
  t.deepEqual(a.calls, ['start', 'abandon']);
});

test('duty: a successor takes the place of one that has ended, never of one that runs', async (t) => {
  const { duty, a } = rig();
  await duty.start('a');
  t.throws(() => duty.add(new PlainActor('a'), noMeter), { message: /running/ });
  await t.throwsAsync(duty.start('a'), { message: /once/ });
  await duty.stop('a');
  const next = new PlainActor('a');
  duty.add(next, noMeter);
  await duty.start('a');
  duty.pass();
  t.is(duty.actorCount, 2);
  t.is(duty.nameOf(0), 'a');
  t.is(next.passes, 1);
  t.is(a.passes, 0);
  await t.throwsAsync(duty.start('c'), { message: /no actor c/ });
});

test('duty: the next deadline is the soonest of those that run', async (t) => {
  const { duty, a, b } = rig();
  a.dueMs = 10;
  b.dueMs = 20;
  t.is(duty.deadlineMs(), Number.POSITIVE_INFINITY);
  await duty.start('b');
  t.is(duty.deadlineMs(), 20);
  await duty.start('a');
  t.is(duty.deadlineMs(), 10);
  await duty.stop('a');
  t.is(duty.deadlineMs(), 20);
});

test('duty: each cycle is measured with its time and its work, one actor at a time where the caller chooses', async (t) => {
  const { clock, duty } = rig();
  const cycles: [number, number][] = [];
  const c = new PlainActor('c');
  c.work = () => {
    clock.advance(7);
    return 5;
  };
  duty.add(c, { cycle: (busyMs, work) => cycles.push([busyMs, work]) });
  await duty.start('c');
  t.is(duty.passOne(2), 5);
  t.is(duty.passOne(0), 0);
  t.deepEqual(cycles, [[7, 5]]);
});
