// The composition root: opens the store, lays out actors and memory, starts all in order, and stops all in order.
import { availableParallelism } from 'node:os';
import { type Boot, Positions } from './actors/context.ts';
import { systemClock } from './base/clock.ts';
import { errorText } from './base/errors.ts';
import { newRunId } from './base/id.ts';
import type { Log } from './base/log.ts';
import { systemRandom } from './base/random.ts';
import { resolveCount } from './config/count.ts';
import type { Settings } from './config/settings.ts';
import { OpenedStore } from './opened-store.ts';
import { NodeTransport } from './runtime/node-transport.ts';
import { SharedNumbers } from './runtime/shared-numbers.ts';
import { type ActorHost, Supervisor } from './runtime/supervisor.ts';
import { allocateMemory, readBufferOf, type SharedMemory } from './shared-memory.ts';
import type { Files } from './store/files/files.ts';
import { runningPlace } from './store/files/folder-identity.ts';
import { MemoryFiles } from './store/files/memory-files.ts';
import { NodeFiles } from './store/files/node-files.ts';
import { supervisionRules } from './supervision-rules.ts';
import { ActorKinds, layOut, startOrder, stopOrder, type Topology } from './topology.ts';
import { WorkerHost } from './worker-host.ts';

const READY_POLL_MS = 2;
/** Registration has its own time limit well below this. */
const READY_LIMIT_MS = 10_000;
/** What the coordinator gets to say good-bye to the name servers. */
const FAREWELL_MS = 50;

export interface BrokerOptions {
  readonly settings: Settings;
  readonly log: Log;
  /** Keep everything in this process's memory: nothing is read from or written to disk. */
  readonly memory?: boolean;
  /** Told when the broker stops by itself, after it has. */
  readonly onStopped?: (reason: string) => void;
}

type BootableHost = ActorHost & { boot(boot: Boot): Promise<void> };

export class Broker {
  readonly settings: Settings;
  readonly topology: Topology;
  readonly inMemory: boolean;
  readonly #memory: SharedMemory;
  readonly #positions: SharedNumbers;
  readonly #host: BootableHost;
  readonly #supervisor: Supervisor;
  readonly #store: OpenedStore;
  readonly #log: Log;
  readonly #onStopped: (reason: string) => void;
  #closing: Promise<void> | null = null;

  private constructor(options: BrokerOptions, store: OpenedStore, topology: Topology, memory: SharedMemory, host: BootableHost) {
    this.settings = options.settings;
    this.inMemory = options.memory === true;
    this.topology = topology;
    this.#store = store;
    this.#memory = memory;
    this.#positions = new SharedNumbers(memory.positions);
    this.#host = host;
    this.#log = options.log;
    this.#onStopped = options.onStopped ?? (() => {});
    const ordered = startOrder.flatMap((kind) => topology.actors.filter((actor) => actor.kind === kind));
    this.#supervisor = new Supervisor(
      ordered,
      (kind) => supervisionRules[kind as keyof typeof supervisionRules],
      host,
      systemClock,
      options.log,
      (reason) => this.#onFatal(reason),
      pause,
    );
  }

  /** Resolves when messages are accepted. Throws RingmqError `config`, `store` or `address` with one clear line, all closed again. */
  static async start(options: BrokerOptions): Promise<Broker> {
    const { settings } = options;
    const topology = topologyOf(settings, options.memory === true);
    const memory = allocateMemory(topology);
    const files: Files = options.memory ? new MemoryFiles(systemClock) : new NodeFiles();
    const store = await OpenedStore.lock(files, settings, options.log, options.memory === true);
    let host: BootableHost | null = null;
    try {
      // Threads load their code while the store is read.
      host =
        topology.threads[0]?.name === 'inline'
          ? await inlineHost(options, topology, memory, files)
          : new WorkerHost(topology, memory, settings);
      const broker = new Broker(options, store, topology, memory, host);
      await broker.#open();
      return broker;
    } catch (error) {
      await host?.end();
      await store.release();
      throw error;
    }
  }

  async #open(): Promise<void> {
    const startMs = systemClock.steadyMs();
    const place = this.inMemory ? '' : runningPlace(this.settings.storePathRootDir);
    const boot = this.#store.recover(this.#memory, systemClock.wallMs(), newRunId(), place);
    const [positionMax, from, ms] = [
      this.#positions.get(Positions.appended),
      boot.dispatchFrom,
      Math.round(systemClock.steadyMs() - startMs),
    ];
    this.#log.info('the store is recovered', { positionMax, followFrom: from, queues: boot.queues.length, clean: !boot.abnormal, ms });
    await this.#host.boot(boot);
    await this.#supervisor.start();
    const limitMs = systemClock.steadyMs() + READY_LIMIT_MS;
    while (this.#positions.get(Positions.registered) === 0 && systemClock.steadyMs() < limitMs) await pause(READY_POLL_MS);
  }

  get address(): { readonly host: string; readonly port: number } {
    return { host: this.settings.brokerIP1, port: this.#positions.get(Positions.listenPort) };
  }

  /** 0 where there is no second port. */
  get vipPort(): number {
    return this.#positions.get(Positions.vipPort);
  }

  /** null where no name server runs in this process. */
  get namesrvAddress(): { readonly host: string; readonly port: number } | null {
    const port = this.#positions.get(Positions.namesrvPort);
    return port === 0 ? null : { host: reachable(this.settings.bindAddress), port };
  }

  /** Answers what is under way, writes and syncs everything, closes; the store is then marked as cleanly stopped. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#positions.set(Positions.stopping, 1);
    this.#store.ringAllBells();
    await pause(FAREWELL_MS);
    try {
      await this.#supervisor.stop(stopOrder);
      this.#store.markStopped(this.#positions, this.topology);
    } finally {
      await this.#store.release();
    }
  }

  #onFatal(reason: string): void {
    if (this.#closing !== null) return;
    this.#log.error('the broker stops', { reason });
    this.close()
      .catch((error) => this.#log.error('stopping failed', { error: errorText(error) }))
      .finally(() => this.#onStopped(reason));
  }
}

function topologyOf(settings: Settings, memory: boolean): Topology {
  const coreCount = availableParallelism();
  const inline = memory || settings.actorThreads === 'inline';
  return layOut({
    ingressCount: inline ? 1 : resolveCount(settings.ingressCount, coreCount, 0.5),
    dispatchCount: inline ? 1 : resolveCount(settings.dispatchCount, coreCount, 0.25),
    embeddedNamesrv: settings.embeddedNamesrv,
    actorThreads: inline ? 'inline' : settings.actorThreads,
    coreCount,
    appendRingSizeBytes: settings.appendRingSizeBytes,
    requestRingSizeBytes: settings.requestRingSizeBytes,
    tailWindowSizeBytes: settings.tailWindowSizeBytes,
    feedEntryCount: settings.feedEntryCount,
    queueCountMax: settings.maxQueueCount,
  });
}

/** Its code, which is all of the broker's, is loaded only where it runs. */
async function inlineHost(options: BrokerOptions, topology: Topology, memory: SharedMemory, files: Files): Promise<BootableHost> {
  const [{ InlineHost }, { loadActorClasses }] = await Promise.all([import('./inline-host.ts'), import('./actor-classes.ts')]);
  const { settings, log } = options;
  const transport = new NodeTransport({
    readBuffer: readBufferOf(memory, 0),
    onFault: (error) => log.error('a connection was closed by an error of ours', { error: errorText(error) }),
  });
  const loopActiveMs = (): number => performance.eventLoopUtilization().active;
  const environment = { settings, clock: systemClock, random: systemRandom, log, files, transport, loopActiveMs };
  const classes = await loadActorClasses(ActorKinds);
  return new InlineHost(topology, memory, environment, classes, () => transport.closeAll());
}

/** An address under which this machine reaches what is bound to it. */
function reachable(bindAddress: string): string {
  return bindAddress === '0.0.0.0' || bindAddress === '::' ? '127.0.0.1' : bindAddress;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
