// Checks the answers to clients and tools: key-values, routes, lists, permissions, own settings.
import test from 'ava';
import { nameServerCodes } from '../../src/nameserver/handlers/dispatch.ts';
import { MemoryTextStore, type TextStore } from '../../src/nameserver/text-store.ts';
import { decodeKvTable } from '../../src/protocol/bodies/kv-table.ts';
import { decodeTopicList } from '../../src/protocol/bodies/topic-list.ts';
import { FakeBroker, type Reply, startServer, type TestServer } from './test-server.ts';

function topics(reply: Reply): string[] {
  const decoded = decodeTopicList(reply.body);
  if (!decoded.ok) throw new Error(decoded.fault);
  return [...decoded.value.topicList].sort();
}

function table(reply: Reply): Record<string, string> {
  const decoded = decodeKvTable(reply.body);
  if (!decoded.ok) throw new Error(decoded.fault);
  return Object.fromEntries(decoded.value);
}

function put(ns: TestServer, namespace: string, key: string, value: string): number {
  return ns.call(100, { namespace, key, value }).code;
}

test('requests: key-values are put, overwritten, listed and deleted by namespace', async (t) => {
  const ns = await startServer(t);
  for (const [namespace, key, value] of [
    ['N1', 'a', '1'],
    ['N1', 'b', '2'],
    ['N1', 'a', '3'],
    ['N2', 'a', '4:x;ü'],
  ] as const) {
    t.is(put(ns, namespace, key, value), 0);
  }
  t.is(ns.call(101, { namespace: 'N1', key: 'a' }).ext['value'], '3');
  t.is(ns.call(101, { namespace: 'N2', key: 'a' }).ext['value'], '4:x;ü');
  t.deepEqual(table(ns.call(219, { namespace: 'N1' })), { a: '3', b: '2' });
  t.is(ns.call(102, { namespace: 'N1', key: 'a' }).code, 0);
  t.deepEqual(table(ns.call(219, { namespace: 'N1' })), { b: '2' });
  ns.call(102, { namespace: 'N1', key: 'b' });
  t.is(ns.call(219, { namespace: 'N1' }).code, 22);
  t.is(ns.call(101, { namespace: 'N1', key: 'b' }).code, 22);
  t.is(ns.call(102, { namespace: 'N9', key: 'b' }).code, 0);
});

test('requests: an empty value is a value, and __proto__ a name', async (t) => {
  const ns = await startServer(t);
  t.is(put(ns, '__proto__', '__proto__', ''), 0);
  t.is(ns.call(101, { namespace: '__proto__', key: '__proto__' }).code, 0);
  t.is(ns.call(101, { namespace: 'toString', key: 'x' }).code, 22);
});

test('requests: key-values outlive the server', async (t) => {
  const kvStore = new MemoryTextStore();
  const first = await startServer(t, { kvStore });
  put(first, 'N1', 'a', 'x"y\\z\n');
  put(first, 'N2', '7', 'number key');
  await first.server.stop();
  const second = await startServer(t, { kvStore });
  t.is(second.call(101, { namespace: 'N1', key: 'a' }).ext['value'], 'x"y\\z\n');
  t.is(second.call(101, { namespace: 'N2', key: '7' }).ext['value'], 'number key');
});

test("requests: key-values as Apache's name server saved them are read", async (t) => {
  const kvStore = new MemoryTextStore();
  kvStore.save('{"configTable":{"ORDER_TOPIC_CONFIG":{"T1":"broker-a:8"}}}');
  const ns = await startServer(t, { kvStore });
  t.is(ns.call(101, { namespace: 'ORDER_TOPIC_CONFIG', key: 'T1' }).ext['value'], 'broker-a:8');
});

test('requests: a key-value that cannot be saved is refused and forgotten', async (t) => {
  const kvStore: TextStore = {
    load: () => null,
    save: () => {
      throw new Error('disk full');
    },
  };
  const ns = await startServer(t, { kvStore });
  const reply = ns.call(100, { namespace: 'N', key: 'k', value: 'v' });
  t.is(reply.code, 1);
  t.regex(reply.remark ?? '', /disk full/);
  t.is(ns.call(101, { namespace: 'N', key: 'k' }).code, 22);
});

test('requests: required fields that are absent or senseless give an error code, not silence', async (t) => {
  const ns = await startServer(t);
  const noFields = new Set([106, 206, 304, 311, 312, 313, 319]);
  for (const code of nameServerCodes) {
    const reply = ns.call(code);
    t.is(reply.code, noFields.has(code) ? 0 : code === 105 ? 17 : 1, String(code));
    if (reply.code !== 0) t.truthy(reply.remark, String(code));
  }
  t.is(ns.call(101, { namespace: 'n' }).code, 1);
  t.is(ns.call(100, { namespace: 'n', key: 'k' }).code, 1);
  t.is(ns.call(104, { brokerName: 'b', brokerAddr: 'a', clusterName: 'c', brokerId: 'x' }).code, 1);
});

test('requests: routes come in strict JSON to those who read it, else with bare ids', async (t) => {
  const ns = await startServer(t);
  new FakeBroker(ns).register();
  const body = (version: number, ext = {}) => ns.call(105, { topic: 'T1', ...ext }, { version }).body.toString();
  const strict =
    '{"brokerDatas":[{"brokerAddrs":{"0":"127.0.0.1:10911"},"brokerName":"broker-a","cluster":"DefaultCluster","enableActingMaster":false}],' +
    '"filterServerTable":{},"queueDatas":[{"brokerName":"broker-a","perm":6,"readQueueNums":4,"topicSysFlag":0,"writeQueueNums":4}]}';
  t.is(body(401), strict);
  t.is(body(0, { acceptStandardJsonOnly: true }), strict);
  t.is(body(400), strict.replace('"0":', '0:'));
  t.is(body(0, { acceptStandardJsonOnly: false }), strict.replace('"0":', '0:'));
});

test('requests: an order configuration is shown where the setting says so', async (t) => {
  const ns = await startServer(t, { settings: { orderMessageEnable: true } });
  new FakeBroker(ns).register();
  put(ns, 'ORDER_TOPIC_CONFIG', 'T1', 'broker-a:4');
  t.is(ns.route('T1')?.orderTopicConf, 'broker-a:4');
  t.is(ns.route('T2')?.orderTopicConf, undefined);
  ns.call(318, {}, { body: 'orderMessageEnable=false\n' });
  t.is(ns.route('T1')?.orderTopicConf, undefined);
});

test('requests: a zone sees its own brokers, and those without a master', async (t) => {
  const ns = await startServer(t);
  new FakeBroker(ns, { name: 'a', address: 'h:1', ext: { __ZONE_NAME: 'East' } }).register();
  new FakeBroker(ns, { name: 'b', address: 'h:2', ext: { __ZONE_NAME: 'west' } }).register();
  new FakeBroker(ns, { name: 'c', address: 'h:3', id: 1, ext: { enableActingMaster: true } }).register();
  const names = (ext = {}) => ns.route('T1', ext)?.brokerDatas.map((data) => data.brokerName);
  t.deepEqual(names(), ['a', 'b', 'c']);
  t.deepEqual(names({ __ZONE_MODE: 'true', __ZONE_NAME: 'EAST' }), ['a', 'c']);
  t.deepEqual(names({ __ZONE_MODE: 'false', __ZONE_NAME: 'EAST' }), ['a', 'b', 'c']);
  t.deepEqual(names({ __ZONE_MODE: 'true', __ZONE_NAME: ' ' }), ['a', 'b', 'c']);
});

test('requests: write permission is wiped and added by broker name', async (t) => {
  const ns = await startServer(t);
  const broker = new FakeBroker(ns, { topics: ['T1', 'T2', 'T3'] });
  broker.perm = 7;
  broker.register();
  t.is(ns.call(205, { brokerName: 'broker-a' }).ext['wipeTopicCount'], '3');
  t.is(ns.route('T1')?.queueDatas[0]?.perm, 5);
  t.is(ns.call(327, { brokerName: 'broker-a' }).ext['addTopicCount'], '3');
  t.is(ns.route('T1')?.queueDatas[0]?.perm, 6);
  t.is(ns.call(205, { brokerName: 'nobody' }).ext['wipeTopicCount'], '0');
});

test('requests: a topic deleted in one cluster keeps its route in another', async (t) => {
  const ns = await startServer(t);
  new FakeBroker(ns, { name: 'a', cluster: 'C1', address: 'h:1' }).register();
  new FakeBroker(ns, { name: 'b', cluster: 'C2', address: 'h:2' }).register();
  const names = () => ns.route('T1')?.queueDatas.map((row) => row.brokerName);
  t.deepEqual(names(), ['a', 'b']);
  t.is(ns.call(216, { topic: 'T1', clusterName: 'C9' }).code, 0);
  t.is(ns.call(216, { topic: 'T1', clusterName: 'C1' }).code, 0);
  t.deepEqual(names(), ['b']);
  t.deepEqual(topics(ns.call(224, { cluster: 'C1' })), ['T2']);
  t.deepEqual(topics(ns.call(224, { cluster: 'C2' })), ['T1', 'T2']);
  ns.call(216, { topic: 'T1' });
  t.is(names(), undefined);
  t.deepEqual(topics(ns.call(224, { cluster: 'C9' })), []);
});

test('requests: a broker of two that leaves takes its rows only', async (t) => {
  const ns = await startServer(t);
  const one = new FakeBroker(ns, { name: 'a', address: 'h:1' });
  one.register();
  new FakeBroker(ns, { name: 'b', address: 'h:2', topics: ['T2', 'T3'] }).register();
  one.call(104);
  t.is(ns.route('T1'), undefined);
  t.deepEqual(
    ns.route('T2')?.queueDatas.map((row) => row.brokerName),
    ['b'],
  );
  t.deepEqual(topics(ns.call(206)), ['T2', 'T3']);
});

test('requests: rows can be put by hand, for known brokers', async (t) => {
  const ns = await startServer(t);
  new FakeBroker(ns).register();
  const row = (brokerName: string) => ({ brokerName, readQueueNums: 2, writeQueueNums: 3, perm: 6, topicSysFlag: 0 });
  t.is(ns.call(217, { topic: 'H' }, { body: JSON.stringify({ queueDatas: [row('broker-a'), row('ghost')] }) }).code, 0);
  t.deepEqual(ns.route('H')?.queueDatas, [row('broker-a')]);
  t.is(ns.call(217, { topic: 'H' }, { body: '{' }).code, 1);
});

test('requests: lists by kind', async (t) => {
  const ns = await startServer(t);
  new FakeBroker(ns).register();
  const unit = [
    { topicName: 'U', topicSysFlag: 1 },
    { topicName: 'US', topicSysFlag: 3 },
    { topicName: 'S', topicSysFlag: 2 },
  ];
  const wrapper = { dataVersion: { counter: 2 }, topicConfigTable: Object.fromEntries(unit.map((topic) => [topic.topicName, topic])) };
  new FakeBroker(ns).call(103, undefined, { body: JSON.stringify({ topicConfigSerializeWrapper: wrapper }) });
  t.deepEqual(topics(ns.call(311)), ['U', 'US']);
  t.deepEqual(topics(ns.call(312)), ['S', 'US']);
  t.deepEqual(topics(ns.call(313)), ['S']);
  t.deepEqual(topics(ns.call(206)), ['S', 'T1', 'T2', 'U', 'US']);
  t.is(ns.call(304).body.toString(), '{"brokerAddr":"127.0.0.1:10911","topicList":["DefaultCluster","broker-a"]}');
});

test('requests: lists can be switched off', async (t) => {
  const ns = await startServer(t, { settings: { enableAllTopicList: false, enableTopicList: false } });
  for (const code of [206, 311, 312, 313]) t.is(ns.call(code).remark, 'disable');
  t.is(ns.call(224, { cluster: 'C' }).remark, 'disable');
});

test('requests: own settings are shown, and those of paths cannot be changed', async (t) => {
  const ns = await startServer(t, { settings: { namesrvListenPort: 0, rocketmqHome: 'C:\\rmq' } });
  const lines = ns.call(319).body.toString().trim().split('\n');
  t.true(lines.includes('listenPort=40000'));
  t.true(lines.includes('rocketmqHome=C:\\\\rmq'));
  for (const name of ['rocketmqHome', 'kvConfigPath', 'configStorePath', 'orderMessageEnable', 'clusterTest']) {
    t.true(
      lines.some((line) => line.startsWith(`${name}=`)),
      name,
    );
  }
  for (const name of ['kvConfigPath', 'configStorePath', 'configBlackList']) {
    const reply = ns.call(318, {}, { body: `needWaitForService=true\n${name}=elsewhere\n` });
    t.is(reply.code, 16);
    t.is(reply.remark, 'Can not update config in black list.');
  }
  t.false(ns.server.settings.values.needWaitForService);
});

test('requests: own settings change at once, all or none, and outlive the server', async (t) => {
  const settingsStore = new MemoryTextStore();
  const ns = await startServer(t, { settingsStore });
  t.is(ns.call(318, {}, { body: 'supportActingMaster=true\r\nscanNotActiveBrokerInterval = 1000\nnoSuchName=1\n' }).code, 0);
  t.true(ns.server.settings.values.supportActingMaster);
  t.true(ns.call(319).body.toString().includes('scanNotActiveBrokerInterval=1000\n'));
  t.is(ns.call(318, {}, { body: 'orderMessageEnable=true\nenableTopicList=perhaps\n' }).code, 1);
  t.false(ns.server.settings.values.orderMessageEnable);
  t.is(ns.call(318, {}, { body: '' }).code, 1);
  const again = await startServer(t, { settingsStore });
  t.true(again.server.settings.values.supportActingMaster);
  t.is(again.server.deadlineMs(), 1000);
});
