// Hosts the actors on worker threads: spawns one per thread of the topology and talks to them over the control plane.
import { Worker } from 'node:worker_threads';
import type { Boot } from './actors/context.ts';
import { present } from './base/assert.ts';
import type { Settings } from './config/settings.ts';
import { ControlFlag, type FailureReport, ThreadLink } from './runtime/control.ts';
import { Doorbell } from './runtime/doorbell.ts';
import type { ActorHost } from './runtime/supervisor.ts';
import type { SharedMemory } from './shared-memory.ts';
import type { ThreadData } from './thread.ts';
import { specOf, type Topology } from './topology.ts';

const START_LIMIT_MS = 600_000; // recovery of followers is not part of it, but a huge directory may be
const STOP_LIMIT_MS = 60_000;

interface HostedThread {
  readonly worker: Worker;
  readonly link: ThreadLink;
}

export class WorkerHost implements ActorHost {
  onFailure: (name: string, message: string) => void = () => {};
  readonly #topology: Topology;
  readonly #threads: readonly HostedThread[];
  #ending = false;

  constructor(topology: Topology, memory: SharedMemory, settings: Settings) {
    this.#topology = topology;
    this.#threads = topology.threads.map((_, threadIndex) => this.#spawn({ threadIndex, topology, memory, settings }));
  }

  /** Hands over what start found in the store; threads have loaded their code meanwhile. */
  async boot(boot: Boot): Promise<void> {
    await Promise.all(this.#threads.map(({ link }) => link.boot(boot, START_LIMIT_MS)));
  }

  startActor(name: string): Promise<void> {
    return this.#linkOf(name).startActor(name, START_LIMIT_MS);
  }

  stopActor(name: string): Promise<void> {
    return this.#linkOf(name).stopActor(name, STOP_LIMIT_MS);
  }

  async end(): Promise<void> {
    this.#ending = true;
    for (const { link } of this.#threads) link.release();
    await Promise.all(this.#threads.map(({ worker }) => worker.terminate()));
  }

  #linkOf(name: string): ThreadLink {
    return present(this.#threads[specOf(this.#topology, name).thread], 'thread').link;
  }

  #spawn(data: ThreadData): HostedThread {
    const { threadIndex, topology, memory } = data;
    // The compiled file has another ending than the source; whichever runs, its neighbour has the same.
    const entry = new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './thread.js', import.meta.url);
    const name = present(topology.threads[threadIndex], 'thread').name;
    const worker = new Worker(entry, { workerData: data, name });
    worker.on('message', (message: { failure?: FailureReport }) => {
      if (message?.failure !== undefined) this.onFailure(message.failure.actor, message.failure.message);
    });
    const gone = (why: string): void => {
      if (this.#ending) return;
      for (const actor of present(topology.threads[threadIndex], 'thread').actors) this.onFailure(actor, `thread ${name} ${why}`);
    };
    worker.on('error', (error) => gone(`failed: ${error.message}`));
    worker.on('exit', (code) => gone(`ended exitCode=${code}`));
    const bell = new Doorbell(memory.bells, threadIndex);
    return { worker, link: new ThreadLink(worker, new ControlFlag(memory.control, threadIndex), () => bell.ring()) };
  }
}
