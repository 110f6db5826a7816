// Resets of offsets in a whole broker: with members whose pulls and commits are under way, with several ingresses, over restarts.
import test, { type ExecutionContext } from 'ava';
import { RequestCodes, ResponseCodes } from '../../src/protocol/codes.ts';
import { SimBroker } from './sim-broker.ts';
import { nameOf, recordsOf, type SimClient } from './sim-client.ts';

const QUEUE_COUNT = 4;
const GROUP = 'team';
const MESSAGE_COUNT = 40;
const TARGET = 10;

function prepare(t: ExecutionContext, client: SimClient): void {
  const rest = { perm: 6, topicFilterType: 'SINGLE_TAG', topicSysFlag: 0, order: false };
  const counts = { readQueueNums: QUEUE_COUNT, writeQueueNums: QUEUE_COUNT };
  client.ask(RequestCodes.UPDATE_AND_CREATE_TOPIC, { topic: 'Orders', defaultTopic: 'TBW102', ...counts, ...rest });
  for (let queueId = 0; queueId < QUEUE_COUNT; queueId++) {
    for (let i = 0; i < MESSAGE_COUNT; i++) t.is(client.askSend('Orders', queueId, `m${queueId}.${i}`).code, 0);
  }
}

function beat(client: SimClient): void {
  const subscription = { topic: 'Orders', expression: '*', type: 'TAG', tags: [], codes: [], version: '1', classFilter: false };
  const kind = {
    consumeType: 'CONSUME_PASSIVELY',
    messageModel: 'CLUSTERING',
    consumeFromWhere: 'CONSUME_FROM_FIRST_OFFSET',
    unitMode: false,
  };
  client.await(client.beat({ clientId: 'c1', consumers: [{ group: GROUP, subscriptions: [subscription], ...kind }] }));
}

function committed(client: SimClient, queueId: number): number {
  return client.askNumber(RequestCodes.QUERY_CONSUMER_OFFSET, 'Orders', queueId, 'offset', { consumerGroup: GROUP });
}

function commit(client: SimClient, queueId: number, commitOffset: number): void {
  client.sendOneway(RequestCodes.UPDATE_CONSUMER_OFFSET, { consumerGroup: GROUP, topic: 'Orders', queueId, commitOffset });
}

function resetTo(client: SimClient, offset: number): number[] {
  return Array.from({ length: QUEUE_COUNT }, (_, queueId) => {
    const ext = { topic: 'Orders', group: GROUP, timestamp: -1, isForce: true, queueId, offset };
    return client.ask(RequestCodes.INVOKE_BROKER_TO_RESET_OFFSET, ext).code;
  });
}

test('resets: with held pulls, a late commit and a restart all queues go on at the new offset (BR-08)', async (t) => {
  for (let seed = 1; seed <= 10; seed++) {
    const first = await SimBroker.start(seed);
    const consumer = first.client();
    const tool = first.client();
    prepare(t, tool);
    beat(consumer);
    const held: number[] = [];
    for (let queueId = 0; queueId < QUEUE_COUNT; queueId++) {
      held.push(consumer.pull('Orders', queueId, GROUP, { offset: MESSAGE_COUNT, commitOffset: MESSAGE_COUNT, suspendMs: 15_000 }));
    }
    first.runner.runFor(100);
    for (let queueId = 0; queueId < QUEUE_COUNT; queueId++) t.is(committed(tool, queueId), MESSAGE_COUNT, `seed ${seed}`);
    t.deepEqual(resetTo(tool, TARGET), [0, 0, 0, 0]);
    first.runner.runFor(5);
    held.forEach((pull) => {
      t.is(consumer.answers.get(pull)?.code, ResponseCodes.PULL_OFFSET_MOVED, 'a pull that waits is answered at once');
      t.is(consumer.answers.get(pull)?.ext['nextBeginOffset'], String(TARGET));
    });
    first.runner.runFor(45);
    for (let queueId = 0; queueId < QUEUE_COUNT; queueId++) commit(consumer, queueId, MESSAGE_COUNT);
    first.runner.runFor(100);
    for (let queueId = 0; queueId < QUEUE_COUNT; queueId++) t.is(committed(tool, queueId), TARGET, 'what was sent before it was told');
    // Half of the queues show that they know, the answers of the others may have been lost with the connection.
    for (const queueId of [0, 1]) {
      const answer = consumer.askPull('Orders', queueId, GROUP, { offset: TARGET, commitOffset: TARGET });
      t.deepEqual(recordsOf(answer).map(nameOf)[0], `m${queueId}.${TARGET}`);
    }
    first.runner.runFor(900);
    const files = first.kill();
    const second = await SimBroker.start(seed + 100, { files, clock: first.clock });
    const again = second.client();
    for (let queueId = 0; queueId < QUEUE_COUNT; queueId++) {
      t.is(committed(again, queueId), TARGET, `seed ${seed} queue ${queueId}`);
      // Those of the first half have confirmed; the others still stand where they were.
      const offset = queueId < 2 ? TARGET : MESSAGE_COUNT;
      if (queueId >= 2) commit(again, queueId, MESSAGE_COUNT);
      const answer = again.askPull('Orders', queueId, GROUP, { offset, commitOffset: offset });
      if (queueId >= 2) t.is(answer.ext['nextBeginOffset'], String(TARGET));
      t.is(committed(again, queueId), TARGET);
    }
    second.assertHealthy();
  }
});

test('resets: the next pull of a reset queue is moved there, the one after is served, and commits count again', async (t) => {
  for (const ingressCount of [1, 2]) {
    const sim = await SimBroker.start(3, { ingressCount });
    const client = sim.client();
    prepare(t, client);
    client.askPull('Orders', 0, GROUP, { offset: 30, commitOffset: 30 });
    sim.runner.runFor(50);
    t.deepEqual(resetTo(client, TARGET), [0, 0, 0, 0]);
    const moved = client.askPull('Orders', 0, GROUP, { offset: 30, commitOffset: 30 });
    t.is(moved.code, ResponseCodes.PULL_OFFSET_MOVED);
    t.is(moved.remark, 'OFFSET_RESET');
    t.like(moved.ext, { nextBeginOffset: String(TARGET), minOffset: '0', maxOffset: String(MESSAGE_COUNT), suggestWhichBrokerId: '0' });
    t.is(committed(client, 0), TARGET);
    t.is(client.askPull('Orders', 0, GROUP, { offset: 30 }).code, 0, 'only that one');
    client.askPull('Orders', 0, GROUP, { offset: 20, commitOffset: 20 });
    sim.runner.runFor(50);
    t.is(committed(client, 0), 20);
    // A member that begins now is not moved.
    const newcomer = sim.client();
    t.is(newcomer.askPull('Orders', 0, GROUP, { offset: 20, commitOffset: 20 }).code, 0);
    sim.assertHealthy();
  }
});

test('resets: to a time, with the group offline: who starts there is served at once', async (t) => {
  const sim = await SimBroker.start(4);
  const client = sim.client();
  prepare(t, client);
  t.is(client.ask(RequestCodes.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, Buffer.from(`{"groupName":"${GROUP}"}`)).code, 0);
  sim.runner.runFor(10);
  const middleMs = sim.clock.wallMs();
  for (let queueId = 0; queueId < QUEUE_COUNT; queueId++) t.is(client.askSend('Orders', queueId, `late${queueId}`).code, 0);
  for (const [timestamp, expected] of [
    [1_000, 0],
    [middleMs, MESSAGE_COUNT],
    [middleMs + 3_600_000, MESSAGE_COUNT + 1],
    [-1, MESSAGE_COUNT + 1],
  ] as const) {
    const answer = client.ask(RequestCodes.INVOKE_BROKER_TO_RESET_OFFSET, { topic: 'Orders', group: GROUP, timestamp, isForce: true });
    t.is(answer.code, 0);
    for (let queueId = 0; queueId < QUEUE_COUNT; queueId++) t.is(committed(client, queueId), expected);
  }
  resetTo(client, TARGET);
  t.is(client.askPull('Orders', 1, GROUP, { offset: TARGET }).code, 0);
  t.is(client.askPull('Orders', 2, GROUP, { offset: TARGET + 1 }).code, ResponseCodes.PULL_OFFSET_MOVED);
  sim.assertHealthy();
});
