// The runner of threads without sockets: works while there is work, sleeps no longer than it may, and leaves room for control calls.
import test from 'ava';
import { FakeClock } from '../../src/base/clock.ts';
import { BlockingRunner } from '../../src/runtime/blocking-runner.ts';
import { Doorbell, doorbellMemorySize } from '../../src/runtime/doorbell.ts';
import { Duty } from '../../src/runtime/duty.ts';
import { noMeter, PlainActor } from './plain-actor.ts';

interface Rig {
  readonly clock: FakeClock;
  readonly duty: Duty;
  readonly bell: Doorbell;
  readonly actor: PlainActor;
}

async function rig(): Promise<Rig> {
  const clock = new FakeClock();
  const duty = new Duty(clock, () => {});
  const actor = new PlainActor('worker');
  duty.add(actor, noMeter);
  await duty.start('worker');
  return { clock, duty, bell: new Doorbell(new SharedArrayBuffer(doorbellMemorySize(1)), 0), actor };
}

/** A bell that notes how long it was waited for, and does not wait. */
function noting(bell: Doorbell, onWait: (ms: number) => void): Doorbell {
  bell.wait = (_seen, ms) => {
    onWait(ms);
    bell.cancel();
  };
  return bell;
}

test('blocking runner: never sleeps while there is work', async (t) => {
  const { clock, duty, bell, actor } = await rig();
  const waits: number[] = [];
  const runner = new BlockingRunner(
    duty,
    noting(bell, (ms) => waits.push(ms)),
    clock,
    () => false,
  );
  actor.work = () => {
    if (actor.passes === 100) runner.close();
    return actor.passes < 100 ? 1 : 0;
  };
  await runner.run();
  t.deepEqual(waits, []);
  t.true(actor.passes >= 100);
});

test('blocking runner: sleeps until the deadline, at most a second, and not at all where it has passed', async (t) => {
  const { clock, duty, bell, actor } = await rig();
  const waits: number[] = [];
  const dues = [5, 250, 5_000, Number.POSITIVE_INFINITY, -3];
  let passesWithoutWait = 0;
  const runner: BlockingRunner = new BlockingRunner(
    duty,
    noting(bell, (ms) => {
      waits.push(ms);
      actor.dueMs = clock.steadyMs() + (dues[waits.length] ?? 0);
      passesWithoutWait = actor.passes;
    }),
    clock,
    () => false,
  );
  actor.dueMs = clock.steadyMs() + (dues[0] as number);
  actor.work = () => {
    if (waits.length === 4 && actor.passes > passesWithoutWait + 10) runner.close();
    return 0;
  };
  await runner.run();
  t.deepEqual(waits, [5, 250, 1_000, 1_000]);
});

test('blocking runner: what is published between look and sleep is seen before the sleep', async (t) => {
  const { clock, duty, bell, actor } = await rig();
  let waited = false;
  const runner = new BlockingRunner(
    duty,
    noting(bell, () => {
      waited = true;
      runner.close();
    }),
    clock,
    () => false,
  );
  // The second look finds it; a runner without one would have slept.
  actor.work = () => {
    if (actor.passes === 2) {
      t.false(waited);
      return 1;
    }
    return 0;
  };
  await runner.run();
  t.true(actor.passes >= 4);
});

test('blocking runner: a control call gets its turn of the event loop, and no sleep comes before it', async (t) => {
  const { clock, duty, bell } = await rig();
  let pending = true;
  const runner = new BlockingRunner(
    duty,
    noting(bell, () => {
      t.false(pending, 'asleep with a call waiting');
      runner.close();
    }),
    clock,
    () => pending,
  );
  setImmediate(() => setImmediate(() => (pending = false)));
  await runner.run();
  t.false(pending);
});
