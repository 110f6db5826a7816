// Actors that fail on purpose: their successors take over, know what they must know, and nothing acknowledged is lost.
import test from 'ava';
import { decodeConsumerIds } from '../../src/protocol/bodies/consumer-ids.ts';
import type { ConsumerData } from '../../src/protocol/bodies/heartbeat.ts';
import { RequestCodes, ResponseCodes } from '../../src/protocol/codes.ts';
import { CounterIds } from '../../src/runtime/counters.ts';
import { checkBook } from './book.ts';
import { SimBroker } from './sim-broker.ts';
import { nameOf, recordsOf } from './sim-client.ts';
import { Workload } from './workload.ts';

const member: ConsumerData = {
  group: 'team',
  consumeType: 'CONSUME_PASSIVELY',
  messageModel: 'CLUSTERING',
  consumeFromWhere: 'CONSUME_FROM_FIRST_OFFSET',
  subscriptions: [{ topic: 'Orders', expression: '*', type: 'TAG', tags: [], codes: [], version: '1', classFilter: false }],
  unitMode: false,
};

/** Until all actors run again. */
async function restarted(sim: SimBroker, name: string): Promise<void> {
  await sim.runner.settleUntil(() => sim.host.duty.stateOf(name) === 'failed');
  await sim.runner.settleUntil(() => sim.topology.actors.every((actor) => sim.host.duty.stateOf(actor.name) === 'running'));
}

test('restart: an ingress that failed knows all topics and groups again before it judges a frame', async (t) => {
  for (let seed = 1; seed <= 30; seed++) {
    const sim = await SimBroker.start(seed);
    const before = sim.client();
    t.is(before.askSend('Orders', 0, 'm0').code, 0);
    before.await(before.beat({ clientId: 'gone', consumers: [member] }));
    before.pull('Orders', 0, 'team', { offset: 1, suspendMs: 60_000 });
    sim.runner.runFor(10);
    const { port } = sim;
    sim.host.fail(`ingress-${seed % 2}`);
    await restarted(sim, `ingress-${seed % 2}`);
    t.is(sim.port, port);
    await sim.runner.settleUntil(() => before.closed);
    const after = [sim.client(), sim.client(), sim.client()];
    // Sent before anything else: each is the first frame of its connection.
    const pulls = after.map((client) => client.pull('Orders', 0, 'team'));
    after.forEach((client, i) => {
      const answer = client.await(pulls[i] as number);
      t.is(answer.code, 0, `seed ${seed} ${answer.remark}`);
      t.deepEqual(recordsOf(answer).map(nameOf), ['m0']);
      t.is(client.askNumber(RequestCodes.GET_MAX_OFFSET, 'Orders', 0), 1);
      t.is(client.askSend('Orders', 1, `n${i}`).code, 0);
    });
    const [client] = after as [(typeof after)[0]];
    client.await(client.beat({ clientId: 'new', consumers: [member] }));
    const ids = decodeConsumerIds(client.ask(RequestCodes.GET_CONSUMER_LIST_BY_GROUP, { consumerGroup: 'team' }).body);
    t.deepEqual(ids.ok && ids.value, ['new']);
    sim.runner.runFor(10);
    t.is(sim.countersOf('dispatch-0').get(CounterIds.heldPulls) + sim.countersOf('dispatch-1').get(CounterIds.heldPulls), 0);
    sim.assertHealthy();
    t.deepEqual(sim.fatal, []);
    await sim.stop();
  }
});

test('restart: 60 seeds of an ingress that fails under load: what was acknowledged stays', async (t) => {
  for (let seed = 1; seed <= 60; seed++) {
    const sim = await SimBroker.start(seed);
    const work = new Workload(sim, { requestCount: 20 });
    work.start();
    for (let failure = 0; failure < 2; failure++) {
      const steps = sim.random.below(800);
      for (let i = 0; i < steps; i++) sim.runner.step(sim.clock.steadyMs() + 5);
      const name = `ingress-${sim.random.below(2)}`;
      sim.host.fail(name);
      await restarted(sim, name);
    }
    await sim.runner.settleUntil(() => work.done);
    checkBook(sim, work.book);
    sim.assertHealthy();
    t.deepEqual(sim.fatal, [], `seed ${seed}`);
  }
});

test('restart: the connection to the name server comes back with the ingress, and with the name server', async (t) => {
  for (const name of ['ingress-0', 'name-server']) {
    const sim = await SimBroker.start(3);
    sim.client().askSend('Orders', 0, 'm0');
    const namesrvPort = sim.position('namesrvPort');
    sim.host.fail(name);
    await restarted(sim, name);
    t.is(sim.position('namesrvPort'), namesrvPort);
    await sim.runner.settleUntil(() => sim.clock.steadyMs() > 20_000);
    sim.client().askSend('Bills', 0, 'b0');
    sim.runner.runFor(1_000);
    for (const topic of ['Orders', 'Bills']) {
      const route = sim.client(namesrvPort).ask(RequestCodes.GET_ROUTEINFO_BY_TOPIC, { topic });
      t.is(route.code, ResponseCodes.SUCCESS, `${topic} after ${name}`);
      t.true(route.body.toString().includes(`:${sim.port}`));
    }
    sim.assertHealthy();
  }
});

test('restart: an indexer is replaced; a coordinator that fails stops the broker', async (t) => {
  const sim = await SimBroker.start(3);
  sim.host.fail('indexer');
  await restarted(sim, 'indexer');
  t.is(sim.client().askSend('Orders', 0, 'm0').code, 0);
  t.deepEqual(sim.fatal, []);
  sim.host.fail('coordinator');
  await sim.runner.settleUntil(() => sim.fatal.length > 0);
  t.regex(sim.fatal.join(), /coordinator/);
});

test('restart: an ingress that fails again and again stops the broker', async (t) => {
  const sim = await SimBroker.start(4);
  for (let i = 0; sim.fatal.length === 0 && i < 10; i++) {
    sim.host.fail('ingress-1');
    await sim.runner.settleUntil(() => sim.host.failures.length > i);
    await sim.runner.settleUntil(() => sim.fatal.length > 0 || sim.host.duty.stateOf('ingress-1') === 'running');
  }
  t.is(sim.host.failures.length, 6);
  t.regex(sim.fatal.join(), /ingress-1/);
});
