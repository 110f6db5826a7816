// Checks what brokers bring about: registering, leaving, dying, changing names, addresses and ids.
import test from 'ava';
import { encodeCompressedRegistration } from '../../src/protocol/bodies/register-broker.ts';
import { FakeBroker, startServer } from './test-server.ts';

test('registration: topics have a route until the broker leaves', async (t) => {
  const ns = await startServer(t);
  const broker = new FakeBroker(ns);
  t.is(broker.register().code, 0);
  t.deepEqual(ns.route('T1'), {
    queueDatas: [{ brokerName: 'broker-a', readQueueNums: 4, writeQueueNums: 4, perm: 6, topicSysFlag: 0 }],
    brokerDatas: [
      { brokerName: 'broker-a', cluster: 'DefaultCluster', brokerAddrs: new Map([[0, broker.address]]), enableActingMaster: false },
    ],
    filterServerTable: new Map(),
  });
  t.is(broker.call(104).code, 0);
  t.is(ns.route('T1'), undefined);
  t.is(ns.call(106).body.toString(), '{"brokerAddrTable":{},"clusterAddrTable":{}}');
  t.false(broker.client.isClosed);
});

test('registration: a closed connection takes the routes with it at once', async (t) => {
  const ns = await startServer(t);
  const broker = new FakeBroker(ns);
  broker.register();
  broker.client.close();
  t.is(ns.route('T1'), undefined);
  t.is(ns.server.counts.lostBrokers, 1);
});

test('registration: the end of an old connection does not hurt a broker that is back on a new one', async (t) => {
  const ns = await startServer(t);
  const before = new FakeBroker(ns);
  before.register();
  const after = new FakeBroker(ns);
  after.register();
  before.client.close();
  t.not(ns.route('T1'), undefined);
  after.client.close();
  t.is(ns.route('T1'), undefined);
});

test('registration: a version query over another connection moves the life there', async (t) => {
  const ns = await startServer(t);
  const broker = new FakeBroker(ns);
  broker.register();
  const other = new FakeBroker(ns);
  t.is(other.call(322, other.identity(), { body: '{"counter":1,"stateVersion":0,"timestamp":1700000000000}' }).ext['changed'], 'false');
  broker.client.close();
  t.not(ns.route('T1'), undefined);
});

test('registration: a silent broker expires after 120 s, and its connection is closed', async (t) => {
  const ns = await startServer(t, { settings: { serverChannelMaxIdleTimeSeconds: 100_000 } });
  const broker = new FakeBroker(ns);
  broker.register();
  ns.advance(120_000);
  t.not(ns.route('T1'), undefined);
  ns.advance(5000);
  t.is(ns.route('T1'), undefined);
  t.true(broker.client.isClosed);
});

test('registration: heartbeats and version queries count as life, whatever the wall clock does', async (t) => {
  const ns = await startServer(t, { settings: { serverChannelMaxIdleTimeSeconds: 100_000 } });
  const broker = new FakeBroker(ns);
  broker.register();
  ns.advance(100_000);
  t.is(broker.call(904, { clusterName: broker.cluster, brokerAddr: broker.address, brokerName: broker.name }).code, 0);
  ns.clock.stepWall(25 * 365 * 86_400_000);
  ns.advance(100_000);
  t.not(ns.route('T1'), undefined);
  broker.call(322, broker.identity(), { body: '{"counter":1,"stateVersion":0,"timestamp":1700000000000}' });
  ns.clock.stepWall(-50 * 365 * 86_400_000);
  ns.advance(115_000);
  t.not(ns.route('T1'), undefined);
  ns.advance(10_000);
  t.is(ns.route('T1'), undefined);
});

test('registration: a broker may name a shorter time', async (t) => {
  const ns = await startServer(t);
  const broker = new FakeBroker(ns, { ext: { heartbeatTimeoutMillis: 10_000 } });
  broker.register();
  ns.advance(10_000);
  t.not(ns.route('T1'), undefined);
  ns.advance(5000);
  t.is(ns.route('T1'), undefined);
});

test('registration: a newer version changes rows, the same does not', async (t) => {
  const ns = await startServer(t);
  const broker = new FakeBroker(ns);
  broker.register(1);
  broker.queues = 7;
  broker.register(1);
  t.is(ns.route('T1')?.queueDatas[0]?.readQueueNums, 4);
  broker.register(2);
  t.is(ns.route('T1')?.queueDatas[0]?.readQueueNums, 7);
});

test('registration: versions differ, they are not compared by time', async (t) => {
  const ns = await startServer(t);
  const broker = new FakeBroker(ns);
  broker.register(9);
  broker.queues = 2;
  broker.register(3);
  t.is(ns.route('T1')?.queueDatas[0]?.readQueueNums, 2);
});

test('registration: a missing row is added though the version is the same', async (t) => {
  const ns = await startServer(t);
  const broker = new FakeBroker(ns);
  broker.register(1);
  ns.call(216, { topic: 'T1' });
  t.is(ns.route('T1'), undefined);
  broker.register(1);
  t.not(ns.route('T1'), undefined);
});

test('registration: one topic may be added, but not come first', async (t) => {
  const ns = await startServer(t);
  const broker = new FakeBroker(ns, { topics: ['T9'] });
  const refused = broker.register(1);
  t.is(refused.code, 1);
  t.is(refused.remark, 'register broker failed');
  t.is(ns.call(106).body.toString(), '{"brokerAddrTable":{},"clusterAddrTable":{}}');
  broker.topics = ['T1', 'T2'];
  t.is(broker.register(1).code, 0);
  broker.topics = ['T9'];
  t.is(broker.register(2).code, 0);
  t.not(ns.route('T1'), undefined);
  t.not(ns.route('T9'), undefined);
});

test('registration: topics left out stay, unless the setting says otherwise', async (t) => {
  for (const deleteTopicWithBrokerRegistration of [false, true]) {
    const ns = await startServer(t, { settings: { deleteTopicWithBrokerRegistration } });
    const broker = new FakeBroker(ns, { topics: ['T1', 'T2', 'T3'] });
    broker.register(1);
    broker.topics = ['T1', 'T2'];
    broker.register(2);
    t.is(ns.route('T3') === undefined, deleteTopicWithBrokerRegistration);
    t.not(ns.route('T2'), undefined);
  }
});

test('registration: a broker renamed while running leaves no ghost', async (t) => {
  const ns = await startServer(t);
  const broker = new FakeBroker(ns);
  broker.register();
  broker.name = 'broker-b';
  broker.register();
  t.deepEqual(
    ns.route('T1')?.queueDatas.map((row) => row.brokerName),
    ['broker-b'],
  );
});

test('registration: a broker at a new address replaces its old one', async (t) => {
  const ns = await startServer(t);
  const before = new FakeBroker(ns);
  before.register();
  const after = new FakeBroker(ns, { address: '127.0.0.1:20911' });
  t.is(after.register().code, 0);
  t.deepEqual(ns.route('T1')?.brokerDatas[0]?.brokerAddrs, new Map([[0, '127.0.0.1:20911']]));
  before.client.close();
  t.not(ns.route('T1'), undefined);
});

test('registration: an older state version does not take over an address, and is told nothing', async (t) => {
  const ns = await startServer(t);
  new FakeBroker(ns).register(1, 5);
  const old = new FakeBroker(ns, { address: '127.0.0.1:20911' });
  t.is(old.register(1, 4).code, 0);
  t.deepEqual(ns.route('T1')?.brokerDatas[0]?.brokerAddrs, new Map([[0, '127.0.0.1:10911']]));
  t.is(new FakeBroker(ns, { address: '127.0.0.1:30911' }).register(1, 5).code, 0);
  t.deepEqual(ns.route('T1')?.brokerDatas[0]?.brokerAddrs, new Map([[0, '127.0.0.1:30911']]));
});

test('registration: a slave learns its master, and becomes master under the same address', async (t) => {
  const ns = await startServer(t);
  const master = new FakeBroker(ns);
  const slave = new FakeBroker(ns, { id: 1, address: '127.0.0.1:20911', topics: ['T1', 'S1'] });
  t.deepEqual(slave.register().ext, {});
  t.deepEqual(master.register().ext, {});
  t.deepEqual(slave.register().ext, { haServerAddr: '127.0.0.1:10912', masterAddr: '127.0.0.1:10911' });
  t.is(ns.route('S1'), undefined);
  t.is(
    ns.call(901, { clusterName: 'DefaultCluster', brokerName: 'broker-a' }).body.toString(),
    '{"brokerMemberGroup":{"brokerAddrs":{1:"127.0.0.1:20911",0:"127.0.0.1:10911"},"brokerName":"broker-a","cluster":"DefaultCluster"}}',
  );
  master.client.close();
  t.deepEqual(ns.route('T1')?.brokerDatas[0]?.brokerAddrs, new Map([[1, '127.0.0.1:20911']]));
  const promoted = new FakeBroker(ns, { id: 0, address: '127.0.0.1:20911', topics: ['T1', 'S1'] });
  promoted.register();
  t.deepEqual(ns.route('S1')?.brokerDatas[0]?.brokerAddrs, new Map([[0, '127.0.0.1:20911']]));
});

test('registration: with an acting master the lowest slave stands in, read only', async (t) => {
  const ns = await startServer(t, { settings: { supportActingMaster: true } });
  const ext = { enableActingMaster: true };
  const master = new FakeBroker(ns, { ext });
  const two = new FakeBroker(ns, { id: 2, address: '127.0.0.1:30911', ext });
  const one = new FakeBroker(ns, { id: 1, address: '127.0.0.1:20911', ext });
  for (const broker of [master, two, one]) broker.register();
  t.is(ns.route('T1')?.queueDatas[0]?.perm, 6);
  master.client.close();
  const route = ns.route('T1');
  t.is(route?.queueDatas[0]?.perm, 4);
  t.deepEqual(
    route?.brokerDatas[0]?.brokerAddrs,
    new Map([
      [0, '127.0.0.1:20911'],
      [2, '127.0.0.1:30911'],
    ]),
  );
  const back = new FakeBroker(ns, { ext });
  back.register();
  t.is(ns.route('T1')?.queueDatas[0]?.perm, 6);
  t.is(ns.route('T1')?.brokerDatas[0]?.brokerAddrs.get(1), '127.0.0.1:20911');
});

test('registration: a lone slave of the newer kind offers its topics read only', async (t) => {
  const ns = await startServer(t);
  new FakeBroker(ns, { id: 1, ext: { enableActingMaster: true } }).register();
  t.is(ns.route('T1')?.queueDatas[0]?.perm, 4);
  t.deepEqual([...(ns.route('T1')?.brokerDatas[0]?.brokerAddrs.keys() ?? [])], [1]);
});

test('registration: a wrong checksum, a wrong body and wrong fields are refused', async (t) => {
  const ns = await startServer(t);
  const broker = new FakeBroker(ns);
  broker.crcError = 1;
  const reply = broker.register();
  t.is(reply.code, 1);
  t.is(reply.remark, 'crc32 not match');
  const bodies = ['', 'not json', '[]', '{}', '{"topicConfigSerializeWrapper":3}'];
  for (const body of bodies) t.is(broker.call(103, broker.identity(), { body }).code, 1, body);
  for (const name of ['brokerName', 'brokerAddr', 'clusterName', 'brokerId']) {
    const ext = { ...broker.identity() };
    delete ext[name];
    t.is(broker.call(103, ext, { body: '{"topicConfigSerializeWrapper":{}}' }).code, 1, name);
  }
  t.is(broker.call(103, { ...broker.identity(), brokerId: 'one' }, { body: '{"topicConfigSerializeWrapper":{}}' }).code, 1);
  t.is(broker.call(103, { ...broker.identity(), compressed: true }, { body: 'no zlib' }).code, 1);
  t.is(ns.call(106).body.toString(), '{"brokerAddrTable":{},"clusterAddrTable":{}}');
});

test('registration: the compressed form and the bare one of old brokers are read', async (t) => {
  const ns = await startServer(t);
  const broker = new FakeBroker(ns);
  const topic = { topicFilterType: 'SINGLE_TAG', topicSysFlag: 0, order: false, readQueueNums: 3, writeQueueNums: 2, perm: 6 };
  const body = encodeCompressedRegistration({
    dataVersion: { stateVersion: 0, timestamp: 1, counter: 1 },
    topics: [
      { ...topic, topicName: 'C1', attributes: { 'message.type': 'FIFO' } },
      { ...topic, topicName: 'C2', attributes: {} },
    ],
    filterServers: ['127.0.0.1:9'],
    queueMappings: new Map([['C2', { topic: 'C2', bname: 'broker-a' }]]),
  });
  t.is(broker.call(103, { ...broker.identity(), compressed: true }, { body, version: 513 }).code, 0);
  const route = ns.route('C2');
  t.is(route?.queueDatas[0]?.writeQueueNums, 2);
  t.deepEqual(route?.filterServerTable, new Map([['127.0.0.1:10911', ['127.0.0.1:9']]]));
  t.deepEqual([...(route?.topicQueueMappingByBroker?.keys() ?? [])], ['broker-a']);
  const bare = '{"dataVersion":{"counter":2},"topicConfigTable":{"B1":{"topicName":"B1"},"B2":{"topicName":"B2"}}}';
  t.is(broker.call(103, broker.identity(), { body: bare, version: 36 }).code, 0);
  t.is(ns.route('B1')?.queueDatas[0]?.readQueueNums, 16);
  t.deepEqual(ns.route('C2')?.filterServerTable, new Map());
});

test('registration: order configurations come back with it', async (t) => {
  const ns = await startServer(t);
  t.is(new FakeBroker(ns).register().body.length, 0);
  ns.call(100, { namespace: 'ORDER_TOPIC_CONFIG', key: 'T1', value: 'broker-a:4' });
  t.is(new FakeBroker(ns).register().body.toString(), '{"table":{"T1":"broker-a:4"}}');
  const quiet = await startServer(t, { settings: { returnOrderTopicConfigToBroker: false } });
  quiet.call(100, { namespace: 'ORDER_TOPIC_CONFIG', key: 'T1', value: 'broker-a:4' });
  t.is(new FakeBroker(quiet).register().body.length, 0);
});

test('registration: a broker learns whether its version is news', async (t) => {
  const ns = await startServer(t);
  const broker = new FakeBroker(ns);
  const ask = (counter: number) =>
    broker.call(322, broker.identity(), { body: `{"counter":${counter},"stateVersion":0,"timestamp":1700000000000}` });
  t.deepEqual([ask(1).ext['changed'], ask(1).body.length], ['true', 0]);
  broker.register(1);
  t.is(ask(1).ext['changed'], 'false');
  const news = ask(2);
  t.is(news.ext['changed'], 'true');
  t.is(news.body.toString(), '{"counter":1,"stateVersion":0,"timestamp":1700000000000}');
  t.is(broker.call(322, broker.identity(), { body: 'x{' }).code, 1);
});
