// Calls from the main thread to an actor thread: through its sleep, with codes of failures, with a limit, and never into the void.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import test, { type ExecutionContext } from 'ava';
import { systemClock } from '../../src/base/clock.ts';
import { ErrorCodes, RingmqError } from '../../src/base/errors.ts';
import { ControlFlag, outcomeOf, ThreadLink } from '../../src/runtime/control.ts';
import { Doorbell, doorbellMemorySize } from '../../src/runtime/doorbell.ts';
import type { ControlTask } from './control-worker.ts';

const LIMIT_MS = 30_000;

interface Rig {
  readonly worker: Worker;
  readonly link: ThreadLink;
  readonly flag: ControlFlag;
}

function rig(t: ExecutionContext): Rig {
  const task: ControlTask = { flags: new SharedArrayBuffer(4), bells: new SharedArrayBuffer(doorbellMemorySize(1)) };
  const worker = new Worker(new URL('./control-worker.js', import.meta.url), { workerData: task });
  t.teardown(() => worker.terminate());
  const bell = new Doorbell(task.bells, 0);
  const flag = new ControlFlag(task.flags, 0);
  return { worker, flag, link: new ThreadLink(worker, flag, () => bell.ring()) };
}

test('control: a thread that sleeps answers because its bell is rung', async (t) => {
  const { link, flag } = rig(t);
  await link.boot('booted', LIMIT_MS);
  const beginMs = systemClock.steadyMs();
  for (let i = 0; i < 30; i++) await link.startActor(`a${i}`, LIMIT_MS);
  await link.stopActor('a29', LIMIT_MS);
  // Asleep it would look by itself once a second.
  t.true(systemClock.steadyMs() - beginMs < 10_000);
  t.false(flag.pending());
});

test('control: failures come with their codes and words', async (t) => {
  const { link, flag } = rig(t);
  await t.throwsAsync(link.startActor('coded', LIMIT_MS), { instanceOf: RingmqError, code: ErrorCodes.address, message: /in use port=1/ });
  await t.throwsAsync(link.startActor('plain', LIMIT_MS), { instanceOf: RingmqError, code: ErrorCodes.closed, message: /just broken/ });
  await t.throwsAsync(link.stopActor('nobody', LIMIT_MS), { message: /not started/ });
  await link.startActor('fine', LIMIT_MS);
  t.false(flag.pending());
});

test('control: a call that takes too long is given up, and later ones are served', async (t) => {
  const { link, flag } = rig(t);
  await link.boot(1, LIMIT_MS);
  await t.throwsAsync(link.startActor('silent', 20), { code: ErrorCodes.timeout, message: /start of silent/ });
  t.false(flag.pending());
  await link.startActor('fine', LIMIT_MS);
});

test('control: a thread that dies rejects the calls under way and all after them', async (t) => {
  const { link, worker, flag } = rig(t);
  const exit = once(worker, 'exit');
  const waiting = link.startActor('silent', LIMIT_MS);
  const deadly = link.startActor('deadly', LIMIT_MS);
  await t.throwsAsync(waiting, { code: ErrorCodes.closed, message: /thread ended exitCode=3/ });
  await t.throwsAsync(deadly, { code: ErrorCodes.closed });
  await exit;
  await t.throwsAsync(link.startActor('late', LIMIT_MS), { code: ErrorCodes.closed });
  t.false(flag.pending());
});

test('control: a step becomes data, whatever it throws', async (t) => {
  t.deepEqual(await outcomeOf(() => {}), { ok: true });
  const coded = await outcomeOf(() => Promise.reject(new RingmqError(ErrorCodes.io, 'disk')));
  t.deepEqual(coded, { ok: false, code: 'io', message: 'disk' });
  const plain = await outcomeOf(() => {
    throw new Error('no');
  });
  t.deepEqual(plain, { ok: false, code: '', message: 'no' });
});
