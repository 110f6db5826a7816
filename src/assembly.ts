// Builds actors over the shared memory: the one place that knows how an actor's context comes about.
import type { ActorClasses } from './actor-classes.ts';
import type { ActorContext, Boot, Inbox } from './actors/context.ts';
import { type Bell, Outbox } from './actors/outbox.ts';
import { assert, present } from './base/assert.ts';
import type { Clock } from './base/clock.ts';
import type { Log } from './base/log.ts';
import type { Random } from './base/random.ts';
import { liveSettings } from './config/live.ts';
import type { Settings } from './config/settings.ts';
import { figuresOf, LoopMeter } from './figures-source.ts';
import type { Actor, Wake } from './runtime/actor.ts';
import { CounterIds, Counters } from './runtime/counters.ts';
import { Doorbell } from './runtime/doorbell.ts';
import type { DutyMeter } from './runtime/duty.ts';
import { FeedReader, FeedWriter } from './runtime/feed.ts';
import { RingReader, RingWriter } from './runtime/ring.ts';
import { SharedNumbers } from './runtime/shared-numbers.ts';
import { WindowReader, WindowWriter } from './runtime/tail-window.ts';
import type { Transport } from './runtime/transport.ts';
import type { SharedMemory } from './shared-memory.ts';
import type { Files } from './store/files/files.ts';
import { type ActorSpec, specOf, type Topology } from './topology.ts';

/** The outside world of the actors on one thread. */
export interface Environment {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly files: Files;
  readonly transport: Transport;
  readonly wake: Wake;
  /** Tells this thread of mail from one of its actors to another; where it is absent they ring the doorbell like everybody. */
  readonly ring?: Wake;
  /** Time in which this thread's event loop did not wait; absent where it has none of its own. */
  readonly loopActiveMs?: () => number;
}

export class Assembly {
  readonly topology: Topology;
  readonly positions: SharedNumbers;
  readonly #memory: SharedMemory;
  readonly #environment: Environment;
  readonly #settings: Settings;
  readonly #liveWords: Int32Array;
  readonly #classes: ActorClasses;
  readonly #bells: Doorbell[];
  readonly #readers = new Map<string, RingReader>();
  readonly #writers = new Map<string, RingWriter>();
  readonly #builtCounts = new Map<string, number>();

  /** @param classes of the kinds that will be built here. */
  constructor(topology: Topology, memory: SharedMemory, environment: Environment, classes: ActorClasses) {
    this.#classes = classes;
    this.topology = topology;
    this.positions = new SharedNumbers(memory.positions);
    this.#memory = memory;
    this.#environment = environment;
    this.#liveWords = new Int32Array(memory.live);
    this.#settings = liveSettings(environment.settings, this.#liveWords);
    this.#bells = topology.threads.map((_, index) => new Doorbell(memory.bells, index));
  }

  build(name: string, boot: Boot): Actor {
    const spec = specOf(this.topology, name);
    const incarnation = this.#builtCounts.get(name) ?? 0;
    this.#builtCounts.set(name, incarnation + 1);
    const ActorClass = present(this.#classes.get(spec.kind), `class of ${spec.kind}`);
    return new ActorClass(this.#contextOf(spec, boot, incarnation));
  }

  countersOf(name: string): Counters {
    return new Counters(
      this.#memory.counters,
      this.topology.actors.findIndex((actor) => actor.name === name),
    );
  }

  meterOf(name: string): DutyMeter {
    const counters = this.countersOf(name);
    const loop = this.#loopMeterOf(name, counters);
    return {
      cycle: (busyMs, work) => {
        loop?.measure();
        counters.add(CounterIds.passes, 1);
        if (work === 0) return;
        counters.add(CounterIds.busyMs, busyMs);
        counters.add(CounterIds.work, work);
      },
    };
  }

  /** One actor a thread keeps its loop's time, the first. */
  #loopMeterOf(name: string, counters: Counters): LoopMeter | null {
    const { clock, loopActiveMs } = this.#environment;
    const thread = this.topology.threads[specOf(this.topology, name).thread];
    if (loopActiveMs === undefined || thread?.reactive !== true || thread.actors[0] !== name) return null;
    return new LoopMeter(counters, clock, loopActiveMs);
  }

  ringAllBells(): void {
    for (const bell of this.#bells) bell.ring();
  }

  #contextOf(spec: ActorSpec, boot: Boot, incarnation: number): ActorContext {
    const memory = this.#memory;
    const environment = this.#environment;
    return {
      name: spec.name,
      kind: spec.kind,
      index: spec.index,
      incarnation,
      settings: this.#settings,
      liveWords: this.#liveWords,
      boot,
      clock: environment.clock,
      random: environment.random,
      log: environment.log.scoped(spec.name),
      files: environment.files,
      transport: environment.transport,
      wake: environment.wake,
      positions: this.positions,
      queueEnds: new SharedNumbers(memory.queueEnds),
      queueBegins: new SharedNumbers(memory.queueBegins),
      queueReads: new SharedNumbers(memory.queueReads),
      queueBytes: new Float64Array(memory.queueBytes),
      counters: this.countersOf(spec.name),
      inboxes: this.#inboxesOf(spec.name),
      outbox: this.#outboxesOf(spec.name),
      namesOf: (kind) => this.topology.actors.filter((actor) => actor.kind === kind).map((actor) => actor.name),
      ringBells: this.#bellRinger(spec.name),
      figures: () => figuresOf(this.topology, memory),
      feedWriter: (startPosition) => new FeedWriter(memory.feed, startPosition),
      feedReader: () => new FeedReader(memory.feed),
      windowWriter: () => new WindowWriter(memory.window, this.topology.windowSizeBytes),
      windowReader: () => new WindowReader(memory.window),
      blocks: present(memory.blocks[this.topology.actors.indexOf(spec)], 'block region'),
      output: present(memory.outputs[this.topology.actors.indexOf(spec)], 'output region'),
    };
  }

  #inboxesOf(name: string): Inbox[] {
    return this.topology.rings.flatMap((ring, index) => (ring.to === name ? [{ from: ring.from, ring: this.#reader(index) }] : []));
  }

  /** A restarted actor goes on with the ring objects of its predecessor on this thread: they know where it stopped. */
  #reader(index: number): RingReader {
    const key = String(index);
    let reader = this.#readers.get(key);
    if (reader === undefined) {
      reader = new RingReader(present(this.#memory.rings[index], 'ring'));
      this.#readers.set(key, reader);
    }
    return reader;
  }

  #outboxesOf(name: string): (to: string) => Outbox {
    const outboxes = new Map<string, Outbox>();
    return (to) => {
      let outbox = outboxes.get(to);
      if (outbox === undefined) {
        const index = this.topology.rings.findIndex((ring) => ring.from === name && ring.to === to);
        assert(index >= 0, `the topology has a ring ${name} -> ${to}`);
        outbox = new Outbox(this.#writer(index), this.#bellOf(name, to));
        outboxes.set(to, outbox);
      }
      return outbox;
    };
  }

  #bellOf(from: string, to: string): Bell {
    const thread = specOf(this.topology, to).thread;
    const { ring } = this.#environment;
    return ring !== undefined && specOf(this.topology, from).thread === thread ? { ring } : present(this.#bells[thread]);
  }

  #writer(index: number): RingWriter {
    const key = String(index);
    let writer = this.#writers.get(key);
    if (writer === undefined) {
      writer = new RingWriter(present(this.#memory.rings[index], 'ring'));
      this.#writers.set(key, writer);
    }
    writer.cancel(); // a claim that the predecessor did not finish was never visible
    return writer;
  }

  /** Rings each thread once, however many of the named actors it hosts. */
  #bellRinger(from: string): (names: readonly string[]) => void {
    const known = new Map<readonly string[], Bell[]>();
    return (names) => {
      let bells = known.get(names);
      if (bells === undefined) {
        const oneAThread = new Map(names.map((name) => [specOf(this.topology, name).thread, name]));
        bells = [...oneAThread.values()].map((name) => this.#bellOf(from, name));
        known.set(names, bells);
      }
      for (const bell of bells) bell.ring();
    };
  }
}
