// Sends to a group's retry topic: the fall-back of consumers side by side, and the end of ordered ones.
import test from 'ava';
import { RequestCodes, ResponseCodes } from '../../src/protocol/codes.ts';
import { CounterIds } from '../../src/runtime/counters.ts';
import { askLock, askRetrySend, consumer, putGroup, queueOf } from './retry-rig.ts';
import { SimBroker } from './sim-broker.ts';
import { nameOf, type SimClient } from './sim-client.ts';

function member(sim: SimBroker, clientId: string, topics: readonly string[]): SimClient {
  const client = sim.client();
  const expressions = Object.fromEntries(topics.map((topic) => [topic, '*']));
  client.await(client.beat({ clientId, consumers: [consumer('G', expressions)] }));
  return client;
}

test('retry sends: within the limit to the retry topic, past it to the dead letters', async (t) => {
  const sim = await SimBroker.start(1, { ingressCount: 1 });
  const client = member(sim, 'a', ['T']);
  for (const times of [1, 2, 3]) t.is(askRetrySend(client, 'G', times, { UNIQ_KEY: `try${times}`, RETRY_TOPIC: 'T' }).code, 0);
  t.deepEqual(queueOf(client, '%RETRY%G').map(nameOf), ['try1', 'try2']);
  const dead = queueOf(client, '%DLQ%G');
  t.deepEqual(dead.map(nameOf), ['try3']);
  t.like(dead[0], { reconsumeTimes: 3, queueId: 0 });
  t.is(dead[0]?.properties.get('RETRY_TOPIC'), 'T');
  t.is(sim.countersOf('ingress-0').get(CounterIds.deadLetters), 1);
  await sim.stop();
  sim.assertHealthy();
});

test('retry sends: an ordered consumer gives a message up: it is dead, not tried out of order, and nothing delays it (BR-35)', async (t) => {
  const sim = await SimBroker.start(1);
  const client = member(sim, 'a', ['Ordered']);
  client.askSend('Ordered', 0, 'm0');
  askLock(client, 'G', 'a', 'Ordered', 0);
  const properties = { UNIQ_KEY: 'm0', RETRY_TOPIC: 'Ordered', DELAY: '5', TIMER_DELAY_SEC: '9', own: 'value' };
  t.is(askRetrySend(client, 'G', 2, properties).code, 0);
  const [dead] = queueOf(client, '%DLQ%G');
  t.is(dead?.properties.get('own'), 'value');
  t.deepEqual(
    ['DELAY', 'TIMER_DELAY_SEC'].map((name) => dead?.properties.has(name)),
    [false, false],
  );
  await sim.stop();
  sim.assertHealthy();
});

test('retry sends: an ordered consumer in a namespace shows its topic without it, and its message is dead all the same', async (t) => {
  const sim = await SimBroker.start(1);
  const client = sim.client();
  client.await(client.beat({ clientId: 'a', consumers: [consumer('NS%G', { 'NS%Ordered': '*' })] }));
  client.askSend('NS%Ordered', 0, 'm0');
  askLock(client, 'NS%G', 'a', 'NS%Ordered', 0);
  t.is(askRetrySend(client, 'NS%G', 2, { UNIQ_KEY: 'm0', RETRY_TOPIC: 'Ordered', DELAY: '5' }).code, 0);
  t.deepEqual(queueOf(client, '%DLQ%NS%G').map(nameOf), ['m0']);
  await sim.stop();
  sim.assertHealthy();
});

test('retry sends: a group that reads one topic in order and another side by side retries the other', async (t) => {
  const sim = await SimBroker.start(1);
  const client = member(sim, 'a', ['Ordered', 'Free']);
  client.askSend('Ordered', 0, 'm0');
  askLock(client, 'G', 'a', 'Ordered', 0);
  t.is(askRetrySend(client, 'G', 1, { UNIQ_KEY: 'free', RETRY_TOPIC: 'Free' }).code, 0);
  t.is(askRetrySend(client, 'G', 1, { UNIQ_KEY: 'none' }).code, 0);
  t.deepEqual(queueOf(client, '%RETRY%G').map(nameOf), ['free', 'none']);
  t.deepEqual(queueOf(client, '%DLQ%G'), []);
  await sim.stop();
});

test('retry sends: with the last lock its topic is no ordered one any more', async (t) => {
  const sim = await SimBroker.start(1);
  const client = member(sim, 'a', ['Ordered']);
  const other = sim.client();
  client.askSend('Ordered', 0, 'm0');
  askLock(client, 'G', 'a', 'Ordered', 0);
  client.cut();
  sim.runner.runUntil(() => client.closed);
  sim.runner.runFor(10);
  t.is(askRetrySend(other, 'G', 1, { UNIQ_KEY: 'm0', RETRY_TOPIC: 'Ordered' }).code, 0);
  t.deepEqual(queueOf(other, '%RETRY%G').map(nameOf), ['m0']);
  await sim.stop();
});

test('retry sends: without a group there is no retry topic to send to, unless it may be made', async (t) => {
  for (const allowed of [true, false]) {
    const sim = await SimBroker.start(1, { settings: { autoCreateSubscriptionGroup: allowed } });
    const client = sim.client();
    t.is(askRetrySend(client, 'G', 1, { UNIQ_KEY: 'm0' }).code, allowed ? 0 : ResponseCodes.SUBSCRIPTION_GROUP_NOT_EXIST);
    putGroup(client, 'OLD');
    client.ask(RequestCodes.DELETE_SUBSCRIPTIONGROUP, { groupName: 'OLD' });
    t.is(askRetrySend(client, 'OLD', 9, { UNIQ_KEY: 'm1' }).code, allowed ? 0 : ResponseCodes.SUBSCRIPTION_GROUP_NOT_EXIST);
    t.is(queueOf(client, '%DLQ%OLD').length, allowed ? 1 : 0);
    await sim.stop();
    sim.assertHealthy();
  }
});
