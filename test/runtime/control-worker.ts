// A thread for the control tests: it sleeps in Atomics.wait whenever nobody wants anything, and has actors of every temper.
import { parentPort, workerData } from 'node:worker_threads';
import { present } from '../../src/base/assert.ts';
import { systemClock } from '../../src/base/clock.ts';
import { ErrorCodes, RingmqError } from '../../src/base/errors.ts';
import { BlockingRunner } from '../../src/runtime/blocking-runner.ts';
import { ControlFlag, outcomeOf, serveControl } from '../../src/runtime/control.ts';
import { Doorbell } from '../../src/runtime/doorbell.ts';
import { Duty } from '../../src/runtime/duty.ts';

export interface ControlTask {
  readonly flags: SharedArrayBuffer;
  readonly bells: SharedArrayBuffer;
}

const { flags, bells } = workerData as ControlTask;
const started: string[] = [];
serveControl(present(parentPort), {
  boot: (value) => outcomeOf(() => void started.push(String(value))),
  startActor: (name) =>
    outcomeOf(async () => {
      if (name === 'coded') throw new RingmqError(ErrorCodes.address, 'the port is in use', { port: 1 });
      if (name === 'plain') throw new Error('just broken');
      if (name === 'silent') await new Promise(() => {});
      if (name === 'deadly') process.exit(3);
      started.push(name);
    }),
  stopActor: (name) =>
    outcomeOf(() => {
      if (!started.includes(name)) throw new Error(`not started: ${started.join(' ')}`);
    }),
});
const flag = new ControlFlag(flags, 0);
void new BlockingRunner(new Duty(systemClock, () => {}), new Doorbell(bells, 0), systemClock, flag.pending).run();
