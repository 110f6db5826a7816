// Queue locks through the wire: who gets them, what ends them, and what an ingress hears of them.
import test from 'ava';
import { RequestCodes } from '../../../src/protocol/codes.ts';
import { Bench } from './bench.ts';
import { type Client, subscription } from './client.ts';

const sub = { group: 'G', subscriptions: [subscription('T')] };

function benchWith(queueCount: number): { bench: Bench; a: Client; b: Client } {
  const bench = new Bench();
  bench.connect().createTopic('T', queueCount);
  return { bench, a: bench.connect(), b: bench.connect() };
}

test('locks: exclusive, renewable, given back by their owner only', (t) => {
  const { a, b } = benchWith(4);
  t.deepEqual(a.lock('a', 'T', [0, 1]), [0, 1]);
  t.deepEqual(b.lock('b', 'T', [0, 1, 2]), [2]);
  t.deepEqual(a.lock('a', 'T', [0, 1, 2]), [0, 1]);
  t.is(b.unlock('b', 'T', [0]).code, 0, 'of a stranger: nothing happens');
  t.deepEqual(b.lock('b', 'T', [0]), []);
  t.is(a.unlock('a', 'T', [0]).code, 0);
  t.deepEqual(b.lock('b', 'T', [0]), [0]);
  t.deepEqual(b.lock('b', 'T', [0, 1], 'H'), [0, 1], 'another group');
});

test('locks: nothing is granted on queues that are not here', (t) => {
  const { bench, a } = benchWith(2);
  t.deepEqual(a.lock('a', 'T', [1, 2, -1]), [1]);
  t.deepEqual(a.lock('a', 'NONE', [0]), []);
  t.deepEqual(a.lock('a', 'T', [0], 'G', 'broker-b'), [], 'of another broker');
  t.deepEqual(a.lock('a', 'T', [0], 'bad group'), []);
  const code = (body: string): number => a.ask(RequestCodes.LOCK_BATCH_MQ, {}, Buffer.from(body)).code;
  t.deepEqual([code(''), code('{"clientId":"a"}'), code('{"consumerGroup":"G"}')], [1, 1, 1]);
  t.deepEqual([code('{"consumerGroup":"G","clientId":"a"}'), code('{"consumerGroup":"G","clientId":"a","mqSet":[1,{}]}')], [0, 0]);
  t.is(bench.coordinator.desk.membership.locks.size, 1);
});

test('locks: over after 60 s without renewal, also while nobody asks', (t) => {
  const { bench, a, b } = benchWith(1);
  a.beat('a', [sub]);
  a.lock('a', 'T', [0]);
  bench.advance(59_999);
  t.deepEqual(b.lock('b', 'T', [0]), []);
  t.deepEqual(bench.groups.get('G')?.lockedTopics, ['T']);
  bench.advance(1);
  t.deepEqual(bench.groups.get('G')?.lockedTopics, [], 'ingress was told without anybody asking');
  t.deepEqual(b.lock('b', 'T', [0]), [0]);
});

test('locks: a member that leaves, closes or falls silent gives its queues back at once (BR-22)', (t) => {
  for (const leave of ['unregister', 'close', 'expire'] as const) {
    const { bench, a, b } = benchWith(2);
    a.beat('a', [sub]);
    a.lock('a', 'T', [0, 1]);
    if (leave === 'unregister') a.ask(RequestCodes.UNREGISTER_CLIENT, { clientID: 'a', consumerGroup: 'G' });
    else if (leave === 'close') a.close();
    else {
      // It renews its locks to the end, but sends no heartbeats.
      for (let i = 0; i < 6; i++) {
        bench.advance(19_999);
        t.deepEqual(a.lock('a', 'T', [0, 1]), [0, 1]);
      }
      bench.advance(6);
    }
    b.beat('b', [sub]);
    t.deepEqual(b.lock('b', 'T', [0, 1]), [0, 1], leave);
  }
});

test('locks: a member that asked in vain hears of it when the queue is given back, and need not wait for its next round (BR-22)', (t) => {
  const { bench, a, b } = benchWith(2);
  a.beat('a', [sub]);
  a.lock('a', 'T', [0, 1]);
  bench.advance(1_000);
  b.beat('b', [sub]);
  bench.advance(200);
  // Both rebalance at the same notice: the newcomer is faster than the one that gives back.
  t.deepEqual(b.lock('b', 'T', [1]), []);
  const before = b.notices.length;
  a.unlock('a', 'T', [1]);
  bench.advance(200);
  t.is(b.notices.length, before + 1);
  t.deepEqual(b.lock('b', 'T', [1]), [1]);
  a.unlock('a', 'T', [0]);
  bench.advance(1_000);
  t.is(b.notices.length, before + 1, 'nobody asked for that one');
});

test('locks: of a client that is no member they end with its connection', (t) => {
  const { bench, a, b } = benchWith(1);
  a.lock('a', 'T', [0]);
  a.close();
  t.deepEqual(b.lock('b', 'T', [0]), [0]);
  b.close();
  bench.run();
  t.like(bench.coordinator.desk.membership.sizes, { locks: 0, lockLinks: 0 });
});

test('locks: a client that came back by a new connection keeps them when the old one closes', (t) => {
  const { bench, a, b } = benchWith(1);
  a.beat('same', [sub]);
  a.lock('same', 'T', [0]);
  const again = bench.connect();
  again.beat('same', [sub]);
  a.close();
  t.deepEqual(b.lock('b', 'T', [0]), [], 'it lives on');
  t.deepEqual(again.lock('same', 'T', [0]), [0]);
});

test('locks: of two clients with one id only the newer gets queues, so that one of them reads in order (BR-18)', (t) => {
  const { bench, a } = benchWith(2);
  a.beat('same', [sub]);
  t.deepEqual(a.lock('same', 'T', [0]), [0]);
  const twin = bench.connect();
  twin.beat('same', [sub]);
  t.deepEqual(a.lock('same', 'T', [0, 1]), []);
  t.deepEqual(twin.lock('same', 'T', [0, 1]), [0, 1]);
});

test('locks: ingress hears of the first and the last lock on a topic, not of renewals', (t) => {
  const { bench, a } = benchWith(2);
  a.beat('a', [sub]);
  bench.advance(1_000);
  const before = bench.groupChangeCount;
  a.lock('a', 'T', [0]);
  t.is(bench.groupChangeCount, before + 1);
  t.deepEqual(bench.groups.get('G')?.lockedTopics, ['T']);
  a.lock('a', 'T', [0, 1]);
  a.unlock('a', 'T', [0]);
  t.is(bench.groupChangeCount, before + 1);
  a.unlock('a', 'T', [1]);
  t.deepEqual(bench.groups.get('G')?.lockedTopics, []);
});

test('locks: they go with their topic and with their group', (t) => {
  const { bench, a } = benchWith(1);
  a.beat('a', [sub]);
  a.lock('a', 'T', [0]);
  a.ask(RequestCodes.DELETE_TOPIC_IN_BROKER, { topic: 'T' });
  t.deepEqual(bench.groups.get('G')?.lockedTopics, []);
  bench.connect().createTopic('T', 1);
  a.lock('a', 'T', [0]);
  a.ask(RequestCodes.DELETE_SUBSCRIPTIONGROUP, { groupName: 'G' });
  t.is(bench.coordinator.desk.membership.locks.size, 0);
});

test('locks: a lock asked for on a connection that is closed already is not granted', (t) => {
  const { bench, a } = benchWith(1);
  bench.run();
  a.close();
  a.send(
    RequestCodes.LOCK_BATCH_MQ,
    {},
    Buffer.from('{"consumerGroup":"G","clientId":"a","mqSet":[{"brokerName":"broker-a","queueId":0,"topic":"T"}]}'),
  );
  bench.run();
  t.is(bench.coordinator.desk.membership.locks.size, 0);
});
