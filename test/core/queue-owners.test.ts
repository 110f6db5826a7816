// Owners of queue locks as a restart finds them: all of them, or as many as there is room for.
import test from 'ava';
import { type OwnedQueue, ownersOf, queuesOf } from '../../src/core/queue-owners.ts';

const queue = (group: string, clientId: string, topic: string, queueId: number): OwnedQueue => ({ group, clientId, topic, queueId });

test('queue owners: by group, client and topic', (t) => {
  const queues = [
    queue('G', 'a', 'T', 0),
    queue('G', 'b', 'T', 1),
    queue('G', 'a', 'U', 0),
    queue('H', 'a', 'T', 0),
    queue('G', 'a', 'T', 2),
  ];
  const { owners, leftOutCount } = ownersOf(queues);
  t.is(leftOutCount, 0);
  const plain = (value: unknown): unknown =>
    value instanceof Map ? Object.fromEntries([...value].map(([key, member]) => [key, plain(member)])) : value;
  t.deepEqual(plain(owners), { G: { a: { T: [0, 2], U: [0] }, b: { T: [1] } }, H: { a: { T: [0] } } });
  t.deepEqual(ownersOf(queuesOf(owners)).owners, owners);
  t.is([...queuesOf(owners)].length, queues.length);
});

test('queue owners: what is stored is bounded, however long names are and however many there are', (t) => {
  const many = Array.from({ length: 1_000 }, (_, i) => queue('G', 'a', 'T', i));
  const few = ownersOf(many, 700);
  const stored = few.owners.get('G')?.get('a')?.get('T')?.length ?? 0;
  t.is(stored + few.leftOutCount, 1_000);
  t.true(stored > 50 && JSON.stringify([...(few.owners.get('G')?.get('a')?.values() ?? [])]).length < 700, String(stored));
  const long = Array.from({ length: 100 }, (_, i) => queue(`g${i}`.padEnd(100, 'x'), 'c'.repeat(1_000), `t${i}`, 0));
  const { owners, leftOutCount } = ownersOf(long, 10_000);
  t.is(owners.size + leftOutCount, 100);
  t.is(owners.size, 8);
});
