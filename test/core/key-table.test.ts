// Keys of queues: dense, never two for one queue, never one for two.

import test from 'ava';
import fc from 'fast-check';
import { KeyTable } from '../../src/core/key-table.ts';

test('key table: keys are dense, and a topic that grows keeps those it has', (t) => {
  const table = new KeyTable([], 0, 100);
  t.deepEqual(table.extend('A', 2), [
    { key: 0, topic: 'A', queueId: 0 },
    { key: 1, topic: 'A', queueId: 1 },
  ]);
  table.extend('B', 1);
  t.deepEqual(table.extend('A', 3), [{ key: 3, topic: 'A', queueId: 2 }]);
  t.deepEqual(table.keysOf('A', 3), [0, 1, 3]);
  t.deepEqual(table.extend('A', 1), []);
  t.is(table.nextKey, 4);
});

test('key table: holes that the store left are filled, what it had stays', (t) => {
  const table = new KeyTable([{ key: 5, topic: 'A', queueId: 2 }], 6, 100);
  t.is(table.keyOf('A', 0), -1);
  t.is(table.missing('A', 3), 2);
  table.extend('A', 3);
  t.deepEqual(table.keysOf('A', 3), [6, 7, 5]);
});

test('key table: a removed topic gives its keys back to nobody', (t) => {
  const table = new KeyTable([], 0, 100);
  table.extend('A', 2);
  t.deepEqual(table.remove('A'), [0, 1]);
  t.deepEqual(table.remove('A'), []);
  t.is(table.keyOf('A', 0), -1);
  table.extend('A', 2);
  t.deepEqual(table.keysOf('A', 2), [2, 3]);
});

test('key table: the room shrinks with every key ever given out', (t) => {
  const table = new KeyTable([], 0, 3);
  table.extend('A', 2);
  table.remove('A');
  t.is(table.room, 1);
  t.throws(() => table.extend('B', 2), { message: /no room/ });
});

test('key table: whatever happens, no key has two owners', (t) => {
  const step = fc.record({ topic: fc.constantFrom('A', 'B', 'C'), count: fc.integer({ min: 0, max: 6 }), remove: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const table = new KeyTable([], 0, 10_000);
      const given = new Set<number>();
      for (const { topic, count, remove } of steps) {
        if (remove) table.remove(topic);
        for (const { key } of table.extend(topic, count)) {
          if (given.has(key)) return false;
          given.add(key);
        }
      }
      return given.size === table.nextKey;
    }),
  );
  t.pass();
});
