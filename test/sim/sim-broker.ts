// A whole broker on one thread: actors, network, files and clock in memory, in an order that the seed chooses.
import { loadActorClasses } from '../../src/actor-classes.ts';
import { type Boot, Positions } from '../../src/actors/context.ts';
import { Assembly } from '../../src/assembly.ts';
import { present } from '../../src/base/assert.ts';
import { FakeClock } from '../../src/base/clock.ts';
import { errorText } from '../../src/base/errors.ts';
import { type Log, silentLog } from '../../src/base/log.ts';
import { type Random, SeededRandom } from '../../src/base/random.ts';
import { loadSettings } from '../../src/config/load.ts';
import type { Settings } from '../../src/config/settings.ts';
import { OpenedStore } from '../../src/opened-store.ts';
import type { Actor } from '../../src/runtime/actor.ts';
import type { Counters } from '../../src/runtime/counters.ts';
import { Duty } from '../../src/runtime/duty.ts';
import { MemoryNetwork } from '../../src/runtime/memory-transport.ts';
import { SimRunner } from '../../src/runtime/sim-runner.ts';
import type { ActorHost } from '../../src/runtime/supervisor.ts';
import { Supervisor } from '../../src/runtime/supervisor.ts';
import { allocateMemory, type SharedMemory } from '../../src/shared-memory.ts';
import type { Files } from '../../src/store/files/files.ts';
import { MemoryFiles } from '../../src/store/files/memory-files.ts';
import { supervisionRules } from '../../src/supervision-rules.ts';
import { ActorKinds, layOut, startOrder, stopOrder, type Topology } from '../../src/topology.ts';
import { SharedPortTransport } from './shared-port.ts';
import { SimClient } from './sim-client.ts';
import { SimTimers } from './sim-timers.ts';

const classes = await loadActorClasses(ActorKinds);

export interface SimOptions {
  readonly settings?: Readonly<Record<string, string | number | boolean>>;
  /** Values that the rules for settings would refuse: sizes smaller than anybody should run with. */
  readonly overrides?: Partial<Settings>;
  /** Those of a former run, or ones that fail. */
  readonly files?: Files;
  readonly clock?: FakeClock;
  readonly splitting?: boolean;
  readonly ingressCount?: number;
  readonly dispatchCount?: number;
  readonly log?: Log;
  /** Where it runs: a later run in the same place trusts what a killed one has written; absent, nothing that was not synced. */
  readonly place?: string;
  /** Actors that get no duty cycle from the start on, until the runner feeds them. */
  readonly starved?: readonly string[];
  /** True once the broker's process was ended by a fault: the start then throws instead of going on. */
  readonly isEnded?: () => boolean;
}

/** Enough for what a test has under way, and quickly allocated. */
const RING_SIZE_MAX = 256 * 1024;
/** The farewell to name servers gets this long. */
const FAREWELL_MS = 50;

class SimHost implements ActorHost {
  onFailure: (name: string, message: string) => void = () => {};
  readonly duty: Duty;
  readonly assembly: Assembly;
  readonly actors = new Map<string, Actor>();
  readonly failures: string[] = [];
  readonly #toFail = new Set<string>();
  boot: Boot | null = null;

  constructor(clock: FakeClock, build: (host: SimHost) => Assembly) {
    this.duty = new Duty(clock, (name, error) => {
      this.failures.push(`${name}: ${error instanceof Error ? (error.stack ?? error.message) : errorText(error)}`);
      this.onFailure(name, errorText(error));
    });
    this.assembly = build(this);
  }

  async startActor(name: string): Promise<void> {
    const actor = this.assembly.build(name, present(this.boot, 'boot'));
    this.actors.set(name, actor);
    this.duty.add(this.#failing(actor), this.assembly.meterOf(name));
    await this.duty.start(name);
  }

  async stopActor(name: string): Promise<void> {
    await this.duty.stop(name);
  }

  async end(): Promise<void> {}

  /** Its next duty cycle throws. */
  fail(name: string): void {
    this.#toFail.add(name);
  }

  #failing(actor: Actor): Actor {
    const doWork = actor.doWork.bind(actor);
    actor.doWork = () => {
      if (this.#toFail.delete(actor.name)) throw new Error('failed on purpose');
      return doWork();
    };
    return actor;
  }
}

export class SimBroker {
  readonly seed: number;
  readonly settings: Settings;
  readonly topology: Topology;
  readonly files: Files;
  readonly clock: FakeClock;
  /** For the test's own choices: apart from the runner's, so that a choice more changes nothing else. */
  readonly random: Random;
  readonly network: MemoryNetwork;
  readonly runner: SimRunner;
  readonly assembly: Assembly;
  readonly memory: SharedMemory;
  readonly host: SimHost;
  readonly fatal: string[] = [];
  readonly timers: SimTimers;
  /** The process was ended by a fault: no answer is to be expected any more. */
  readonly isEnded: () => boolean;
  readonly #store: OpenedStore;
  readonly #supervisor: Supervisor;
  #clientCount = 0;

  private constructor(seed: number, options: SimOptions, settings: Settings, store: OpenedStore, files: Files, clock: FakeClock) {
    this.seed = seed;
    this.settings = settings;
    this.files = files;
    this.clock = clock;
    this.isEnded = options.isEnded ?? (() => false);
    this.#store = store;
    this.random = new SeededRandom(seed ^ 0x5eed);
    const random = new SeededRandom(seed);
    const log = options.log ?? silentLog;
    this.network = new MemoryNetwork(random, { splitting: options.splitting ?? true });
    this.topology = topologyOf(settings, options);
    const memory = allocateMemory(this.topology);
    this.memory = memory;
    const transport = new SharedPortTransport(
      this.network.transport('broker', (error) => this.host.failures.push(`transport: ${(error as Error).stack}`)),
      random,
    );
    this.host = new SimHost(clock, () => {
      const environment = { settings, clock, random: new SeededRandom(seed + 1), log, files, transport, wake: () => {} };
      return new Assembly(this.topology, memory, environment, classes);
    });
    const { duty } = this.host;
    this.runner = new SimRunner({ duty, network: this.network, clock, random, seed });
    for (const name of options.starved ?? []) this.runner.starve(name);
    this.timers = new SimTimers(clock);
    duty.add(this.timers, { cycle: () => {} });
    this.assembly = this.host.assembly;
    const ordered = startOrder.flatMap((kind) => this.topology.actors.filter((actor) => actor.kind === kind));
    const ruleOf = (kind: string) => supervisionRules[kind as keyof typeof supervisionRules];
    const onFatal = (reason: string): void => void this.fatal.push(reason);
    this.#supervisor = new Supervisor(ordered, ruleOf, this.host, clock, log, onFatal, (ms) => this.timers.wait(ms));
    this.#recover(memory, options.place ?? '');
  }

  static async start(seed: number, options: SimOptions = {}): Promise<SimBroker> {
    const clock = options.clock ?? new FakeClock();
    const files = options.files ?? new MemoryFiles(clock);
    const settings = settingsOf(options);
    const store = await OpenedStore.lock(files, settings, options.log ?? silentLog, true);
    const sim = new SimBroker(seed, options, settings, store, files, clock);
    await sim.host.duty.start('timers');
    await sim.runner.settle(sim.#supervisor.start());
    sim.runner.runUntil(() => sim.position('registered') === 1 || sim.isEnded());
    if (sim.isEnded()) throw new Error(`the process was ended while it started seed=${seed}`);
    return sim;
  }

  #recover(memory: SharedMemory, place: string): void {
    this.host.boot = this.#store.recover(memory, this.clock.wallMs(), `run-${this.seed}`, place);
  }

  /** Everything in good order: what was acknowledged is in the files, and they say so. */
  async stop(): Promise<void> {
    this.assembly.positions.set(Positions.stopping, 1);
    this.runner.wake();
    this.runner.runFor(FAREWELL_MS);
    await this.runner.settle(this.#supervisor.stop(stopOrder));
    this.#store.markStopped(this.assembly.positions, this.topology);
  }

  /** The process is gone from one moment to the next; what it wrote to its files is still there. */
  kill(): Files {
    return this.files;
  }

  position(name: keyof typeof Positions): number {
    return this.assembly.positions.get(Positions[name]);
  }

  get port(): number {
    return this.position('listenPort');
  }

  countersOf(name: string): Counters {
    return this.assembly.countersOf(name);
  }

  /** A client that is connected once the runner has come that far. */
  client(port: number = this.port): SimClient {
    const transport = this.network.transport(`client-${++this.#clientCount}`, (error) => {
      throw error;
    });
    return new SimClient(this, transport, port);
  }

  /** Throws where an actor failed that the test did not fail: its stack says where. */
  assertHealthy(): void {
    const failures = this.host.failures.filter((failure) => !failure.includes('failed on purpose'));
    if (failures.length > 0) throw new Error(`seed=${this.seed} ${failures.join('\n')}`);
  }
}

function settingsOf(options: SimOptions): Settings {
  const sets = { listenPort: 0, namesrvListenPort: 0, embeddedNamesrv: true, storePathRootDir: '/store', ...options.settings };
  const { settings } = loadSettings({ sets: Object.entries(sets).map(([name, value]) => `${name}=${value}`) });
  // Small tables, windows and rings: each run allocates its own, and what is small is full sooner.
  const small = { maxQueueCount: 4096, tailWindowSizeBytes: 1024 * 1024, feedEntryCount: 4096, appendRingSizeBytes: RING_SIZE_MAX };
  return { ...settings, ...small, requestRingSizeBytes: RING_SIZE_MAX, ...options.overrides };
}

function topologyOf(settings: Settings, options: SimOptions): Topology {
  const topology = layOut({
    ingressCount: options.ingressCount ?? 2,
    dispatchCount: options.dispatchCount ?? 2,
    embeddedNamesrv: settings.embeddedNamesrv,
    actorThreads: 'inline',
    coreCount: 1,
    appendRingSizeBytes: settings.appendRingSizeBytes,
    requestRingSizeBytes: settings.requestRingSizeBytes,
    tailWindowSizeBytes: settings.tailWindowSizeBytes,
    feedEntryCount: settings.feedEntryCount,
    queueCountMax: settings.maxQueueCount,
  });
  const rings = topology.rings.map((ring) => ({ ...ring, capacityBytes: Math.min(ring.capacityBytes, RING_SIZE_MAX) }));
  return { ...topology, rings };
}
