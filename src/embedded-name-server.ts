// The name server as one of the broker's actors: it tells the others its port, and keeps its settings in the broker's store.
import { type ActorContext, Positions } from './actors/context.ts';
import { kvConfigFault } from './nameserver/kv-config.ts';
import { NameServer } from './nameserver/name-server.ts';
import type { Actor } from './runtime/actor.ts';
import { StateTextStore } from './store/state-text-store.ts';

export class EmbeddedNameServer implements Actor {
  readonly name: string;
  readonly #context: ActorContext;
  readonly #server: NameServer;

  constructor(context: ActorContext) {
    this.name = context.name;
    this.#context = context;
    const { transport, clock, log, files, positions } = context;
    // A restart takes the same port again, also where any would do at first.
    const namesrvListenPort = positions.get(Positions.namesrvPort) || context.settings.namesrvListenPort;
    const settings = { ...context.settings, namesrvListenPort };
    this.#server = new NameServer({
      name: context.name,
      settings,
      transport,
      clock,
      log,
      kvStore: new StateTextStore(files, settings.kvConfigPath, log, kvConfigFault),
      settingsStore: new StateTextStore(files, settings.configStorePath, log),
    });
  }

  async start(): Promise<void> {
    await this.#server.start();
    this.#context.positions.set(Positions.namesrvPort, this.#server.port);
  }

  doWork(): number {
    return this.#server.doWork();
  }

  deadlineMs(): number {
    return this.#server.deadlineMs();
  }

  stop(): void | Promise<void> {
    return this.#server.stop();
  }

  abandon(): void {
    this.#server.stop().catch(() => {});
  }
}
