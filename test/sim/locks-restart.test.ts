// Queue locks over restarts of a whole broker, stopped or killed: never two members at work on one queue.
import test from 'ava';
import { QUEUE_LOCK_TRUST_MS } from '../../src/core/queue-locks.ts';
import { decodeLockedQueues, encodeLockBatch } from '../../src/protocol/bodies/lock-batch.ts';
import { RequestCodes } from '../../src/protocol/codes.ts';
import { consumer } from './retry-rig.ts';
import { SimBroker } from './sim-broker.ts';
import type { SimClient } from './sim-client.ts';

const ALL = [0, 1, 2, 3];
const ends = ['stop', 'kill'] as const;

function batchOf(client: SimClient, clientId: string, queueIds: readonly number[]): Buffer {
  const queues = queueIds.map((queueId) => ({ topic: 'T', brokerName: client.sim.settings.brokerName, queueId }));
  return encodeLockBatch({ group: 'G', clientId, queues, onlyThisBroker: false });
}

/** Ids of the queues that it holds then. */
function lock(client: SimClient, clientId: string, queueIds: readonly number[]): number[] {
  const locked = decodeLockedQueues(client.ask(RequestCodes.LOCK_BATCH_MQ, {}, batchOf(client, clientId, queueIds)).body);
  if (!locked.ok) throw new Error(locked.fault);
  return locked.value.map(({ queueId }) => queueId);
}

function joined(sim: SimBroker, clientId: string): SimClient {
  const client = sim.client();
  client.await(client.beat({ clientId, consumers: [consumer('G', { T: '*' })] }));
  return client;
}

/** Two members, of which each holds two of four queues. */
async function team(seed: number): Promise<{ sim: SimBroker; a: SimClient; b: SimClient }> {
  const sim = await SimBroker.start(seed);
  const rest = { perm: 6, topicFilterType: 'SINGLE_TAG', topicSysFlag: 0, order: false };
  const counts = { readQueueNums: ALL.length, writeQueueNums: ALL.length };
  sim.client().ask(RequestCodes.UPDATE_AND_CREATE_TOPIC, { topic: 'T', defaultTopic: 'TBW102', ...counts, ...rest });
  const [a, b] = [joined(sim, 'a'), joined(sim, 'b')];
  lock(a, 'a', [0, 1]);
  lock(b, 'b', [2, 3]);
  return { sim, a, b };
}

async function next(sim: SimBroker, how: (typeof ends)[number]): Promise<SimBroker> {
  if (how === 'stop') await sim.stop();
  sim.assertHealthy();
  return SimBroker.start(sim.seed + 100, { files: sim.kill(), clock: sim.clock });
}

for (const how of ends) {
  test(`locks: after a ${how} who is back first does not get what another may still work on, and gets it once that is over`, async (t) => {
    for (let seed = 1; seed <= 3; seed++) {
      const first = await team(seed);
      // The last change of owners but a moment ago: only a kill may cost it.
      if (how === 'kill') first.sim.runner.runFor(1_000);
      const sim = await next(first.sim, how);
      const startedMs = sim.clock.steadyMs();
      const b = joined(sim, 'b');
      for (let second = 0; second < 29; second++) {
        t.deepEqual(lock(b, 'b', ALL), [2, 3], `seed ${seed} after ${second} s`);
        sim.runner.runFor(1_000);
      }
      const told = b.requested.length;
      sim.runner.runUntil(() => b.requested.length > told);
      const tookMs = sim.clock.steadyMs() - startedMs;
      t.true(tookMs > QUEUE_LOCK_TRUST_MS - 1_000 && tookMs < QUEUE_LOCK_TRUST_MS + 1_000, `${tookMs} ms`);
      t.deepEqual(lock(b, 'b', ALL), ALL);
      t.deepEqual(lock(joined(sim, 'a'), 'a', [0, 1]), [], 'who comes too late asks as others do');
      sim.assertHealthy();
      await sim.stop();
    }
  });

  test(`locks: after a ${how} an owner that is back first goes on, and keeps it beyond the time of waiting`, async (t) => {
    const first = await team(4);
    first.sim.runner.runFor(1_000);
    const sim = await next(first.sim, how);
    const a = joined(sim, 'a');
    t.deepEqual(lock(a, 'a', ALL), [0, 1]);
    sim.runner.runFor(20_000);
    const b = joined(sim, 'b');
    t.deepEqual(
      [lock(b, 'b', ALL), lock(a, 'a', [0, 1])],
      [
        [2, 3],
        [0, 1],
      ],
    );
    sim.runner.runFor(QUEUE_LOCK_TRUST_MS);
    t.deepEqual(
      [lock(b, 'b', ALL), lock(a, 'a', ALL)],
      [
        [2, 3],
        [0, 1],
      ],
    );
    a.cut();
    sim.runner.runFor(100);
    t.deepEqual(lock(b, 'b', ALL), ALL, 'an ordinary lock: it ends with its connection');
    sim.assertHealthy();
    await sim.stop();
  });

  test(`locks: after a ${how} nobody waits for a member that had left before`, async (t) => {
    for (const leave of ['unlock', 'unregister', 'cut'] as const) {
      const { sim: old, a } = await team(5);
      if (leave === 'cut') a.cut();
      else if (leave === 'unlock') a.ask(RequestCodes.UNLOCK_BATCH_MQ, {}, batchOf(a, 'a', [0, 1]));
      else a.ask(RequestCodes.UNREGISTER_CLIENT, { clientID: 'a', consumerGroup: 'G' });
      old.runner.runFor(how === 'kill' ? 1_100 : 50);
      const sim = await next(old, how);
      t.deepEqual(lock(joined(sim, 'c'), 'c', ALL), [0, 1], leave);
      sim.assertHealthy();
      await sim.stop();
    }
  });
}

test('locks: a broker that ends twice in a row keeps queues for their owners again', async (t) => {
  for (const how of ends) {
    const first = await team(6);
    first.sim.runner.runFor(1_000);
    const second = await next(first.sim, how);
    t.deepEqual(lock(joined(second, 'a'), 'a', ALL), [0, 1]);
    second.runner.runFor(5_000);
    const third = await next(second, how);
    t.deepEqual(lock(joined(third, 'c'), 'c', ALL), [], how);
    third.runner.runFor(QUEUE_LOCK_TRUST_MS - 1_000);
    t.deepEqual(lock(joined(third, 'a'), 'a', ALL), [0, 1]);
    third.runner.runFor(1_000);
    t.deepEqual(lock(joined(third, 'c'), 'c', ALL), [2, 3]);
    third.assertHealthy();
    await third.stop();
  }
});

test('locks: after the failure of an ingress, which cuts all connections, who is back first does not get what another may still work on', async (t) => {
  const { sim } = await team(8);
  sim.host.fail('ingress-0');
  await sim.runner.settleUntil(() => sim.host.duty.stateOf('ingress-0') === 'failed');
  await sim.runner.settleUntil(() => ['ingress-0', 'ingress-1'].every((name) => sim.host.duty.stateOf(name) === 'running'));
  const b = joined(sim, 'b');
  t.deepEqual(lock(b, 'b', ALL), [2, 3]);
  t.deepEqual(lock(joined(sim, 'a'), 'a', ALL), [0, 1]);
  sim.assertHealthy();
  await sim.stop();
});
