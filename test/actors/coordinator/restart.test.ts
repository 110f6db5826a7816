// What the coordinator makes of a store at its start: files that lag behind the log, lie beyond it, or are gone.
import test from 'ava';
import type { Boot } from '../../../src/actors/context.ts';
import { RequestCodes } from '../../../src/protocol/codes.ts';
import { MemoryFiles } from '../../../src/store/files/memory-files.ts';
import { Bench } from './bench.ts';
import { type Client, subscription } from './client.ts';

function damage(files: MemoryFiles, path: string): void {
  const fd = files.open(path, 'write');
  files.truncate(fd, 5);
  files.close(fd);
}

function made(files: MemoryFiles, ...topics: readonly string[]): Client {
  const client = new Bench({ files }).connect();
  for (const topic of topics) client.createTopic(topic, 2);
  client.ask(RequestCodes.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, Buffer.from('{"groupName":"G"}'));
  return client;
}

/** As recovery finds them: two queues of each topic, with so many messages. */
function queuesOf(ends: Readonly<Record<string, number>>): {
  queues: Boot['queues'];
  nextKey: number;
  ends: Map<number, number>;
} {
  const names = Object.keys(ends);
  const queues = names.flatMap((topic, i) => [0, 1].map((queueId) => ({ key: 2 * i + queueId, topic, queueId })));
  return { queues, nextKey: queues.length, ends: new Map(queues.map(({ key, topic }) => [key, ends[topic] as number])) };
}

test('restart: switches of features change neither which offsets are read nor which are written (BR-05)', (t) => {
  const files = new MemoryFiles();
  const first = new Bench({ files });
  const client = first.connect();
  client.createTopic('T', 1);
  client.ask(RequestCodes.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, Buffer.from('{"groupName":"G"}'));
  client.commit('G', 'T', 0, 7);
  first.coordinator.stop();
  const switches = [
    ['newGroupOffset=apache'],
    ['timerWheelEnable=false'],
    ['autoCreateTopicEnable=false', 'autoCreateSubscriptionGroup=false'],
    ['enablePropertyFilter=true', 'messageIndexEnable=false'],
    ['flushDiskType=SYNC_FLUSH', 'traceTopicEnable=true'],
    [],
  ];
  switches.forEach((sets, i) => {
    const bench = new Bench({ files, sets });
    const one = bench.connect();
    t.is(one.queryOffset('G', 'T', 0), 7 + i, sets.join());
    one.commit('G', 'T', 0, 8 + i);
    bench.coordinator.stop();
  });
  t.deepEqual(
    files.list('/store/config').filter((name) => /offset/i.test(name)),
    ['consumerOffset.journal', 'consumerOffset.json', 'consumerOffset.json.bak'],
  );
});

test('restart: the lag counts only messages that are there (BR-11)', (t) => {
  const bench = new Bench();
  const client = bench.connect();
  client.createTopic('T', 4);
  client.ask(RequestCodes.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, Buffer.from('{"groupName":"G"}'));
  [100, 700, 1_200].forEach((offset, queueId) => {
    client.commit('G', 'T', queueId, offset);
  });
  for (let queueId = 0; queueId < 4; queueId++) {
    bench.ends.set(bench.key('T', queueId), 1_000);
    bench.begins.set(bench.key('T', queueId), 400);
  }
  const body = client.ask(RequestCodes.GET_CONSUME_STATS, { consumerGroup: 'G', topic: 'T' }).body.toString();
  const lags = [...body.matchAll(/"queueId":(\d).*?"brokerOffset":(\d+),"consumerOffset":(\d+)/g)].map(([, queueId, end, offset]) => [
    Number(queueId),
    Number(end) - Number(offset),
  ]);
  t.deepEqual(
    lags.sort(([a = 0], [b = 0]) => a - b),
    [
      [0, 600],
      [1, 300],
      [2, 0],
      [3, 600],
    ],
  );
  t.is(client.queryOffset('G', 'T', 0), 100, 'what was committed stays as it is');
});

test('restart: without topics.json, or with the one before, all queues of the store have their topics again (BR-04)', (t) => {
  for (const lost of ['all', 'the newest']) {
    const files = new MemoryFiles();
    made(files, 'Orders', 'Bills');
    const path = '/store/config/topics.json';
    if (lost === 'all') for (const name of [path, `${path}.bak`]) files.remove(name);
    else damage(files, path);
    const bench = new Bench({ files, ...queuesOf({ Orders: 5, Bills: 3, TBW102: 0 }) });
    for (const topic of ['Orders', 'Bills']) {
      const known = bench.topics.get(topic);
      t.deepEqual([known?.readQueueCount, known?.writeQueueCount, known?.perm], [2, 2, 6], `${topic}, lost: ${lost}`);
    }
    t.true(bench.logged.some(({ level }) => level === 'error'));
    t.deepEqual(bench.removed, []);
    // What was made again is in the file.
    const next = new Bench({ files });
    t.true(next.topics.has('Orders') && next.topics.has('Bills'));
  }
});

test('restart: a topic that is made anew has none of the messages that the log still holds of its former life (BR-12)', (t) => {
  const files = new MemoryFiles();
  const admin = made(files, 'Orders', 'Bills');
  admin.ask(RequestCodes.DELETE_TOPIC_IN_BROKER, { topic: 'Orders' });
  const bench = new Bench({ files, ...queuesOf({ Orders: 5, Bills: 3 }) });
  t.false(bench.topics.has('Orders'));
  t.deepEqual(bench.removed, [], 'nothing goes before it is asked for');
  bench.connect().createTopic('Orders', 2);
  t.deepEqual(bench.removed, [0, 1]);
  t.is(bench.ends.get(bench.key('Orders', 0)), 0);
  t.is(bench.ends.get(bench.key('Bills', 0)), 3);
});

test('restart: removed and made again in one go, dispatchers hear of the old queues first', (t) => {
  const bench = new Bench();
  const admin = bench.connect();
  admin.createTopic('T', 1);
  const old = bench.key('T', 0);
  const told: string[] = [];
  bench.added.length = 0;
  bench.added.push = (...entries) => {
    for (const { key } of entries) told.push(`added ${key}`);
    return 0;
  };
  bench.removed.push = (...keys) => {
    for (const key of keys) told.push(`removed ${key}`);
    return 0;
  };
  admin.send(RequestCodes.DELETE_TOPIC_IN_BROKER, { topic: 'T' });
  admin.createTopic('T', 1);
  t.deepEqual(told, [`removed ${old}`, `added ${bench.key('T', 0)}`]);
});

test('restart: offsets beyond the end of a log that lost its last messages come back to the end, and stay there', (t) => {
  const files = new MemoryFiles();
  made(files, 'T', 'U');
  const first = new Bench({ files });
  const client = first.connect();
  client.commit('G', 'T', 0, 50);
  client.commit('G', 'T', 1, 30);
  client.commit('G', 'T', 99, 5);
  first.coordinator.stop();
  const found = queuesOf({ T: 40, U: 2 });
  t.is(new Bench({ files, ...found }).connect().queryOffset('G', 'T', 0), 50, 'a clean stop loses nothing');
  const bench = new Bench({ files, ...found, abnormal: true });
  t.true(bench.logged.some(({ level, message, fields }) => level === 'warn' && /beyond the end/.test(message) && fields['count'] === 1));
  // On disk before anything else is stored: ten messages later 50 would look right.
  const next = new Bench({ files, ...queuesOf({ T: 60, U: 2 }) }).connect();
  t.is(next.queryOffset('G', 'T', 0), 40);
  t.is(next.queryOffset('G', 'T', 1), 30);
  t.is(next.queryOffset('G', 'T', 99), 5, 'queues that nobody knows are left alone');
});

test('restart: messages without any committed offset are told', (t) => {
  const files = new MemoryFiles();
  made(files, 'T').beat('a', [{ group: 'G', subscriptions: [subscription('T')] }]);
  const warns = (bench: Bench): boolean => bench.logged.some(({ message }) => message.includes('no committed offsets'));
  t.true(warns(new Bench({ files, ...queuesOf({ T: 3 }) })));
  t.false(warns(new Bench({ files, ...queuesOf({ T: 0 }) })));
});
