// What a change of topics is registered with: alone, so that what tools did at the name server lasts, or with everything.
import test from 'ava';
import { Messages } from '../../../src/actors/messages.ts';
import { RouteTable } from '../../../src/nameserver/route-table.ts';
import { decodeRegistration } from '../../../src/protocol/bodies/register-broker.ts';
import { RequestCodes } from '../../../src/protocol/codes.ts';
import type { Bench } from './bench.ts';
import type { Client } from './client.ts';
import { type NameServer, start, topicsIn } from './name-server.ts';

/** Registered at the first of two name servers. */
function registered(sets: readonly string[] = []): { bench: Bench; server: NameServer; admin: Client } {
  const { bench, servers } = start(sets);
  const server = servers[0] as NameServer;
  server.connect(900);
  server.answerAll();
  return { bench, server, admin: bench.connect() };
}

function create(bench: Bench, admin: Client, topic: string): void {
  admin.send(RequestCodes.UPDATE_AND_CREATE_TOPIC, { topic, readQueueNums: 1, writeQueueNums: 1, perm: 6 });
  bench.run();
}

test('registration: a new topic goes out alone, so that a wiped write permission stays wiped', (t) => {
  const { bench, servers } = start();
  const server = servers[0] as NameServer;
  const routes = new RouteTable();
  const register = (): void => {
    for (const { header, body } of server.take()) {
      const decoded = decodeRegistration(body, false, header.version);
      if (!decoded.ok) throw new Error(decoded.fault);
      const names = { cluster: 'C', brokerName: 'broker-a', brokerId: 0, address: 'a:1', haServerAddr: '' };
      routes.register({ ...names, body: decoded.value }, { deleteTopicWithBrokerRegistration: false }, 0, 1);
      server.answer(header);
    }
  };
  server.connect(900);
  register();
  const admin = bench.connect();
  create(bench, admin, 'OLD');
  register();
  routes.rows.changePerm('broker-a', (perm) => perm & ~2);
  create(bench, admin, 'NEW');
  bench.outboxOf(0).sendJson(Messages.ensureGroup, { group: 'G' });
  bench.run();
  register();
  bench.advance(30_000);
  register();
  const perm = (topic: string): number | undefined => routes.rows.of(topic)?.get('broker-a')?.perm;
  t.deepEqual([perm('OLD'), perm('NEW'), perm('%RETRY%G')], [4, 6, 6]);
});

test('registration: a removed topic is told by the table that lacks it', (t) => {
  const { bench, server, admin } = registered();
  create(bench, admin, 'T');
  server.answerAll();
  admin.send(RequestCodes.DELETE_TOPIC_IN_BROKER, { topic: 'T' });
  bench.run();
  const topics = topicsIn(server.take()[0] as never);
  t.deepEqual([topics.length, topics.includes('T')], [bench.topics.size, false]);
});

test('registration: what may not have arrived goes out again with everything', (t) => {
  const { bench, server, admin } = registered();
  create(bench, admin, 'LOST');
  t.deepEqual(topicsIn(server.take()[0] as never), ['LOST']);
  create(bench, admin, 'T');
  bench.advance(3200);
  const again = topicsIn(server.take()[0] as never);
  t.deepEqual([again.length, again.includes('LOST')], [bench.topics.size, true]);
});

test('registration: name servers that take what is not listed for removed get everything', (t) => {
  for (const set of ['deleteTopicWithBrokerRegistration=true', 'enableSingleTopicRegister=true']) {
    const { bench, server, admin } = registered([set]);
    create(bench, admin, 'T');
    t.is(topicsIn(server.take()[0] as never).length, bench.topics.size, set);
  }
});
