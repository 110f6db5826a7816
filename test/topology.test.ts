// Who runs where: every kind has its place, also in plans that were written before there was one.
import test from 'ava';
import { type ActorKind, ActorKinds, assertTopology, layOut, type Topology } from '../src/topology.ts';

function planOf(actorThreads: string, coreCount = 4): Topology {
  const MIB = 1024 * 1024;
  return layOut({
    ingressCount: 1,
    dispatchCount: 2,
    embeddedNamesrv: true,
    actorThreads,
    coreCount,
    appendRingSizeBytes: MIB,
    requestRingSizeBytes: MIB,
    tailWindowSizeBytes: MIB,
    feedEntryCount: 1024,
    queueCountMax: 64,
  });
}

function threadOf(topology: Topology, kind: ActorKind): number {
  return topology.actors.find((actor) => actor.kind === kind)?.thread ?? -1;
}

test('topology: on any number of cores each kind runs, and measuring the disks does not share a thread with deleting', (t) => {
  for (const coreCount of [1, 2, 3, 4, 7, 8, 64]) {
    const topology = planOf('auto', coreCount);
    t.notThrows(() => assertTopology(topology));
    for (const kind of ActorKinds) t.true(threadOf(topology, kind) >= 0, `${kind} on ${coreCount}`);
    t.not(threadOf(topology, 'cleaner'), threadOf(topology, 'flusher'), `${coreCount} cores`);
  }
});

test('topology: a plan that says nothing of the cleaner has it beside the indexer, the scheduler beside the coordinator; any other kind must be named, and once', (t) => {
  const plan = 'io=ingress;log=commit-log,dispatch;meta=coordinator,indexer,name-server;disk=flusher';
  const topology = planOf(plan);
  t.is(threadOf(topology, 'cleaner'), threadOf(topology, 'indexer'));
  t.is(threadOf(topology, 'scheduler'), threadOf(topology, 'coordinator'));
  const named = planOf(`${plan},cleaner`);
  t.is(threadOf(named, 'cleaner'), threadOf(named, 'flusher'));
  t.throws(() => planOf(plan.replace(',indexer', '')), { message: /indexer missing/ });
  t.throws(() => planOf(`${plan},indexer`), { message: /"indexer" stands twice/ });
});
