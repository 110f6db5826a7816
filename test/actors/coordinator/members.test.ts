// Heartbeats, leaving, expiry and notices, seen through the wire.
import test from 'ava';
import { RequestCodes } from '../../../src/protocol/codes.ts';
import { FRAME_SIZE_MAX } from '../../../src/protocol/frame.ts';
import { CounterIds } from '../../../src/runtime/counters.ts';
import { Bench } from './bench.ts';
import { type Client, memberIds as members, subscription } from './client.ts';

const sub = { group: 'G', subscriptions: [subscription('T')] };

test('members: a heartbeat makes group, retry topic and member', (t) => {
  const bench = new Bench();
  const client = bench.connect();
  const answer = client.beat('a@1', [sub], ['P']);
  t.is(answer.code, 0);
  t.is(answer.header.version, 479);
  t.deepEqual(answer.ext, { IS_SUPPORT_HEART_BEAT_V2: 'true', IS_SUB_CHANGE: 'true' });
  t.deepEqual(members(client), ['a@1']);
  t.is(bench.topics.get('%RETRY%G')?.readQueueCount, 1);
  t.is(bench.topics.get('%RETRY%G')?.perm, 6);
  t.deepEqual(bench.groups.get('G')?.live, {
    broadcasting: false,
    subscriptions: [{ topic: 'T', type: 'TAG', expression: '*', codes: null, version: '1' }],
  });
  t.is(client.ask(RequestCodes.GET_PRODUCER_CONNECTION_LIST, { producerGroup: 'P' }).code, 0);
});

test('members: an unchanged heartbeat tells nobody anything', (t) => {
  const bench = new Bench();
  const client = bench.connect();
  client.beat('a@1', [sub]);
  bench.advance(1000);
  const changes = bench.groupChangeCount;
  const notices = client.notices.length;
  client.beat('a@1', [sub]);
  bench.advance(1000);
  t.is(bench.groupChangeCount, changes);
  t.is(client.notices.length, notices);
});

test('members: notices of one group within the time become one, to the millisecond', (t) => {
  const bench = new Bench({ sets: ['notifyCoalesceMs=200'] });
  const a = bench.connect();
  a.beat('a', [sub]);
  bench.advance(50);
  const b = bench.connect();
  b.beat('b', [sub]);
  bench.advance(149);
  t.deepEqual([a.notices, b.notices], [[], []]);
  t.is(bench.coordinator.deadlineMs(), 200);
  bench.advance(1);
  t.deepEqual([a.notices, b.notices], [['40 G'], ['40 G']]);
  b.close();
  bench.advance(199);
  t.is(a.notices.length, 1);
  bench.advance(1);
  t.is(a.notices.length, 2);
});

test('members: a broadcasting group and one that does not want notices get none', (t) => {
  const bench = new Bench();
  const a = bench.connect();
  const b = bench.connect();
  for (const client of [a, b]) client.beat(`c${client.connectionId}`, [{ ...sub, messageModel: 'BROADCASTING' }]);
  bench.advance(1000);
  t.deepEqual([a.notices, b.notices], [[], []]);
  t.true(bench.groups.get('G')?.live?.broadcasting);
});

test('members: 500 that join at once cause no more notices than a few each (BR-20)', (t) => {
  const bench = new Bench({ sets: ['notifyCoalesceMs=200'] });
  const clients = Array.from({ length: 500 }, () => bench.connect());
  clients.forEach((client, i) => {
    client.sendBeat(`c${i}`, [sub]);
    if (i % 10 === 9) bench.advance(20);
  });
  bench.advance(1000);
  const total = clients.reduce((sum, client) => sum + client.notices.length, 0);
  t.true(total >= 500, 'everyone was told at least once');
  t.true(total <= 500 * 6, `${total} notices for 500 members in 1 s`);
  t.is(members(clients[0] as Client).length, 500);
});

test('members: 35, a closed connection and silence each end membership', (t) => {
  const bench = new Bench({ sets: ['channelExpiredTimeout=120000'] });
  const [a, b, c, watcher] = [bench.connect(), bench.connect(), bench.connect(), bench.connect()] as [Client, Client, Client, Client];
  a.beat('a', [sub], ['P']);
  b.beat('b', [sub]);
  bench.advance(1000);
  c.beat('c', [sub]);
  t.deepEqual(members(watcher), ['a', 'b', 'c']);
  t.is(a.ask(RequestCodes.UNREGISTER_CLIENT, { clientID: 'a', consumerGroup: 'G' }).code, 0);
  t.deepEqual(members(watcher), ['b', 'c']);
  b.close();
  t.deepEqual(members(watcher), ['c']);
  bench.advance(118_999);
  t.deepEqual(bench.closed, []);
  bench.advance(1);
  t.deepEqual(bench.closed, [a.connectionId], 'the producer a is silent, too');
  bench.advance(1000);
  t.deepEqual(bench.closed, [a.connectionId, c.connectionId]);
  t.is(watcher.ask(RequestCodes.GET_CONSUMER_LIST_BY_GROUP, { consumerGroup: 'G' }).code, 1);
});

test('members: a step of the wall clock expires nobody', (t) => {
  const bench = new Bench();
  const a = bench.connect();
  a.beat('a', [sub]);
  bench.clock.stepWall(10 * 3_600_000);
  bench.advance(100_000);
  t.deepEqual(members(a), ['a']);
});

test('members: a heartbeat that is handled after the close of its connection registers nothing (BR-101)', (t) => {
  const bench = new Bench();
  const a = bench.connect();
  const watcher = bench.connect();
  bench.run();
  a.close();
  a.sendBeat('a', [sub], ['P']);
  bench.run();
  t.deepEqual(members(watcher), []);
  t.is(watcher.ask(RequestCodes.GET_PRODUCER_CONNECTION_LIST, { producerGroup: 'P' }).code, 1);
});

test('members: of two connections with one client id the newer counts, and both are told of in the log (BR-17, BR-18)', (t) => {
  const bench = new Bench();
  const old = bench.connect();
  old.beat('same', [sub]);
  const young = bench.connect();
  young.beat('same', [sub]);
  t.deepEqual(members(young), ['same']);
  t.is(bench.counters.get(CounterIds.duplicateClients), 1);
  bench.advance(10_000);
  t.regex(old.beat('same', [sub]).remark ?? '', /another connection has client id same/);
  t.is(bench.counters.get(CounterIds.duplicateClients), 2);
  t.is(bench.logged.filter(({ level, message }) => level === 'warn' && message.includes('same client id')).length, 2);
  old.close();
  t.deepEqual(members(young), ['same'], 'the close of the older one changes nothing');
  young.close();
  t.is(bench.connect().ask(RequestCodes.GET_CONSUMER_LIST_BY_GROUP, { consumerGroup: 'G' }).code, 1);
});

test('members: the older connection is taken again once the newer one is gone', (t) => {
  const bench = new Bench();
  const old = bench.connect();
  const young = bench.connect();
  old.beat('same', [sub]);
  young.beat('same', [sub]);
  young.close();
  old.beat('same', [sub]);
  t.deepEqual(members(old), ['same']);
});

test('members: any language is taken and shown as one that tools know (BR-66)', (t) => {
  const bench = new Bench();
  const languages = ['NODE_JS', 'XYZ', '', 200];
  for (const language of languages) {
    const client = bench.connect();
    const header = JSON.stringify({ code: 34, flag: 0, language, opaque: 5, version: 99_999, unknownField: 1 });
    const body = `{"clientID":"c${client.connectionId}","consumerDataSet":[{"groupName":"G","subscriptionDataSet":[]}]}`;
    const frame = Buffer.alloc(8 + header.length + body.length);
    frame.writeInt32BE(frame.length - 4, 0);
    frame.writeInt32BE(header.length, 4);
    frame.write(header + body, 8);
    t.true(frame.length < FRAME_SIZE_MAX);
    client.sendFrame(frame);
  }
  bench.run();
  const list = bench.connect().json(RequestCodes.GET_CONSUMER_CONNECTION_LIST, { consumerGroup: 'G' }) as {
    connectionSet: { language: string; version: number }[];
  };
  t.deepEqual(
    list.connectionSet.map(({ language }) => language),
    ['NODE_JS', 'OTHER', 'OTHER', 'OTHER'],
  );
  t.is(list.connectionSet[0]?.version, 99_999);
});

test('members: ten thousand connections that register and close leave nothing behind (BR-82)', (t) => {
  const bench = new Bench();
  const start = bench.coordinator.desk.membership.sizes;
  const links = bench.coordinator.desk.links.size;
  for (let i = 0; i < 10_000; i++) {
    const client = bench.connect();
    client.sendBeat(`c${i}`, [sub, { ...sub, group: 'H' }], ['P', 'Q']);
    client.close();
    if (i % 100 === 99) bench.run();
  }
  bench.run();
  t.deepEqual(bench.coordinator.desk.membership.sizes, start);
  t.is(bench.coordinator.desk.links.size, links);
  t.is(bench.groups.get('G')?.live, null);
});

test('members: connections of two ingress actors may have the same number', (t) => {
  const bench = new Bench({ ingressCount: 2 });
  const a = bench.connect({ ingress: 0, connectionId: 7 });
  const twin = bench.connect({ ingress: 1, connectionId: 7 });
  a.beat('a', [sub]);
  twin.beat('b', [sub]);
  bench.advance(300);
  t.deepEqual([a.notices.length, twin.notices.length], [1, 1]);
  twin.close();
  bench.run();
  t.deepEqual(members(a), ['a']);
});

test('members: from the answer to its first heartbeat on, a member is in every list, and after it left in none (BR-16)', (t) => {
  const bench = new Bench({ ingressCount: 2 });
  const watcher = bench.connect();
  const joined: Client[] = [];
  for (const ingress of [0, 1, 0, 1]) {
    const client = bench.connect({ ingress });
    joined.push(client);
    client.beat(`c${joined.length}`, [sub]);
    t.deepEqual(
      members(watcher).sort(),
      joined.map((_, i) => `c${i + 1}`),
    );
  }
  (joined[1] as Client).close();
  bench.run();
  t.deepEqual(members(watcher).sort(), ['c1', 'c3', 'c4']);
});
