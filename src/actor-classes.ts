// Which class an actor's kind is. A thread loads only the kinds it hosts: code that a thread never runs would still cost it its start.
import type { ActorContext } from './actors/context.ts';
import type { Actor } from './runtime/actor.ts';
import type { ActorKind } from './topology.ts';

export type ActorClass = new (context: ActorContext) => Actor;
export type ActorClasses = ReadonlyMap<ActorKind, ActorClass>;

const loaders: Record<ActorKind, () => Promise<ActorClass>> = {
  ingress: async () => (await import('./actors/ingress/ingress.ts')).Ingress,
  'commit-log': async () => (await import('./actors/commit-log/commit-log.ts')).CommitLog,
  dispatch: async () => (await import('./actors/dispatch/dispatch.ts')).Dispatch,
  indexer: async () => (await import('./actors/indexer/indexer.ts')).Indexer,
  flusher: async () => (await import('./actors/flusher/flusher.ts')).Flusher,
  cleaner: async () => (await import('./actors/cleaner/cleaner.ts')).Cleaner,
  scheduler: async () => (await import('./actors/scheduler/scheduler.ts')).Scheduler,
  coordinator: async () => (await import('./actors/coordinator/coordinator.ts')).Coordinator,
  'name-server': async () => (await import('./embedded-name-server.ts')).EmbeddedNameServer,
};

export async function loadActorClasses(kinds: Iterable<ActorKind>): Promise<ActorClasses> {
  return new Map(await Promise.all([...new Set(kinds)].map(async (kind) => [kind, await loaders[kind]()] as const)));
}
