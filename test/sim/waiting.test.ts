// Pulls that wait: answered by arrival, or to the millisecond when their time is over, and forgotten with their connection.
import test, { type ExecutionContext } from 'ava';
import { RequestCodes, ResponseCodes } from '../../src/protocol/codes.ts';
import { CounterIds } from '../../src/runtime/counters.ts';
import { SimBroker } from './sim-broker.ts';
import { nameOf, recordsOf, type SimClient } from './sim-client.ts';

function heldCount(sim: SimBroker): number {
  return sim.countersOf('dispatch-0').get(CounterIds.heldPulls) + sim.countersOf('dispatch-1').get(CounterIds.heldPulls);
}

test('waiting: a pull without news is answered exactly when its time is over', async (t) => {
  for (let seed = 1; seed <= 20; seed++) {
    const sim = await SimBroker.start(seed);
    const client = sim.client();
    client.askSend('Orders', 0, 'm1');
    const startMs = sim.clock.steadyMs();
    const times = [1, 37, 1_000, 1_001, 14_999, 30_000];
    const pulls = times.map((suspendMs) => client.pull('Orders', 0, 'readers', { offset: 1, suspendMs }));
    const filtered = client.pull('Orders', 0, 'readers', { offset: 1, suspendMs: 5_000, tags: 'A' });
    sim.runner.runFor(30_001);
    times.forEach((suspendMs, i) => {
      const answer = client.answers.get(pulls[i] as number);
      t.is(answer?.code, ResponseCodes.PULL_NOT_FOUND);
      t.is(answer?.ext['nextBeginOffset'], '1');
      t.is((answer?.atMs ?? 0) - startMs, suspendMs, `seed ${seed}`);
    });
    t.is((client.answers.get(filtered)?.atMs ?? 0) - startMs, 5_000);
    t.is(heldCount(sim), 0);
    sim.assertHealthy();
  }
});

test('waiting: an arrival answers at once those that take it, and no others', async (t) => {
  for (let seed = 1; seed <= 20; seed++) {
    const sim = await SimBroker.start(seed);
    const reader = sim.client();
    const producer = sim.client();
    producer.askSend('Orders', 0, 'm0');
    const all = reader.pull('Orders', 0, 'readers', { offset: 1, suspendMs: 10_000 });
    const tagA = reader.pull('Orders', 0, 'readers', { offset: 1, suspendMs: 10_000, tags: 'A' });
    const other = reader.pull('Orders', 1, 'readers', { offset: 0, suspendMs: 10_000 });
    sim.runner.runFor(100);
    t.is(heldCount(sim), 3);
    const sentMs = sim.clock.steadyMs();
    producer.askSend('Orders', 0, 'm1', 10, 'B');
    sim.runner.runIdle();
    t.is(reader.answers.get(all)?.code, 0);
    t.is(reader.answers.get(all)?.atMs, sentMs);
    t.false(reader.answers.has(tagA));
    sim.runner.runFor(50);
    producer.askSend('Orders', 0, 'm2', 10, 'A');
    sim.runner.runIdle();
    const answer = reader.answers.get(tagA);
    t.deepEqual(answer && recordsOf(answer).map(nameOf), ['m2']);
    t.is(answer?.ext['nextBeginOffset'], '3');
    t.false(reader.answers.has(other));
  }
});

test('waiting: BR-26: pulls of connections that are gone are forgotten', async (t) => {
  const sim = await SimBroker.start(5);
  const producer = sim.client();
  producer.askSend('Orders', 0, 'm0');
  for (let round = 0; round < 100; round++) {
    const client = sim.client();
    for (let queueId = 0; queueId < 2; queueId++) client.pull('Orders', queueId, 'readers', { offset: 1 - queueId, suspendMs: 30_000 });
    const steps = sim.random.below(60);
    for (let i = 0; i < steps; i++) sim.runner.step(sim.clock.steadyMs());
    if (round % 2 === 0) client.cut();
    else client.connection.destroy();
  }
  sim.runner.runIdle();
  t.is(heldCount(sim), 0);
  const connections = ['ingress-0', 'ingress-1'].reduce((sum, name) => sum + sim.countersOf(name).get(CounterIds.connections), 0);
  // The producer, and the broker's own to its name server.
  t.is(connections, 2);
  t.is(producer.askNumber(RequestCodes.GET_MAX_OFFSET, 'Orders', 0), 1);
  sim.assertHealthy();
});

test('waiting: BR-26: no pull is held longer than it asked, however many are', async (t) => {
  const sim = await SimBroker.start(6, { overrides: { heldPullCountMax: 20 } });
  const client = sim.client();
  client.askSend('Orders', 0, 'm0');
  const pulls = Array.from({ length: 60 }, () => client.pull('Orders', 0, 'readers', { offset: 1, suspendMs: 1_000 }));
  sim.runner.runIdle();
  const answered = pulls.filter((pull) => client.answers.has(pull));
  t.is(answered.length, 40);
  t.true(answered.every((pull) => client.answers.get(pull)?.code === ResponseCodes.SYSTEM_BUSY));
  sim.runner.runFor(1_000);
  t.true(pulls.every((pull) => client.answers.has(pull)));
  t.is(heldCount(sim), 0);
});

test('waiting: an ordered stop answers what waits', async (t) => {
  const sim = await SimBroker.start(7);
  const client = sim.client();
  client.askSend('Orders', 0, 'm0');
  client.pull('Orders', 0, 'readers', { offset: 1, suspendMs: 30_000 });
  sim.runner.runFor(10);
  const beginMs = sim.clock.steadyMs();
  await sim.stop();
  sim.runner.runIdle();
  t.true(client.closed);
  t.true(sim.clock.steadyMs() - beginMs < 1_000);
  sim.assertHealthy();
});

/** Puts a message in front of a pull that waits once reading was forbidden, and once it is allowed again. */
async function checkForbidden(t: ExecutionContext, group: string, forbid: (client: SimClient) => void, allow: (client: SimClient) => void) {
  const sim = await SimBroker.start(7);
  const tool = sim.client();
  tool.ask(RequestCodes.UPDATE_AND_CREATE_TOPIC, { topic: 'Orders', readQueueNums: 1, writeQueueNums: 1, perm: 6 });
  for (const name of ['readers', 'others'])
    tool.ask(RequestCodes.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, Buffer.from(JSON.stringify({ groupName: name })));
  const reader = sim.client();
  const other = sim.client();
  const waiting = reader.pull('Orders', 0, 'readers', { offset: 0, suspendMs: 10_000 });
  const bystander = other.pull('Orders', 0, 'others', { offset: 0, suspendMs: 10_000 });
  sim.runner.runFor(100);
  forbid(tool);
  sim.runner.runIdle();
  t.is(reader.answers.get(waiting)?.code, ResponseCodes.NO_PERMISSION, group);
  t.is(other.answers.has(bystander), group === 'all');
  tool.askSend('Orders', 0, 'm0');
  sim.runner.runIdle();
  if (group !== 'all') t.is(other.answers.get(bystander)?.code, ResponseCodes.SUCCESS);
  t.is(reader.askPull('Orders', 0, 'readers', { offset: 0, suspendMs: 10_000 }).code, ResponseCodes.NO_PERMISSION);
  allow(tool);
  t.deepEqual(recordsOf(reader.askPull('Orders', 0, 'readers', { offset: 0 })).map(nameOf), ['m0']);
  sim.assertHealthy();
  await sim.stop();
}

function groupWith(fields: object): (client: SimClient) => void {
  const body = Buffer.from(JSON.stringify({ groupName: 'readers', ...fields }));
  return (client) => client.ask(RequestCodes.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, body);
}

test('waiting: a group that may not consume any more gets nothing by pulls that wait already', (t) =>
  checkForbidden(t, 'readers', groupWith({ consumeEnable: false }), groupWith({ consumeEnable: true })));

test('waiting: nor does one that is forbidden to read this topic', (t) => {
  const ask = (readable: boolean) => (client: SimClient) =>
    client.ask(RequestCodes.UPDATE_AND_GET_GROUP_FORBIDDEN, { group: 'readers', topic: 'Orders', readable });
  return checkForbidden(t, 'readers', ask(false), ask(true));
});

test('waiting: nor any group, of a topic that may not be read any more', (t) => {
  const ask = (perm: number) => (client: SimClient) =>
    client.ask(RequestCodes.UPDATE_AND_CREATE_TOPIC, { topic: 'Orders', readQueueNums: 1, writeQueueNums: 1, perm });
  return checkForbidden(t, 'all', ask(2), ask(6));
});
