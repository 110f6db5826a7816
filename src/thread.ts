// Entry of a worker thread: hosts the actors that the topology gives it, and starts and stops them as the main thread asks.
import { parentPort, workerData } from 'node:worker_threads';
import { loadActorClasses } from './actor-classes.ts';
import type { Boot } from './actors/context.ts';
import { Assembly } from './assembly.ts';
import { present } from './base/assert.ts';
import { systemClock } from './base/clock.ts';
import { errorText } from './base/errors.ts';
import { createLog } from './base/log.ts';
import { systemRandom } from './base/random.ts';
import type { Settings } from './config/settings.ts';
import { BlockingRunner } from './runtime/blocking-runner.ts';
import { ControlFlag, type FailureReport, outcomeOf, serveControl } from './runtime/control.ts';
import { Doorbell } from './runtime/doorbell.ts';
import { Duty } from './runtime/duty.ts';
import { NodeTransport } from './runtime/node-transport.ts';
import { ReactiveRunner } from './runtime/reactive-runner.ts';
import { readBufferOf, type SharedMemory } from './shared-memory.ts';
import { NodeFiles } from './store/files/node-files.ts';
import type { Topology } from './topology.ts';

/** What the main thread gives a new thread. */
export interface ThreadData {
  readonly threadIndex: number;
  readonly topology: Topology;
  readonly memory: SharedMemory;
  readonly settings: Settings;
}

async function main(data: ThreadData): Promise<void> {
  const { threadIndex, topology, memory, settings } = data;
  const port = present(parentPort, 'parent port');
  const thread = present(topology.threads[threadIndex], 'thread');
  const log = createLog(settings.logLevel, thread.name);
  const report = (actor: string, error: unknown): void => {
    log.error('actor stopped by an error', { actor, error: errorText(error), stack: error instanceof Error ? error.stack : undefined });
    const failure: FailureReport = { actor, message: errorText(error) };
    port.postMessage({ failure });
  };
  const duty = new Duty(systemClock, report);
  const bell = new Doorbell(memory.bells, threadIndex);
  const flag = new ControlFlag(memory.control, threadIndex);
  const reactive = thread.reactive ? new ReactiveRunner(duty, bell, systemClock) : null;
  const transport = new NodeTransport({
    readBuffer: readBufferOf(memory, threadIndex),
    onFault: (error) =>
      log.error('a connection was closed by an error of ours', {
        error: errorText(error),
        stack: error instanceof Error ? error.stack : undefined,
      }),
  });
  const wake = reactive?.wake ?? (() => {});
  const environment = {
    settings,
    clock: systemClock,
    random: systemRandom,
    log,
    files: new NodeFiles(),
    transport,
    wake,
    ...(reactive === null ? {} : { ring: reactive.ring }),
    loopActiveMs: () => performance.eventLoopUtilization().active,
  };
  const kinds = topology.actors.filter((actor) => actor.thread === threadIndex).map((actor) => actor.kind);
  const assembly = new Assembly(topology, memory, environment, await loadActorClasses(kinds));
  let boot: Boot | null = null;
  serveControl(port, {
    boot: (value) =>
      outcomeOf(() => {
        boot = value as Boot;
      }),
    startActor: (name) =>
      outcomeOf(async () => {
        duty.add(assembly.build(name, present(boot, 'boot')), assembly.meterOf(name));
        await duty.start(name);
        wake();
      }),
    stopActor: (name) => outcomeOf(() => duty.stop(name)),
  });
  if (reactive !== null) reactive.start();
  else await new BlockingRunner(duty, bell, systemClock, flag.pending).run();
}

// A failure ends the thread, which its host sees.
await main(workerData as ThreadData);
