// What operators see and do, through the whole broker: exact times, units of queues, traffic, topics removed and made again.
import test from 'ava';
import type { ConsumerData } from '../../src/protocol/bodies/heartbeat.ts';
import { RequestCodes, ResponseCodes } from '../../src/protocol/codes.ts';
import { checkStore } from '../../src/store/check/check-store.ts';
import { askSendBack } from './retry-rig.ts';
import { SimBroker } from './sim-broker.ts';
import { recordsOf, type SimClient } from './sim-client.ts';

const STEP_MS = 1_000;

function json<T>(client: SimClient, code: number, ext: Record<string, string | number>): T {
  const answer = client.ask(code, ext);
  if (answer.code !== 0) throw new Error(`${answer.code} ${answer.remark}`);
  // Tables keyed by queues are no JSON: their keys become texts.
  const text = answer.body
    .toString()
    .replaceAll(/([{,])(\{"brokerName":"[^"]*","queueId":\d+,"topic":"[^"]*"\}):/g, (_, lead, key) => `${lead}${JSON.stringify(key)}:`);
  return JSON.parse(text) as T;
}

function create(client: SimClient, topic: string, queueCount: number): void {
  client.ask(RequestCodes.UPDATE_AND_CREATE_TOPIC, { topic, readQueueNums: queueCount, writeQueueNums: queueCount, perm: 6 });
}

/** One message a second; their store times. */
function spread(sim: SimBroker, client: SimClient, topic: string, count: number): number[] {
  const times: number[] = [];
  for (let i = 0; i < count; i++) {
    client.askSend(topic, 0, `m${i}`, 10, i % 2 === 0 ? 'even' : 'odd');
    const [record] = recordsOf(client.askPull(topic, 0, 'watch', { offset: i }));
    times.push(record?.storeTimeMs ?? 0);
    sim.runner.runFor(STEP_MS);
  }
  return times;
}

interface QueueUnits {
  minQueueIndex: number;
  maxQueueIndex: number;
  filterData?: string;
  subscriptionData?: unknown;
  queueData: Record<string, number | boolean>[];
}

function consumer(group: string, expression: string, codes: readonly number[]): ConsumerData {
  const subscription = { topic: 'T', expression, type: 'TAG', tags: [], codes, version: '1', classFilter: false };
  return {
    group,
    consumeType: 'CONSUME_PASSIVELY',
    messageModel: 'CLUSTERING',
    consumeFromWhere: 'CONSUME_FROM_FIRST_OFFSET',
    subscriptions: [subscription],
    unitMode: false,
  };
}

interface QueueRow {
  minOffset: number;
  maxOffset: number;
  lastUpdateTimestamp: number;
  brokerOffset: number;
  consumerOffset: number;
  pullOffset: number;
  lastTimestamp: number;
}

function rows(client: SimClient, code: number, ext: Record<string, string | number>): QueueRow[] {
  return Object.values(json<{ offsetTable: Record<string, QueueRow> }>(client, code, ext).offsetTable);
}

test('operators: statistics of a topic give the time of each last message', async (t) => {
  const sim = await SimBroker.start(1);
  const client = sim.client();
  create(client, 'T', 3);
  const times = spread(sim, client, 'T', 4);
  const stats = rows(client, RequestCodes.GET_TOPIC_STATS_INFO, { topic: 'T' });
  t.deepEqual(
    stats.map((row) => [row.minOffset, row.maxOffset, row.lastUpdateTimestamp]),
    [
      [0, 4, times[3]],
      [0, 0, 0],
      [0, 0, 0],
    ],
  );
  sim.assertHealthy();
});

test('operators: a thousand queues are looked up for one answer, and its connection may close meanwhile', async (t) => {
  const sim = await SimBroker.start(2);
  const client = sim.client();
  create(client, 'T', 1_000);
  for (let queueId = 0; queueId < 1_000; queueId++) client.askSend('T', queueId, `m${queueId}`);
  const stats = rows(client, RequestCodes.GET_TOPIC_STATS_INFO, { topic: 'T' });
  t.is(stats.length, 1_000);
  t.true(stats.every((row) => row.maxOffset === 1 && row.lastUpdateTimestamp > 0));
  const leaving = sim.client();
  leaving.ask(RequestCodes.GET_TOPIC_STATS_INFO, { topic: 'T' });
  leaving.send(RequestCodes.GET_TOPIC_STATS_INFO, { topic: 'T' });
  sim.runner.runFor(1);
  leaving.cut();
  sim.runner.runFor(100);
  t.is(rows(client, RequestCodes.GET_TOPIC_STATS_INFO, { topic: 'T' }).length, 1_000);
  sim.assertHealthy();
});

test('operators: progress gives the time of the last message consumed, and the span of a queue', async (t) => {
  const sim = await SimBroker.start(3);
  const client = sim.client();
  create(client, 'T', 1);
  const times = spread(sim, client, 'T', 4);
  client.ask(RequestCodes.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, Buffer.from('{"groupName":"G"}'));
  client.ask(RequestCodes.UPDATE_CONSUMER_OFFSET, { consumerGroup: 'G', topic: 'T', queueId: 0, commitOffset: 2 });
  client.askPull('T', 0, 'G', { offset: 2, maxCount: 1 });
  sim.runner.runFor(2 * STEP_MS);
  const [row] = rows(client, RequestCodes.GET_CONSUME_STATS, { consumerGroup: 'G' });
  t.deepEqual(row, { brokerOffset: 4, consumerOffset: 2, lastTimestamp: times[1], pullOffset: 3 } as unknown as QueueRow);
  const { consumeTimeSpanSet: spans } = json<{ consumeTimeSpanSet: Record<string, number>[] }>(
    client,
    RequestCodes.QUERY_CONSUME_TIME_SPAN,
    {
      topic: 'T',
      group: 'G',
    },
  );
  t.deepEqual(
    spans.map(({ minTimeStamp, maxTimeStamp, consumeTimeStamp }) => [minTimeStamp, maxTimeStamp, consumeTimeStamp]),
    [[times[0], times[3], times[1]]],
  );
  const delayMs = spans[0]?.['delayTime'] as number;
  t.true(delayMs > 0 && delayMs <= sim.clock.wallMs() - (times[2] as number), 'since the first message not consumed');
  t.is(client.ask(RequestCodes.QUERY_CONSUME_TIME_SPAN, { topic: 'U', group: 'G' }).code, ResponseCodes.TOPIC_NOT_EXIST);
  sim.assertHealthy();
});

test('operators: units of a queue show position, size and tag of each message', async (t) => {
  const sim = await SimBroker.start(4);
  const client = sim.client();
  create(client, 'T', 1);
  spread(sim, client, 'T', 3);
  const records = recordsOf(client.askPull('T', 0, 'watch', { offset: 0 }));
  const show = (ext: Record<string, string | number>) =>
    json<QueueUnits>(client, RequestCodes.QUERY_CONSUME_QUEUE, { topic: 'T', queueId: 0, index: 0, count: 10, ...ext });
  const all = show({});
  t.deepEqual([all.minQueueIndex, all.maxQueueIndex], [0, 3]);
  t.deepEqual(
    all.queueData.map(({ physicOffset, physicSize }) => [physicOffset, physicSize]),
    records.map((record) => [record.position, record.size]),
  );
  t.deepEqual(
    all.queueData.map(({ tagsCode }) => tagsCode),
    [3125530, 109871, 3125530],
    'the hashes of "even" and "odd"',
  );
  t.is(show({ index: 1, count: 1 }).queueData.length, 1);
  t.is(show({ index: 7 }).queueData.length, 0);
  t.is(show({ consumerGroup: 'NOBODY' }).filterData, 'NOBODY@T is not online!');
  client.beat({ consumers: [consumer('G', 'odd || other', [109871, 106069776])] });
  sim.runner.runFor(STEP_MS);
  const shown = show({ consumerGroup: 'G' });
  t.deepEqual(shown.subscriptionData, {
    classFilterMode: false,
    codeSet: [109871, 106069776],
    expressionType: 'TAG',
    subString: 'odd || other',
    subVersion: 1,
    tagsSet: ['odd', 'other'],
    topic: 'T',
  });
  t.deepEqual(
    shown.queueData.map((unit) => unit['eval']),
    [false, true, false],
    'which of them the group gets',
  );
  t.is(client.ask(RequestCodes.QUERY_CONSUME_QUEUE, { topic: 'T', queueId: 9, index: 0, count: 1 }).code, ResponseCodes.SYSTEM_ERROR);
  sim.assertHealthy();
});

test('operators: traffic of topics and groups is counted as it flows', async (t) => {
  const sim = await SimBroker.start(5);
  const client = sim.client();
  create(client, 'T', 1);
  for (let i = 0; i < 20; i++) client.askSend('T', 0, `m${i}`);
  client.askPull('T', 0, 'G', { offset: 0, maxCount: 16 });
  sim.runner.runFor(21_000);
  const sum = (statsName: string, statsKey: string): number =>
    json<{ statsHour: { sum: number } }>(client, RequestCodes.VIEW_BROKER_STATS_DATA, { statsName, statsKey }).statsHour.sum;
  t.is(sum('TOPIC_PUT_NUMS', 'T'), 20);
  t.is(sum('GROUP_GET_NUMS', 'T@G'), 16);
  const records = recordsOf(client.askPull('T', 0, 'other', { offset: 0 }));
  const bytes = records.reduce((total, record) => total + record.size, 0);
  t.is(sum('TOPIC_PUT_SIZE', 'T'), bytes);
  t.is(
    sum('GROUP_GET_SIZE', 'T@G'),
    records.slice(0, 16).reduce((total, record) => total + record.size, 0),
  );
  sim.assertHealthy();
});

test('operators: what a group sends back is counted under the topic that it was first sent to, also when it comes back again', async (t) => {
  const sim = await SimBroker.start(5);
  const client = sim.client();
  create(client, 'T', 1);
  client.askSend('T', 0, 'm0');
  const position = recordsOf(client.askPull('T', 0, 'G', { offset: 0 }))[0]?.position ?? -1;
  t.is(askSendBack(client, 'G', position, 1, { originTopic: 'T' }).code, 0);
  sim.runner.runFor(21_000);
  const again = recordsOf(client.askPull('%RETRY%G', 0, 'G', { offset: 0 }))[0];
  t.is(askSendBack(client, 'G', again?.position ?? -1, 1, { originTopic: 'T' }).code, 0);
  sim.runner.runFor(21_000);
  const stats = { statsName: 'SNDBCK_PUT_NUMS', statsKey: 'T@G' };
  t.is(json<{ statsHour: { sum: number } }>(client, RequestCodes.VIEW_BROKER_STATS_DATA, stats).statsHour.sum, 2);
  sim.assertHealthy();
});

test('operators: a topic made again shows nothing of its former life, with messages or without, over restarts and kills (BR-12)', async (t) => {
  for (const ending of ['stop', 'kill'] as const) {
    let sim = await SimBroker.start(6);
    let client = sim.client();
    create(client, 'T', 2);
    for (let i = 0; i < 5; i++) client.askSend('T', 0, `old${i}`);
    client.ask(RequestCodes.DELETE_TOPIC_IN_BROKER, { topic: 'T' });
    create(client, 'T', 2);
    for (let round = 0; round < 3; round++) {
      const { files, clock } = sim;
      if (ending === 'stop') {
        await sim.stop();
        t.deepEqual(checkStore(files, sim.settings).findings, [], `after ${round}`);
      }
      sim = await SimBroker.start(7 + round, { files, clock });
      client = sim.client();
      t.is(client.askNumber(RequestCodes.GET_MAX_OFFSET, 'T', 0), round, `${ending} ${round}`);
      const found = client.askPull('T', 0, 'G', { offset: 0 });
      t.deepEqual(
        recordsOf(found).map((record) => record.queueOffset),
        Array.from({ length: round }, (_, offset) => offset),
      );
      t.is(Number(client.askSend('T', 0, `new${round}`).ext['queueOffset']), round);
      sim.assertHealthy();
    }
    t.is(
      client.ask(RequestCodes.QUERY_MESSAGE, { topic: 'T', key: 'old1', maxNum: 10, beginTimestamp: 0, endTimestamp: 2 ** 50 }).code,
      22,
    );
    t.is(client.ask(RequestCodes.QUERY_MESSAGE, { topic: 'T', key: 'new1', maxNum: 10, beginTimestamp: 0, endTimestamp: 2 ** 50 }).code, 0);
  }
});

test('operators: a removed topic stays gone over a restart, also where topics.json is lost', async (t) => {
  let sim = await SimBroker.start(8);
  const client = sim.client();
  create(client, 'T', 1);
  create(client, 'U', 1);
  client.askSend('T', 0, 'm');
  client.askSend('U', 0, 'm');
  client.ask(RequestCodes.DELETE_TOPIC_IN_BROKER, { topic: 'T' });
  await sim.stop();
  const { files, clock } = sim;
  files.remove('/store/config/topics.json');
  files.remove('/store/config/topics.json.bak');
  sim = await SimBroker.start(9, { files, clock });
  const after = sim.client();
  t.is(after.ask(RequestCodes.GET_TOPIC_CONFIG, { topic: 'T' }).code, ResponseCodes.TOPIC_NOT_EXIST);
  t.is(after.ask(RequestCodes.GET_TOPIC_CONFIG, { topic: 'U' }).code, 0);
  sim.assertHealthy();
});

test('operators: expired files of the log go when asked for, at any hour, and others stay', async (t) => {
  const sim = await SimBroker.start(10, {
    settings: { fileReservedTime: 1, deleteWhen: '04', deleteUnconsumed: true },
    overrides: { mappedFileSizeCommitLog: 4096, cleanResourceInterval: 1_000_000_000 },
  });
  const client = sim.client();
  create(client, 'T', 1);
  for (let i = 0; i < 40; i++) client.askSend('T', 0, `m${i}`, 100);
  sim.runner.runFor(120_000);
  const asked = (): number => {
    sim.client().ask(RequestCodes.DELETE_EXPIRED_COMMITLOG);
    sim.runner.runFor(5_000);
    return sim.position('logMin');
  };
  t.is(asked(), 0, 'none has expired');
  sim.clock.advance(2 * 3_600_000);
  sim.runner.runFor(1_000);
  t.true(asked() > 0);
  sim.assertHealthy();
});
