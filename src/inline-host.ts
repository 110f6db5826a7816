// Hosts all actors on the caller's own thread and event loop: a broker inside a test process, up in milliseconds.
import type { ActorClasses } from './actor-classes.ts';
import type { Boot } from './actors/context.ts';
import { Assembly, type Environment } from './assembly.ts';
import { present } from './base/assert.ts';
import { errorText } from './base/errors.ts';
import { Doorbell } from './runtime/doorbell.ts';
import { Duty } from './runtime/duty.ts';
import { ReactiveRunner } from './runtime/reactive-runner.ts';
import type { ActorHost } from './runtime/supervisor.ts';
import type { SharedMemory } from './shared-memory.ts';
import type { Topology } from './topology.ts';

export class InlineHost implements ActorHost {
  onFailure: (name: string, message: string) => void = () => {};
  readonly #duty: Duty;
  readonly #runner: ReactiveRunner;
  readonly #assembly: Assembly;
  readonly #onEnd: () => Promise<void>;
  #boot: Boot | null = null;

  /** @param onEnd closes what the environment holds open. */
  constructor(
    topology: Topology,
    memory: SharedMemory,
    environment: Omit<Environment, 'wake'>,
    classes: ActorClasses,
    onEnd: () => Promise<void>,
  ) {
    this.#duty = new Duty(environment.clock, (name, error) => {
      environment.log.error('actor stopped by an error', {
        actor: name,
        error: errorText(error),
        stack: error instanceof Error ? error.stack : undefined,
      });
      this.onFailure(name, errorText(error));
    });
    this.#runner = new ReactiveRunner(this.#duty, new Doorbell(memory.bells, 0), environment.clock);
    this.#assembly = new Assembly(topology, memory, { ...environment, wake: this.#runner.wake, ring: this.#runner.ring }, classes);
    this.#onEnd = onEnd;
  }

  async boot(boot: Boot): Promise<void> {
    this.#boot = boot;
    this.#runner.start();
  }

  async startActor(name: string): Promise<void> {
    this.#duty.add(this.#assembly.build(name, present(this.#boot, 'boot')), this.#assembly.meterOf(name));
    await this.#duty.start(name);
    this.#runner.wake();
  }

  async stopActor(name: string): Promise<void> {
    const stopping = this.#duty.stop(name);
    this.#runner.wake();
    await stopping;
  }

  async end(): Promise<void> {
    this.#runner.close();
    await this.#onEnd();
  }
}
