// Carries out what supervision decides: starts actors in order, replaces failed ones, and stops all in order.
import type { Clock } from '../base/clock.ts';
import { errorText } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { Directives, FailureWindow, type SupervisionRule } from './supervision.ts';

/** Where actors live: worker threads, or the caller's own thread. */
export interface ActorHost {
  startActor(name: string): Promise<void>;
  stopActor(name: string): Promise<void>;
  /** Called once for each failure of a running actor. */
  onFailure: (name: string, message: string) => void;
  end(): Promise<void>;
}

export interface SupervisedActor {
  readonly name: string;
  readonly kind: string;
}

export class Supervisor {
  readonly #actors: readonly SupervisedActor[];
  readonly #ruleOf: (kind: string) => SupervisionRule;
  readonly #host: ActorHost;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #windows = new Map<string, FailureWindow>();
  readonly #onFatal: (reason: string) => void;
  readonly #delay: (ms: number) => Promise<void>;
  readonly #restarting = new Set<string>();
  /** Failures of actors that a restart under way has already started again. */
  readonly #failedAgain = new Map<string, string>();
  #stopping = false;

  /** @param actors in start order; @param onFatal the broker has to stop in order; @param delay waits for a restart's back-off. */
  constructor(
    actors: readonly SupervisedActor[],
    ruleOf: (kind: string) => SupervisionRule,
    host: ActorHost,
    clock: Clock,
    log: Log,
    onFatal: (reason: string) => void,
    delay: (ms: number) => Promise<void>,
  ) {
    this.#actors = actors;
    this.#ruleOf = ruleOf;
    this.#host = host;
    this.#clock = clock;
    this.#log = log;
    this.#onFatal = onFatal;
    this.#delay = delay;
    host.onFailure = (name, message) => this.#onFailure(name, message);
  }

  async start(): Promise<void> {
    for (const actor of this.#actors) await this.#host.startActor(actor.name);
  }

  /** @param order kinds, first to stop first. One that cannot stop does not keep the others from it; its error is thrown at the end. */
  async stop(order: readonly string[]): Promise<void> {
    this.#stopping = true;
    let failure: unknown;
    for (const kind of order) {
      for (const actor of this.#actors.filter((a) => a.kind === kind)) {
        try {
          await this.#host.stopActor(actor.name);
        } catch (error) {
          failure ??= error;
          this.#log.error('an actor did not stop in good order', { actor: actor.name, error: errorText(error) });
        }
      }
    }
    await this.#host.end();
    if (failure !== undefined) throw failure;
  }

  #onFailure(name: string, message: string): void {
    const actor = this.#actors.find((a) => a.name === name);
    if (this.#stopping || actor === undefined) return;
    if (this.#restarting.has(name)) {
      this.#failedAgain.set(name, message);
      return;
    }
    let window = this.#windows.get(name);
    if (window === undefined) {
      window = new FailureWindow(this.#ruleOf(actor.kind));
      this.#windows.set(name, window);
    }
    const { directive, delayMs } = window.decide(this.#clock.steadyMs());
    this.#log.error('an actor failed', { actor: name, error: message, directive, delayMs });
    if (directive === Directives.stopBroker) {
      this.#onFatal(`actor ${name} failed: ${message}`);
      return;
    }
    const group = directive === Directives.restart ? [actor] : this.#actors.filter((a) => a.kind === actor.kind);
    this.#restart(group, name, delayMs).catch((error) => this.#onFatal(`restart of ${name} failed: ${errorText(error)}`));
  }

  async #restart(group: readonly SupervisedActor[], failed: string, delayMs: number): Promise<void> {
    for (const actor of group) this.#restarting.add(actor.name);
    try {
      for (const actor of group) if (actor.name !== failed) await this.#host.stopActor(actor.name);
      await this.#delay(delayMs);
      if (this.#stopping) return;
      for (const actor of group) {
        this.#failedAgain.delete(actor.name);
        await this.#host.startActor(actor.name);
      }
      this.#log.warn('restarted after a failure', { actors: group.map((actor) => actor.name).join(' ') });
    } finally {
      for (const actor of group) this.#restarting.delete(actor.name);
    }
    const again = group.find((actor) => this.#failedAgain.has(actor.name));
    if (again !== undefined) this.#onFailure(again.name, this.#failedAgain.get(again.name) ?? '');
  }
}
