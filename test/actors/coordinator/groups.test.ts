// Consumer groups as tools make, change, list and remove them.
import test from 'ava';
import { RequestCodes } from '../../../src/protocol/codes.ts';
import { MemoryFiles } from '../../../src/store/files/memory-files.ts';
import { Bench } from './bench.ts';
import { subscription } from './client.ts';

const put = (name: string, more = ''): Buffer => Buffer.from(`{"groupName":"${name}"${more}}`);

test('groups: 200 makes group and retry topic, tells ingress, and is durable', (t) => {
  const files = new MemoryFiles();
  const bench = new Bench({ files });
  const admin = bench.connect();
  t.is(admin.ask(RequestCodes.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, put('G', ',"consumeEnable":false,"retryQueueNums":2')).code, 0);
  t.deepEqual(bench.groups.get('G'), {
    consumeEnable: false,
    consumeBroadcastEnable: true,
    sysFlag: 0,
    retryMaxTimes: 16,
    retryQueueCount: 2,
    brokerId: 0,
    slowBrokerId: 1,
    forbiddenTopics: [],
    lockedTopics: [],
    live: null,
    resets: null,
  });
  t.is(bench.topics.get('%RETRY%G')?.readQueueCount, 2);
  const again = new Bench({ files });
  t.false(again.groups.get('G')?.consumeEnable);
  t.true(again.groups.has('CID_RMQ_SYS_TRANS'));
});

test('groups: another count of retry queues reaches the retry topic, and no queue with messages goes unread (BR-37)', (t) => {
  const bench = new Bench();
  const admin = bench.connect();
  const queues = (): unknown => {
    const topic = bench.topics.get('%RETRY%G');
    return [topic?.readQueueCount, topic?.writeQueueCount, topic?.keys.length];
  };
  const set = (count: number): number =>
    admin.ask(RequestCodes.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, put('G', `,"retryQueueNums":${count}`)).code;
  set(1);
  t.deepEqual(queues(), [1, 1, 1]);
  set(3);
  t.deepEqual(queues(), [3, 3, 3]);
  set(2);
  t.deepEqual(queues(), [3, 2, 3]);
  t.is(set(5000), 1, 'more than maxQueueCount');
  t.is((admin.json(RequestCodes.GET_SUBSCRIPTIONGROUP_CONFIG, { group: 'G' }) as { retryQueueNums: number }).retryQueueNums, 2);
});

test('groups: bodies that make no group are refused', (t) => {
  const bench = new Bench();
  const admin = bench.connect();
  const code = (body: string): number => admin.ask(RequestCodes.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, Buffer.from(body)).code;
  t.deepEqual([code(''), code('oops'), code('{}'), code('{"groupName":"a b"}')], [1, 1, 1, 29]);
  t.is(code('{"groupName":"G","attributes":{"+a":"b"}}'), 29);
  t.false(bench.groups.has('G'));
});

test('groups: 225 makes several or, with a wrong name among them, none', (t) => {
  const bench = new Bench();
  const admin = bench.connect();
  const list = (...names: string[]): Buffer => Buffer.from(JSON.stringify({ groupConfigList: names.map((groupName) => ({ groupName })) }));
  t.is(admin.ask(RequestCodes.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST, {}, list('A', 'b b')).code, 29);
  t.false(bench.groups.has('A'));
  t.is(admin.ask(RequestCodes.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST, {}, list('A', 'B')).code, 0);
  t.true(bench.groups.has('A') && bench.groups.has('B'));
});

test('groups: 352 makes a missing group as stock brokers do, unless that is switched off', (t) => {
  const bench = new Bench();
  const config = bench.connect().json(RequestCodes.GET_SUBSCRIPTIONGROUP_CONFIG, { group: 'NEW' }) as { retryMaxTimes: number };
  t.is(config.retryMaxTimes, 16);
  const closed = new Bench({ sets: ['autoCreateSubscriptionGroup=false'] });
  t.is(closed.connect().ask(RequestCodes.GET_SUBSCRIPTIONGROUP_CONFIG, { group: 'NEW' }).code, 26);
});

test('groups: 207 removes the group, and its offsets only when asked, under either name', (t) => {
  const bench = new Bench();
  const admin = bench.connect();
  admin.createTopic('T', 1);
  for (const [group, field, kept] of [
    ['A', {}, 7],
    ['B', { cleanOffset: 'true' }, -1],
    ['C', { removeOffset: 'true' }, -1],
  ] as const) {
    admin.ask(RequestCodes.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, put(group));
    admin.commit(group, 'T', 0, 7);
    bench.ends.set(bench.key('T', 0), 9);
    bench.begins.set(bench.key('T', 0), 1);
    t.is(admin.ask(RequestCodes.DELETE_SUBSCRIPTIONGROUP, { groupName: group, ...field }).code, 0);
    t.false(bench.groups.has(group));
    t.is(admin.queryOffset(group, 'T', 0), kept);
  }
  t.is(admin.ask(RequestCodes.DELETE_SUBSCRIPTIONGROUP, { groupName: 'NEVER' }).code, 0);
  t.is(admin.ask(RequestCodes.DELETE_SUBSCRIPTIONGROUP).code, 1);
});

test('groups: 353 forbids one topic, allows it again, and leaves the others alone', (t) => {
  const files = new MemoryFiles();
  const bench = new Bench({ files });
  const admin = bench.connect();
  admin.ask(RequestCodes.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, put('G'));
  const forbid = (topic: string, readable?: string): unknown =>
    admin.json(RequestCodes.UPDATE_AND_GET_GROUP_FORBIDDEN, { group: 'G', topic, ...(readable === undefined ? {} : { readable }) });
  t.deepEqual(forbid('T', 'false'), { group: 'G', readable: false, topic: 'T' });
  forbid('U', 'false');
  t.deepEqual(bench.groups.get('G')?.forbiddenTopics, ['T', 'U']);
  t.deepEqual(new Bench({ files }).groups.get('G')?.forbiddenTopics, ['T', 'U']);
  t.deepEqual(forbid('T', 'true'), { group: 'G', readable: true, topic: 'T' });
  t.deepEqual(bench.groups.get('G')?.forbiddenTopics, ['U']);
  t.deepEqual(forbid('U'), { group: 'G', readable: false, topic: 'U' }, 'only asked');
});

test('groups: who reads what', (t) => {
  const bench = new Bench();
  const admin = bench.connect();
  admin.createTopic('T', 1);
  admin.ask(RequestCodes.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, put('OFFLINE'));
  admin.commit('OFFLINE', 'T', 0, 1);
  const a = bench.connect();
  a.beat('a', [{ group: 'G', subscriptions: [subscription('T', 'A', '1700000000000000001')] }], ['P']);
  t.deepEqual(admin.json(RequestCodes.QUERY_TOPIC_CONSUME_BY_WHO, { topic: 'T' }), { groupList: ['G', 'OFFLINE'] });
  t.deepEqual(admin.json(RequestCodes.QUERY_TOPICS_BY_CONSUMER, { group: 'G' }), { brokerAddr: '127.0.0.1:10911', topicList: ['T'] });
  const text = admin.ask(RequestCodes.QUERY_SUBSCRIPTION_BY_CONSUMER, { group: 'G', topic: 'T' }).body.toString();
  t.true(text.includes('"subVersion":1700000000000000001,'), 'digits are kept');
  t.deepEqual(admin.json(RequestCodes.QUERY_SUBSCRIPTION_BY_CONSUMER, { group: 'G', topic: 'U' }), { group: 'G', topic: 'U' });
  const list = admin.json(RequestCodes.GET_CONSUMER_CONNECTION_LIST, { consumerGroup: 'G' }) as {
    connectionSet: unknown;
    consumeType: string;
  };
  t.deepEqual(list.connectionSet, [{ clientAddr: '127.0.0.1:40002', clientId: 'a', language: 'JAVA', version: 477 }]);
  t.is(list.consumeType, 'CONSUME_PASSIVELY');
  t.is(admin.ask(RequestCodes.GET_CONSUMER_CONNECTION_LIST, { consumerGroup: 'OFFLINE' }).code, 206);
  t.is(admin.ask(RequestCodes.GET_PRODUCER_CONNECTION_LIST, { producerGroup: 'NONE' }).code, 1);
  const producers = admin.json(RequestCodes.GET_ALL_PRODUCER_INFO) as { data: Record<string, { remoteIP: string }[]> };
  t.is(producers.data['P']?.[0]?.remoteIP, '/127.0.0.1:40002');
});

test('groups: settings and figures of the broker', (t) => {
  const bench = new Bench();
  const admin = bench.connect();
  const config = admin.ask(RequestCodes.GET_BROKER_CONFIG);
  t.true(config.body.toString().includes('\nbrokerName=broker-a\n'));
  t.regex(config.ext['version'] ?? '', /^\{"counter":0,/);
  const info = admin.json(RequestCodes.GET_BROKER_RUNTIME_INFO) as { table: Record<string, string> };
  t.is(info.table['brokerActive'], 'true');
  t.is(info.table['bootTimestamp'], String(bench.clock.wallMs()));
});
