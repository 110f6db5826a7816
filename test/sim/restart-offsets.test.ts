// What consumers find after a restart: the offsets they committed, no matter how the last process ended, and no removed topic's messages.
import test, { type ExecutionContext } from 'ava';
import { encodeBatch } from '../../src/message/batch.ts';
import { RequestCodes, ResponseCodes } from '../../src/protocol/codes.ts';
import { SimBroker } from './sim-broker.ts';
import { bodyOf, nameOf, propertiesOf, recordsOf, type SimClient, sendFields } from './sim-client.ts';

const QUEUE_COUNT = 4;
const GROUP = 'team';
/** Of each queue: together more than a dispatcher reads again in one turn. */
const LONG_COUNT = 700;

function createTopic(client: SimClient, topic: string): number {
  const rest = { perm: 6, topicFilterType: 'SINGLE_TAG', topicSysFlag: 0, order: false };
  const counts = { readQueueNums: QUEUE_COUNT, writeQueueNums: QUEUE_COUNT };
  return client.ask(RequestCodes.UPDATE_AND_CREATE_TOPIC, { topic, defaultTopic: 'TBW102', ...counts, ...rest }).code;
}

function sendMany(t: ExecutionContext, client: SimClient, topic: string, queueId: number, name: string, count: number): void {
  const names = Array.from({ length: count }, (_, i) => `${name}.${queueId}.${i}`);
  const entry = (one: string) => ({ flag: 0, body: bodyOf(one, 20), properties: Buffer.from(propertiesOf(one)) });
  const body = encodeBatch(names.map(entry));
  t.is(client.ask(RequestCodes.SEND_BATCH_MESSAGE, sendFields(topic, queueId, `${name}b`, '', true), body).code, 0);
}

/** -1: none. */
function committed(client: SimClient, topic: string, queueId: number): number {
  const answer = client.ask(RequestCodes.QUERY_CONSUMER_OFFSET, { consumerGroup: GROUP, topic, queueId, setZeroIfNotFound: false });
  return answer.code === ResponseCodes.SUCCESS ? Number(answer.ext['offset']) : -1;
}

/** Reads a queue from its committed offset to its end, and commits that. */
function consume(t: ExecutionContext, client: SimClient, topic: string, queueId: number): string[] {
  const names: string[] = [];
  for (let offset = Math.max(0, committed(client, topic, queueId)); ; ) {
    const answer = client.askPull(topic, queueId, GROUP, { offset, commitOffset: offset });
    if (answer.code !== ResponseCodes.SUCCESS) {
      t.is(answer.code, ResponseCodes.PULL_NOT_FOUND, answer.remark);
      client.sim.runner.runFor(20);
      return names;
    }
    names.push(...recordsOf(answer).map(nameOf));
    offset = Number(answer.ext['nextBeginOffset']);
  }
}

test('restart offsets: a consumer that polls while a slow start reads the log again is never moved back (BR-01)', async (t) => {
  for (let seed = 1; seed <= 3; seed++) {
    const first = await SimBroker.start(seed);
    const before = first.client();
    createTopic(before, 'Orders');
    for (let queueId = 0; queueId < QUEUE_COUNT; queueId++) {
      for (let i = 0; i < LONG_COUNT; i += 100) sendMany(t, before, 'Orders', queueId, `old${i}`, 100);
      t.is(consume(t, before, 'Orders', queueId).length, LONG_COUNT);
    }
    first.runner.runFor(6_000);
    const starved = ['dispatch-0', 'dispatch-1'];
    const sim = await SimBroker.start(seed + 100, { files: first.kill(), clock: first.clock, starved });
    const client = sim.client();
    const pulls: number[] = [];
    for (let poll = 0; poll < 20; poll++) {
      for (let queueId = 0; queueId < QUEUE_COUNT; queueId++) {
        t.is(committed(client, 'Orders', queueId), LONG_COUNT);
        t.is(client.askNumber(RequestCodes.GET_MAX_OFFSET, 'Orders', queueId), LONG_COUNT);
        pulls.push(client.pull('Orders', queueId, GROUP, { offset: LONG_COUNT, commitOffset: LONG_COUNT }));
      }
      sim.runner.runFor(50);
    }
    t.true(pulls.every((pull) => !client.answers.has(pull)));
    for (const name of starved) sim.runner.feed(name);
    for (const pull of pulls) {
      const answer = client.await(pull);
      t.is(answer.code, ResponseCodes.PULL_NOT_FOUND);
      t.is(answer.ext['nextBeginOffset'], String(LONG_COUNT));
    }
    for (let queueId = 0; queueId < QUEUE_COUNT; queueId++) {
      sendMany(t, client, 'Orders', queueId, 'new', 1);
      t.deepEqual(consume(t, client, 'Orders', queueId), [`new.${queueId}.0`]);
    }
    sim.assertHealthy();
  }
});

test('restart offsets: after a stop and a start a group gets the new message and nothing else (BR-02)', async (t) => {
  for (let seed = 1; seed <= 10; seed++) {
    const first = await SimBroker.start(seed);
    const before = first.client();
    createTopic(before, 'Orders');
    let count = 0;
    for (let queueId = 0; queueId < QUEUE_COUNT; queueId++) {
      sendMany(t, before, 'Orders', queueId, 'old', queueId < 2 ? 12 : 13);
      count += consume(t, before, 'Orders', queueId).length;
    }
    t.is(count, 50);
    // Long before the offsets' own interval is over.
    await first.stop();
    first.assertHealthy();
    const sim = await SimBroker.start(seed + 100, { files: first.kill(), clock: first.clock });
    const client = sim.client();
    sendMany(t, client, 'Orders', seed % QUEUE_COUNT, 'new', 1);
    const names = Array.from({ length: QUEUE_COUNT }, (_, queueId) => consume(t, client, 'Orders', queueId)).flat();
    t.deepEqual(names, [`new.${seed % QUEUE_COUNT}.0`], `seed ${seed}`);
    sim.assertHealthy();
  }
});

const ends = ['none', 'stop', 'kill'] as const;

for (const end of ends) {
  test(`restart offsets: a topic that was removed is empty when it is made again, with ${end === 'none' ? 'no restart' : `a ${end}`} between (BR-12)`, async (t) => {
    for (let seed = 1; seed <= 6; seed++) {
      let sim = await SimBroker.start(seed);
      const restart = async (how: (typeof ends)[number]): Promise<void> => {
        if (how === 'none') return;
        if (how === 'stop') await sim.stop();
        sim.assertHealthy();
        sim = await SimBroker.start(seed * 100 + Math.floor(sim.clock.steadyMs()), { files: sim.kill(), clock: sim.clock });
      };
      const admin = sim.client();
      createTopic(admin, 'Orders');
      createTopic(admin, 'Other');
      sendMany(t, admin, 'Orders', 0, 'old', 10);
      sendMany(t, admin, 'Other', 0, 'other', 3);
      t.is(consume(t, admin, 'Orders', 0).length, 10);
      sim.runner.runFor(seed % 2 === 0 ? 6_000 : 5);
      t.is(admin.ask(RequestCodes.DELETE_TOPIC_IN_BROKER, { topic: 'Orders' }).code, 0);
      const missing = (client: SimClient): void => {
        t.is(client.askNumber(RequestCodes.GET_MAX_OFFSET, 'Orders', 0), 0);
        t.is(client.ask(RequestCodes.GET_TOPIC_STATS_INFO, { topic: 'Orders' }).code, ResponseCodes.TOPIC_NOT_EXIST);
        t.is(client.askPull('Orders', 0, GROUP, { offset: 10 }).code, ResponseCodes.TOPIC_NOT_EXIST);
        t.is(committed(client, 'Orders', 0), -1);
      };
      missing(admin);
      await restart(end);
      const client = sim.client();
      missing(client);
      sendMany(t, client, 'Orders', 0, 'new', 5);
      const stats = client.ask(RequestCodes.GET_CONSUME_STATS, { consumerGroup: GROUP, topic: 'Orders' }).body.toString();
      t.true(stats.includes('"brokerOffset":5,"consumerOffset":0'), stats);
      t.deepEqual(
        consume(t, client, 'Orders', 0),
        Array.from({ length: 5 }, (_, i) => `new.0.${i}`),
        `seed ${seed}`,
      );
      // And so it stays, whatever the log still holds of its former life.
      await restart(seed % 2 === 0 ? 'kill' : 'stop');
      const after = sim.client();
      t.is(after.askNumber(RequestCodes.GET_MAX_OFFSET, 'Orders', 0), 5);
      t.deepEqual(recordsOf(after.askPull('Orders', 0, 'others')).map(nameOf).length, 5);
      t.is(after.askNumber(RequestCodes.GET_MAX_OFFSET, 'Other', 0), 3);
      sim.assertHealthy();
    }
  });
}
