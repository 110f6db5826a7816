// Registration at name servers: when, with what, and what happens when they are slow, gone or refuse.
import test from 'ava';
import { Positions } from '../../../src/actors/context.ts';
import { Messages } from '../../../src/actors/messages.ts';
import { encodeKvTable } from '../../../src/protocol/bodies/kv-table.ts';
import { decodeRegistration, registrationCrc } from '../../../src/protocol/bodies/register-broker.ts';
import { RequestCodes } from '../../../src/protocol/codes.ts';
import { encodeResponse, type Header } from '../../../src/protocol/header.ts';
import { Bench } from './bench.ts';
import { subscription } from './client.ts';
import { type NameServer, start, topicsIn } from './name-server.ts';

test('registration: it connects to every name server and registers everything at once', (t) => {
  const { bench, servers } = start();
  t.deepEqual(bench.opened, [
    { peerId: 1, host: '127.0.0.1', port: 9876 },
    { peerId: 2, host: '127.0.0.2', port: 9877 },
  ]);
  servers.forEach((server, i) => {
    server.connect(900 + i);
    const [frame, ...more] = server.take();
    t.deepEqual(more, []);
    t.is(frame?.header.code, RequestCodes.REGISTER_BROKER);
    t.is(frame?.header.version, 479);
    t.deepEqual(frame?.header.fields(), {
      brokerName: 'broker-a',
      brokerAddr: '127.0.0.1:10911',
      clusterName: 'DefaultCluster',
      brokerId: '0',
      haServerAddr: '127.0.0.1:10912',
      enableActingMaster: 'false',
      compressed: 'false',
      bodyCrc32: String(registrationCrc(frame?.body as Buffer)),
    });
    t.is(topicsIn(frame as never).length, bench.topics.size);
    t.is(bench.positions.get(Positions.registered), 0);
    server.answer(frame?.header as Header);
  });
  t.is(bench.positions.get(Positions.registered), 1);
});

test('registration: it waits for the port, then goes on by the period', (t) => {
  const { bench, servers } = start(['registerNameServerPeriod=30000']);
  const server = servers[0] as NameServer;
  server.connect(900);
  t.is(server.answerAll(), 1);
  bench.advance(29_999);
  t.is(server.take().length, 0);
  bench.advance(1);
  t.is(server.answerAll(), 1);

  const late = new Bench({ sets: ['namesrvAddr=127.0.0.1:9876'] });
  t.is(late.opened.length, 0, 'nothing is done before the coordinator runs');
  late.positions.set(Positions.listenPort, 0);
  late.run();
  t.is(late.opened.length, 0);
  late.positions.set(Positions.listenPort, 4711);
  late.advance(20);
  t.is(late.opened.length, 1);
});

test('registration: a silent name server does not keep the start waiting longer than 3 s', (t) => {
  const { bench, servers } = start();
  servers[0]?.connect(900);
  servers[0]?.answerAll();
  bench.advance(2999);
  t.is(bench.positions.get(Positions.registered), 0);
  bench.advance(1);
  t.is(bench.positions.get(Positions.registered), 1);
});

test('registration: a lost connection is made again with growing pauses, and registers at once', (t) => {
  const { bench, servers } = start();
  const server = servers[0] as NameServer;
  bench.opened.length = 0;
  const times: number[] = [];
  let from = bench.clock.steadyMs();
  server.lose();
  for (let i = 0; i < 8; i++) {
    while (!bench.opened.some((peer) => peer.peerId === 1)) bench.advance(1);
    bench.opened.length = 0;
    times.push(bench.clock.steadyMs() - from);
    from = bench.clock.steadyMs();
    server.lose();
  }
  t.deepEqual(times, [200, 400, 800, 1600, 3200, 5000, 5000, 5000]);
  server.connect(901);
  t.is(server.answerAll(), 1);
  t.is(bench.logged.filter(({ message }) => message.startsWith('no connection to a name server')).length, 1, 'told once');
  server.lose();
  bench.advance(200);
  t.true(
    bench.opened.some((peer) => peer.peerId === 1),
    'after a success the pauses are short again',
  );
});

test('registration: an answer that does not come is given up after 3 s, on the same connection, without harm to the others', (t) => {
  const { bench, servers } = start();
  const [a, b] = servers as [NameServer, NameServer];
  a.connect(900);
  b.connect(901);
  b.answerAll();
  a.take();
  bench.advance(3199);
  t.deepEqual([a.take().length, b.take().length], [0, 0]);
  bench.advance(1);
  const [again] = a.take();
  t.is(again?.header.code, RequestCodes.REGISTER_BROKER);
  t.is(b.take().length, 0);
  t.deepEqual(bench.closed, []);
});

test('registration: a refusal is tried again, with everything', (t) => {
  const { bench, servers } = start();
  const server = servers[0] as NameServer;
  server.connect(900);
  for (const { header } of server.take()) server.answer(header, 1);
  t.true(bench.logged.some(({ message }) => message.includes('refused')));
  bench.advance(200);
  t.is(topicsIn(server.take()[0] as never).length, bench.topics.size);
});

test('registration: a new topic is registered at once, and the tool that made it is answered after that', (t) => {
  const { bench, servers } = start();
  const server = servers[0] as NameServer;
  server.connect(900);
  server.answerAll();
  const admin = bench.connect();
  const opaque = admin.send(RequestCodes.UPDATE_AND_CREATE_TOPIC, { topic: 'T', readQueueNums: 1, writeQueueNums: 1, perm: 6 });
  bench.run();
  t.false(admin.answers.has(opaque));
  const [frame] = server.take();
  t.true(topicsIn(frame as never).includes('T'));
  server.answer(frame?.header as Header);
  t.is(admin.answers.get(opaque)?.code, 0);
});

test('registration: a tool does not wait longer than a second, a heartbeat not at all (BR-17)', (t) => {
  const { bench, servers } = start();
  (servers[0] as NameServer).connect(900);
  const admin = bench.connect();
  const opaque = admin.send(RequestCodes.UPDATE_AND_CREATE_TOPIC, { topic: 'T', readQueueNums: 1, writeQueueNums: 1, perm: 6 });
  bench.advance(999);
  t.false(admin.answers.has(opaque));
  bench.advance(1);
  t.is(admin.answers.get(opaque)?.code, 0);
  const before = bench.clock.steadyMs();
  t.is(admin.beat('a', [{ group: 'G', subscriptions: [subscription('T')] }]).code, 0);
  t.is(bench.clock.steadyMs(), before);
});

test('registration: changes while one is under way go out together when it is through', (t) => {
  const { bench, servers } = start();
  const server = servers[0] as NameServer;
  server.connect(900);
  const admin = bench.connect();
  for (let i = 0; i < 5; i++)
    admin.send(RequestCodes.UPDATE_AND_CREATE_TOPIC, { topic: `T${i}`, readQueueNums: 1, writeQueueNums: 1, perm: 6 });
  bench.run();
  t.is(server.answerAll(), 1);
  const frames = server.take();
  t.is(frames.length, 1);
  for (let i = 0; i < 5; i++) t.true(topicsIn(frames[0] as never).includes(`T${i}`));
});

test('registration: of a large table only what changed goes out, the whole on the period', (t) => {
  const { bench, servers } = start();
  const admin = bench.connect();
  const server = servers[0] as NameServer;
  const list = Array.from({ length: 1000 }, (_, i) => ({ topicName: `L${i}`, readQueueNums: 1, writeQueueNums: 1 }));
  admin.ask(RequestCodes.UPDATE_AND_CREATE_TOPIC_LIST, {}, Buffer.from(JSON.stringify({ topicConfigList: list })));
  server.connect(900);
  t.is(topicsIn(server.take()[0] as never).length, bench.topics.size, 'the first is whole');
  bench.advance(3200);
  server.answerAll();
  admin.send(RequestCodes.UPDATE_AND_CREATE_TOPIC, { topic: 'NEW', readQueueNums: 1, writeQueueNums: 1, perm: 6 });
  bench.run();
  const [frame] = server.take();
  t.deepEqual(topicsIn(frame as never), ['NEW']);
  server.answer(frame?.header as Header);
  bench.advance(30_000);
  t.is(topicsIn(server.take()[0] as never).length, bench.topics.size);
});

test('registration: with forceRegister off it asks first and registers where the name server says so', (t) => {
  const { bench, servers } = start(['forceRegister=false']);
  const server = servers[0] as NameServer;
  server.connect(900);
  server.answerAll();
  bench.advance(30_000);
  const [question] = server.take();
  t.is(question?.header.code, RequestCodes.QUERY_DATA_VERSION);
  bench
    .outboxOf(0)
    .sendFrame(Messages.frame, server.connectionId, encodeResponse(question?.header as Header, 0, undefined, { changed: 'true' }));
  bench.run();
  const [frame] = server.take();
  t.is(frame?.header.code, RequestCodes.REGISTER_BROKER);
  t.is(topicsIn(frame as never).length, bench.topics.size);
});

test('registration: topics with an order configuration become ordered', (t) => {
  const { bench, servers } = start();
  bench.connect().createTopic('T', 1);
  const server = servers[0] as NameServer;
  server.connect(900);
  const [frame] = server.take();
  server.answer(
    frame?.header as Header,
    0,
    encodeKvTable(
      new Map([
        ['T', 'broker-a:4'],
        ['OTHER', 'broker-b:4'],
      ]),
    ),
  );
  t.true(bench.topics.get('T')?.order);
});

test('registration: a broker that may not be written to says so of every topic', (t) => {
  const { servers } = start(['brokerPermission=4']);
  const server = servers[0] as NameServer;
  server.connect(900);
  const [frame] = server.take();
  const decoded = decodeRegistration(frame?.body as Buffer, false, 479);
  t.true(decoded.ok && decoded.value.topics.every((topic) => (topic.perm & 2) === 0));
});

test('registration: the compressed form is sent where asked for', (t) => {
  const { bench, servers } = start(['compressedRegister=true']);
  const server = servers[0] as NameServer;
  server.connect(900);
  const [frame] = server.take();
  t.is(frame?.header.field('compressed'), 'true');
  t.is(topicsIn(frame as never).length, bench.topics.size);
});

test('registration: a stopping broker says good-bye to all and is silent then', (t) => {
  const { bench, servers } = start();
  servers.forEach((server, i) => {
    server.connect(900 + i);
    server.answerAll();
  });
  bench.positions.set(Positions.stopping, 1);
  bench.run();
  for (const server of servers) {
    const frames = server.take();
    t.deepEqual(
      frames.map(({ header }) => header.code),
      [RequestCodes.UNREGISTER_BROKER],
    );
    t.deepEqual(frames[0]?.header.fields(), {
      brokerName: 'broker-a',
      brokerAddr: '127.0.0.1:10911',
      clusterName: 'DefaultCluster',
      brokerId: '0',
    });
  }
  bench.advance(60_000);
  t.is(bench.peerFrames.length, 0);
});

test('registration: the name server of the same process is found through its port', (t) => {
  const bench = new Bench({ sets: ['embeddedNamesrv=true', 'bindAddress=0.0.0.0', 'brokerIP1=192.0.2.1'] });
  bench.run();
  t.deepEqual(bench.opened, []);
  bench.positions.set(Positions.namesrvPort, 9876);
  bench.advance(20);
  t.deepEqual(bench.opened, [{ peerId: 1, host: '127.0.0.1', port: 9876 }]);
  t.false(bench.logged.some(({ message }) => message.includes('loopback')));
});

test('registration: a loopback address for clients of other hosts is warned of (BR-81)', (t) => {
  const bench = new Bench({ sets: ['bindAddress=0.0.0.0', 'brokerIP1=127.0.0.1'] });
  bench.run();
  t.true(bench.logged.some(({ level, message }) => level === 'warn' && message.includes('loopback')));
});
