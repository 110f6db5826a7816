// Locks on queues: one owner at a time, renewed or over after 60 s, gone with their owner, kept for one that was lost; against a slow model.
import test from 'ava';
import fc from 'fast-check';
import { QUEUE_LOCK_LIFE_MS, QUEUE_LOCK_TRUST_MS, QueueLocks } from '../../src/core/queue-locks.ts';
import { ownersOf, type QueueOwners } from '../../src/core/queue-owners.ts';

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

const everywhere = (): boolean => true;
const owned = (group: string, clientId: string, topic: string, ...queueIds: number[]): QueueOwners =>
  new Map([[group, new Map([[clientId, new Map([[topic, queueIds]])]])]]);

function afterRestart(owners: QueueOwners, steadyMs: number): QueueLocks {
  const locks = new QueueLocks();
  locks.load(owners, everywhere, steadyMs);
  return locks;
}

test('queue locks: after a start a queue is for its former owner alone, for as long as that may trust its lock', (t) => {
  const locks = afterRestart(owned('G', 'a', 'T', 0, 1), 1_000);
  t.deepEqual([locks.size, locks.keptCount, locks.linkCount, locks.dirty], [2, 2, 0, false]);
  t.deepEqual([locks.takeChanged(), locks.topicsOf('G')], [['G'], ['T']], 'it is consumed in order');
  t.is(locks.nextMs(), 1_000 + QUEUE_LOCK_TRUST_MS);
  t.false(locks.tryLock(owner('b', 2), 'T', 0, 1_001));
  t.true(locks.tryLock(owner('b', 2), 'T', 2, 1_001), 'nobody had this one');
  t.true(locks.tryLock(owner('b', 2, 'H'), 'T', 0, 1_001), 'nor this group');
  t.false(locks.tryLock(owner('b', 2), 'T', 0, 30_999));
  t.is(locks.expire(30_999), 0);
  t.is(locks.expire(31_000), 2);
  t.deepEqual(locks.takeFreed(), ['G'], 'whoever waits for it hears of it');
  t.true(locks.tryLock(owner('b', 2), 'T', 0, 31_000));
});

test('queue locks: an owner that came back has an ordinary lock again', (t) => {
  const locks = afterRestart(owned('G', 'a', 'T', 0, 1), 0);
  locks.markSaved();
  t.true(locks.tryLock(owner('a', 7), 'T', 0, 20_000));
  t.is(locks.keptCount, 1);
  t.is(locks.expire(QUEUE_LOCK_TRUST_MS), 1, 'the other one it did not want');
  t.false(locks.tryLock(owner('b', 2), 'T', 0, 79_999));
  t.is(locks.nextMs(), 20_000 + QUEUE_LOCK_LIFE_MS);
  locks.releaseLink(7, () => false);
  t.true(locks.tryLock(owner('b', 2), 'T', 0, 40_000));
});

test('queue locks: what waits for its owner ends when that leaves, gives it back or does not read it, and with its topic and group', (t) => {
  for (const [what, end] of Object.entries<(locks: QueueLocks) => void>({
    unlock: (locks) => locks.unlock('G', 'a', 'T', 0),
    leave: (locks) => locks.releaseClient('G', 'a'),
    'other subscription': (locks) => locks.returned('G', 'a', (topic) => topic === 'U'),
    topic: (locks) => locks.dropTopic('T'),
    group: (locks) => locks.dropGroup('G'),
  })) {
    const locks = afterRestart(owned('G', 'a', 'T', 0), 0);
    locks.unlock('G', 'b', 'T', 0);
    locks.releaseClient('G', 'b');
    locks.releaseClient('H', 'a');
    locks.returned('G', 'b', () => false);
    locks.returned('G', 'a', (topic) => topic === 'T');
    t.false(locks.tryLock(owner('b', 2), 'T', 0, 1), what);
    end(locks);
    t.true(locks.dirty, what);
    t.deepEqual([locks.size, locks.nextMs()], [0, Number.POSITIVE_INFINITY], what);
    t.true(locks.tryLock(owner('b', 2), 'T', 0, 2), what);
  }
});

test('queue locks: a lock that its owner renewed since does not end because it returns, whatever it reads', (t) => {
  const locks = afterRestart(owned('G', 'a', 'T', 0, 1), 0);
  locks.tryLock(owner('a', 3), 'T', 0, 1);
  locks.returned('G', 'a', () => false);
  t.deepEqual(
    [...locks.all()].map(({ queueId }) => queueId),
    [0],
  );
});

test('queue locks: owners of what is gone, or of more than there is room for, are not kept, and that is to be written', (t) => {
  const locks = new QueueLocks(1_000, 2);
  locks.load(owned('G', 'a', 'T', 0, 1, 1, 2), (_group, _topic, queueId) => queueId > 0, 0);
  const queueIds = [...locks.all()].map(({ queueId }) => queueId);
  t.deepEqual([queueIds, locks.dirty], [[1, 2], true]);
  t.false(locks.tryLock(owner('b', 2), 'T', 3, 1), 'they count as others do');
});

test('queue locks: a change of owner is to be written, a renewal is not', (t) => {
  const locks = new QueueLocks();
  const changes = (what: () => void): boolean => {
    locks.markSaved();
    what();
    return locks.dirty;
  };
  t.true(changes(() => locks.tryLock(owner('a'), 'T', 0, 0)));
  t.false(changes(() => locks.tryLock(owner('a'), 'T', 0, 1)));
  t.false(
    changes(() => locks.tryLock(owner('a', 2), 'T', 0, 2)),
    'by another connection',
  );
  t.false(
    changes(() => locks.tryLock(owner('b', 3), 'T', 0, 3)),
    'in vain',
  );
  t.false(
    changes(() => locks.keepLink(2, 4)),
    'it is the owner still',
  );
  t.false(
    changes(() => locks.tryLock(owner('a', 5), 'T', 0, 5)),
    'and is again',
  );
  t.true(changes(() => locks.unlock('G', 'a', 'T', 0)));
  locks.tryLock(owner('a'), 'T', 0, 6);
  t.true(changes(() => locks.expire(6 + QUEUE_LOCK_LIFE_MS)));
});

test('queue locks: of a connection that the broker itself lost they wait for their owner', (t) => {
  const locks = new QueueLocks();
  locks.tryLock(owner('a', 1), 'T', 0, 0);
  locks.tryLock(owner('c', 2), 'T', 1, 0);
  locks.keepLink(1, 50_000);
  locks.releaseLink(1, () => false);
  t.deepEqual([locks.keptCount, locks.linkCount], [1, 1]);
  t.false(locks.tryLock(owner('b', 3), 'T', 0, 79_999));
  t.true(locks.tryLock(owner('b', 3), 'T', 0, 80_000));
});

type Kind = 'lock' | 'unlock' | 'leave' | 'close' | 'lose' | 'restart';
type Step = { client: number; queue: number; kind: Kind; passMs: number };
interface Held {
  readonly client: number;
  /** By a connection; else it waits for its owner. */
  readonly linked: boolean;
  readonly untilMs: number;
}

test('queue locks: owners are those of a model that goes through all of them', (t) => {
  const step: fc.Arbitrary<Step> = fc.record({
    client: fc.integer({ min: 1, max: 3 }),
    queue: fc.integer({ min: 0, max: 2 }),
    kind: fc.constantFrom<Kind>('lock', 'lock', 'lock', 'lock', 'unlock', 'leave', 'close', 'lose', 'restart'),
    passMs: fc.constantFrom(0, 1, 20, 59, 60),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      let locks = new QueueLocks(60, 100, 30);
      const model = new Map<number, Held>();
      let nowMs = 0;
      for (const { client, queue, kind, passMs } of steps) {
        nowMs += passMs;
        locks.expire(nowMs);
        for (const [key, held] of model) if (held.untilMs <= nowMs) model.delete(key);
        const clientId = `c${client}`;
        const held = model.get(queue);
        if (kind === 'lock') {
          const free = held === undefined || held.client === client;
          if (free) model.set(queue, { client, linked: true, untilMs: nowMs + 60 });
          if (locks.tryLock(owner(clientId, client), 'T', queue, nowMs) !== free) return false;
        } else if (kind === 'unlock') {
          if (locks.unlock('G', clientId, 'T', queue) !== (held?.client === client)) return false;
          if (held?.client === client) model.delete(queue);
        } else if (kind === 'leave' || kind === 'close') {
          if (kind === 'leave') locks.releaseClient('G', clientId);
          else locks.releaseLink(client, () => false);
          for (const [key, { client: other, linked }] of model) if (other === client && (linked || kind === 'leave')) model.delete(key);
        } else {
          for (const [key, one] of model) {
            const lost = kind === 'restart' || (one.client === client && one.linked);
            if (lost) model.set(key, { client: one.client, linked: false, untilMs: nowMs + 30 });
          }
          if (kind === 'lose') locks.keepLink(client, nowMs);
          else {
            const { owners } = ownersOf(locks.all());
            locks = new QueueLocks(60, 100, 30);
            locks.load(owners, everywhere, nowMs);
          }
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
