// Counters: the table is complete, and blocks of different actors are apart.
import test from 'ava';
import { CounterIds, Counters, counterRows, countersMemorySize } from '../../src/runtime/counters.ts';

test('counters: what one actor adds and sets is read by others, and each actor has its own block', (t) => {
  const memory = new SharedArrayBuffer(countersMemorySize(2));
  const first = new Counters(memory, 0);
  const second = new Counters(memory, 1);
  first.add(CounterIds.work, 3);
  first.add(CounterIds.work, 2 ** 40);
  first.set(CounterIds.connections, 5);
  first.set(CounterIds.connections, 4);
  second.add(CounterIds.busyMs, 0.25);
  const display = new Counters(memory, 0);
  t.is(display.get(CounterIds.work), 2 ** 40 + 3);
  t.is(display.get(CounterIds.connections), 4);
  t.is(display.get(CounterIds.busyMs), 0);
  t.is(second.get(CounterIds.busyMs), 0.25);
  t.throws(() => new Counters(memory, 2), { message: /out of range/ });
});

test('counters: the table has a row for every id, with a label of its own', (t) => {
  t.deepEqual(
    counterRows.map((row) => [row.label, row.id]),
    Object.entries(CounterIds),
  );
  t.is(new Set(counterRows.map((row) => row.label)).size, counterRows.length);
  t.true(counterRows.every((row) => row.help !== ''));
});
