// Locks on queues: one owner at a time, renewed or over after 60 s, gone with their owner; and against a slow model.
import test from 'ava';
import fc from 'fast-check';
import { QUEUE_LOCK_LIFE_MS, QueueLocks } from '../../src/core/queue-locks.ts';

const owner = (clientId: string, link = 1, group = 'G') => ({ group, clientId, link });

test('queue locks: one client at a time, each group for itself', (t) => {
  const locks = new QueueLocks();
  t.true(locks.tryLock(owner('a'), 'T', 0, 0));
  t.false(locks.tryLock(owner('b', 2), 'T', 0, 0));
  t.true(locks.tryLock(owner('a'), 'T', 0, 1), 'renewed');
  t.true(locks.tryLock(owner('b', 2), 'T', 1, 1), 'another queue');
  t.true(locks.tryLock(owner('b', 2, 'H'), 'T', 0, 1), 'another group');
  t.false(locks.unlock('G', 'b', 'T', 0), 'not the owner');
  t.false(locks.tryLock(owner('b', 2), 'T', 0, 2));
  t.true(locks.unlock('G', 'a', 'T', 0));
  t.true(locks.tryLock(owner('b', 2), 'T', 0, 2));
});

test('queue locks: 60 s without renewal, to the millisecond', (t) => {
  const locks = new QueueLocks();
  locks.tryLock(owner('a'), 'T', 0, 0);
  locks.tryLock(owner('a'), 'T', 0, 20_000);
  t.is(locks.nextMs(), 20_000 + QUEUE_LOCK_LIFE_MS);
  t.false(locks.tryLock(owner('b', 2), 'T', 0, 79_999));
  t.is(locks.expire(79_999), 0);
  t.true(locks.tryLock(owner('b', 2), 'T', 0, 80_000), 'taken over');
  t.false(locks.tryLock(owner('a'), 'T', 0, 80_001));
  t.is(locks.expire(139_999), 0);
  t.is(locks.expire(140_000), 1);
  t.deepEqual([locks.size, locks.linkCount, locks.nextMs()], [0, 0, Number.POSITIVE_INFINITY]);
});

test('queue locks: what an owner held is free once it is gone', (t) => {
  const locks = new QueueLocks();
  for (let queueId = 0; queueId < 4; queueId++) locks.tryLock(owner('a'), 'T', queueId, 0);
  locks.tryLock(owner('a', 1, 'H'), 'T', 0, 0);
  locks.releaseClient('G', 'a');
  t.true(locks.tryLock(owner('b', 2), 'T', 3, 1));
  t.false(locks.tryLock(owner('b', 2, 'H'), 'T', 0, 1), 'of its other group nothing is known');
  locks.tryLock(owner('c', 7), 'U', 0, 1);
  locks.releaseLink(1, () => false);
  locks.releaseLink(7, (_group, clientId) => clientId === 'c');
  t.deepEqual([locks.topicsOf('G'), locks.topicsOf('H')], [['T', 'U'], []]);
});

test('queue locks: renewed by a new connection, a lock does not end with the old one', (t) => {
  const locks = new QueueLocks();
  locks.tryLock(owner('a', 1), 'T', 0, 0);
  locks.tryLock(owner('a', 2), 'T', 0, 1);
  locks.releaseLink(1, () => false);
  t.false(locks.tryLock(owner('b', 3), 'T', 0, 2));
  locks.releaseLink(2, () => false);
  t.true(locks.tryLock(owner('b', 3), 'T', 0, 3));
});

test('queue locks: only a first and a last lock on a topic are news', (t) => {
  const locks = new QueueLocks();
  locks.tryLock(owner('a'), 'T', 0, 0);
  t.deepEqual(locks.takeChanged(), ['G']);
  locks.tryLock(owner('a'), 'T', 1, 0);
  locks.tryLock(owner('a'), 'T', 0, 9);
  locks.unlock('G', 'a', 'T', 1);
  t.deepEqual(locks.takeChanged(), []);
  locks.unlock('G', 'a', 'T', 0);
  t.deepEqual([locks.takeChanged(), locks.topicsOf('G')], [['G'], []]);
  locks.tryLock(owner('a'), 'T', 0, 0);
  locks.tryLock(owner('a'), 'U', 0, 0);
  locks.takeChanged();
  locks.dropTopic('T');
  t.deepEqual([locks.takeChanged(), locks.topicsOf('G')], [['G'], ['U']]);
  locks.dropGroup('G');
  t.is(locks.size, 0);
});

test('queue locks: a queue that was asked for in vain is news once it is free, however that came', (t) => {
  const locks = new QueueLocks(60);
  locks.tryLock(owner('a'), 'T', 0, 0);
  locks.unlock('G', 'a', 'T', 0);
  t.deepEqual(locks.takeFreed(), [], 'nobody wanted it');
  for (const free of [
    () => locks.unlock('G', 'a', 'T', 0),
    () => locks.releaseClient('G', 'a'),
    () => locks.releaseLink(1, () => false),
    () => locks.expire(200),
  ]) {
    locks.tryLock(owner('a'), 'T', 0, 100);
    t.false(locks.tryLock(owner('b', 2), 'T', 0, 101));
    t.deepEqual(locks.takeFreed(), []);
    free();
    t.deepEqual([locks.takeFreed(), locks.takeFreed()], [['G'], []]);
  }
});

test('queue locks: not more than there is room for', (t) => {
  const locks = new QueueLocks(1_000, 2);
  t.true(locks.tryLock(owner('a'), 'T', 0, 0));
  t.true(locks.tryLock(owner('a'), 'T', 1, 0));
  t.false(locks.tryLock(owner('a'), 'T', 2, 0));
  t.true(locks.tryLock(owner('a'), 'T', 1, 1), 'renewed');
  t.true(locks.tryLock(owner('a'), 'T', 2, 1_000), 'others have expired');
});

type Step = { client: number; queue: number; kind: 'lock' | 'unlock' | 'leave' | 'close'; passMs: number };

test('queue locks: owners are those of a model that goes through all of them', (t) => {
  const step: fc.Arbitrary<Step> = fc.record({
    client: fc.integer({ min: 1, max: 3 }),
    queue: fc.integer({ min: 0, max: 2 }),
    kind: fc.constantFrom('lock', 'lock', 'lock', 'unlock', 'leave', 'close'),
    passMs: fc.constantFrom(0, 1, 20, 59, 60),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const locks = new QueueLocks(60);
      const model = new Map<number, { client: number; untilMs: number }>();
      let nowMs = 0;
      for (const { client, queue, kind, passMs } of steps) {
        nowMs += passMs;
        locks.expire(nowMs);
        for (const [key, held] of model) if (held.untilMs <= nowMs) model.delete(key);
        const clientId = `c${client}`;
        const held = model.get(queue);
        if (kind === 'lock') {
          const free = held === undefined || held.client === client;
          if (free) model.set(queue, { client, untilMs: nowMs + 60 });
          if (locks.tryLock(owner(clientId, client), 'T', queue, nowMs) !== free) return false;
        } else if (kind === 'unlock') {
          if (locks.unlock('G', clientId, 'T', queue) !== (held?.client === client)) return false;
          if (held?.client === client) model.delete(queue);
        } else {
          if (kind === 'leave') locks.releaseClient('G', clientId);
          else locks.releaseLink(client, () => false);
          for (const [key, { client: other }] of model) if (other === client) model.delete(key);
        }
        if (locks.size !== model.size) return false;
      }
      locks.dropGroup('G');
      return locks.size + locks.linkCount === 0;
    }),
    { numRuns: 500 },
  );
  t.pass();
});
