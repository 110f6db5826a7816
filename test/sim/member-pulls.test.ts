// Pulls without an expression of their own are judged by what their member said in its heartbeat, not by what others of the group said.
import test from 'ava';
import type { ConsumerData } from '../../src/protocol/bodies/heartbeat.ts';
import { RequestCodes, ResponseCodes } from '../../src/protocol/codes.ts';
import { encodePullRequest, PullFlags, PullRequest } from '../../src/protocol/commands/pull-message.ts';
import { CounterIds } from '../../src/runtime/counters.ts';
import { consumer, putGroup } from './retry-rig.ts';
import { SimBroker } from './sim-broker.ts';
import { type Answer, nameOf, recordsOf, type SimClient } from './sim-client.ts';

function pullRequest(topic: string, subVersion: string): PullRequest {
  const request = new PullRequest();
  request.group = 'G';
  request.topic = topic;
  request.maxCount = 32;
  request.subVersion = subVersion;
  return request;
}

function askPull(client: SimClient, topic: string, subVersion = '1'): Answer {
  return client.ask(RequestCodes.PULL_MESSAGE, encodePullRequest(pullRequest(topic, subVersion)));
}

/** A pull that waits at the end of what is there. */
function hold(client: SimClient, topic: string, offset: number): number {
  const request = pullRequest(topic, '1');
  request.offset = offset;
  request.sysFlag = PullFlags.suspend;
  request.suspendMs = 15_000;
  return client.send(RequestCodes.PULL_MESSAGE, encodePullRequest(request));
}

function join(sim: SimBroker, clientId: string, data: ConsumerData): SimClient {
  const client = sim.client();
  client.await(client.beat({ clientId, consumers: [data] }));
  return client;
}

function sendTagged(sim: SimBroker): void {
  const producer = sim.client();
  for (const tag of ['A', 'B', 'A', 'B']) producer.askSend('T', 0, `${tag}${producer.answers.size}`, 10, tag);
  producer.askSend('U', 0, 'u');
}

test('member pulls: two members with different tags each get their own, and it is told (BR-19)', async (t) => {
  const sim = await SimBroker.start(1, { ingressCount: 2 });
  const a = join(sim, 'a', consumer('G', { T: 'A' }));
  const b = join(sim, 'b', consumer('G', { T: 'B' }));
  sendTagged(sim);
  const tags = (client: SimClient): (string | undefined)[] =>
    recordsOf(askPull(client, 'T')).map((record) => record.properties.get('TAGS'));
  t.deepEqual(tags(a), ['A', 'A']);
  t.deepEqual(tags(b), ['B', 'B']);
  const coordinator = sim.countersOf('coordinator');
  t.deepEqual([coordinator.get(CounterIds.subscriptionMismatches), coordinator.get(CounterIds.mismatchedGroups)], [1, 1]);
  b.cut();
  sim.runner.runUntil(() => coordinator.get(CounterIds.mismatchedGroups) === 0);
  t.deepEqual(tags(a), ['A', 'A']);
  await sim.stop();
  sim.assertHealthy();
});

test('member pulls: two members with different topics: a heartbeat of one takes nothing from the other (BR-19)', async (t) => {
  const sim = await SimBroker.start(2);
  sendTagged(sim);
  const a = join(sim, 'a', consumer('G', { T: '*' }));
  const b = join(sim, 'b', consumer('G', { U: '*' }));
  t.is(recordsOf(askPull(a, 'T')).length, 4);
  t.deepEqual(recordsOf(askPull(b, 'U')).map(nameOf), ['u']);
  t.is(askPull(a, 'U').code, ResponseCodes.SUBSCRIPTION_NOT_EXIST, 'it never subscribed to that');
  await sim.stop();
});

test('member pulls: an expression that changes counts with the next heartbeat, and older ones are told so', async (t) => {
  const sim = await SimBroker.start(3);
  sendTagged(sim);
  const a = join(sim, 'a', consumer('G', { T: 'A' }));
  t.is(askPull(a, 'T', '2').code, ResponseCodes.SUBSCRIPTION_NOT_LATEST);
  const data = consumer('G', { T: 'B' });
  a.await(a.beat({ clientId: 'a', consumers: [{ ...data, subscriptions: data.subscriptions.map((s) => ({ ...s, version: '2' })) }] }));
  t.deepEqual(
    recordsOf(askPull(a, 'T', '2')).map((record) => record.properties.get('TAGS')),
    ['B', 'B'],
  );
  await sim.stop();
});

test('member pulls: one that waits while its expression changes is asked again, and misses nothing of the new one', async (t) => {
  const sim = await SimBroker.start(3, { ingressCount: 2 });
  sendTagged(sim);
  const producer = sim.client();
  const read = consumer('G', { T: 'A', U: 'A' });
  const a = join(sim, 'a', read);
  const other = join(sim, 'other', read);
  const held = hold(a, 'T', 4);
  const elsewhere = hold(a, 'U', 1);
  const others = hold(other, 'T', 4);
  sim.runner.runFor(100);
  producer.askSend('T', 0, 'early', 10, 'B');
  const anew = consumer('G', { T: 'B', U: 'A' });
  const beat = (version: string): Answer =>
    a.await(a.beat({ clientId: 'a', consumers: [{ ...anew, subscriptions: anew.subscriptions.map((s) => ({ ...s, version })) }] }));
  beat('2');
  const answer = a.await(held);
  t.deepEqual([answer.code, answer.ext['nextBeginOffset']], [ResponseCodes.PULL_RETRY_IMMEDIATELY, '4']);
  producer.askSend('T', 0, 'late', 10, 'B');
  t.deepEqual(
    recordsOf(askPull(a, 'T', '2'))
      .map(nameOf)
      .slice(-2),
    ['early', 'late'],
  );
  const again = hold(a, 'T', 6);
  beat('3');
  sim.runner.runFor(100);
  t.deepEqual(
    [a.answers.has(again), a.answers.has(elsewhere), other.answers.has(others)],
    [false, false, false],
    'what is read as before goes on waiting',
  );
  await sim.stop();
  sim.assertHealthy();
});

test('member pulls: after it left, a connection is judged by what the others read', async (t) => {
  const sim = await SimBroker.start(4);
  sendTagged(sim);
  const a = join(sim, 'a', consumer('G', { T: 'A' }));
  a.ask(RequestCodes.UNREGISTER_CLIENT, { clientID: 'a', consumerGroup: 'G' });
  t.is(askPull(a, 'T').code, ResponseCodes.SUBSCRIPTION_NOT_EXIST);
  join(sim, 'b', consumer('G', { T: 'B' }));
  t.is(recordsOf(askPull(a, 'T')).length, 2);
  await sim.stop();
});

test('member pulls: broadcasting is forbidden to the members that do it, not to all of a group', async (t) => {
  const sim = await SimBroker.start(5);
  sendTagged(sim);
  putGroup(sim.client(), 'G', { consumeBroadcastEnable: false });
  const a = join(sim, 'a', consumer('G', { T: '*' }));
  const b = join(sim, 'b', consumer('G', { T: '*' }, { messageModel: 'BROADCASTING' }));
  t.is(askPull(a, 'T').code, 0);
  t.is(askPull(b, 'T').code, ResponseCodes.NO_PERMISSION);
  await sim.stop();
});
