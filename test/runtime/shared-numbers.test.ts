// Shared numbers: any safe integer comes back, and never torn between two threads.
import test from 'ava';
import fc from 'fast-check';
import { SharedNumbers, sharedNumbersMemorySize } from '../../src/runtime/shared-numbers.ts';
import { runWorker } from './threads.ts';

test('shared numbers: any safe integer comes back, in any order', (t) => {
  const numbers = new SharedNumbers(new SharedArrayBuffer(sharedNumbersMemorySize(2)));
  const edges = [0, -1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, -(2 ** 32), Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 2 ** 32 - 1, 0];
  for (const value of edges) {
    numbers.set(1, value);
    t.is(numbers.get(1), value);
  }
  fc.assert(
    fc.property(fc.maxSafeInteger(), (value) => {
      numbers.set(0, value);
      return numbers.get(0) === (value === 0 ? 0 : value);
    }),
  );
  t.is(numbers.get(1), 0);
});

test('shared numbers: slots are apart, and a part of the memory can be used', (t) => {
  const memory = new SharedArrayBuffer(sharedNumbersMemorySize(4));
  const all = new SharedNumbers(memory);
  const part = new SharedNumbers(memory, 2, 2);
  t.is(all.slotCount, 4);
  part.set(0, 2 ** 40 + 1);
  part.set(1, 7);
  t.deepEqual(
    [0, 1, 2, 3].map((slot) => all.get(slot)),
    [0, 0, 2 ** 40 + 1, 7],
  );
  t.throws(() => new SharedNumbers(memory, 3, 2), { message: /out of range/ });
  t.throws(() => part.set(0, 1.5), { message: /safe integer/ });
  t.throws(() => part.set(0, 2 ** 53), { message: /safe integer/ });
});

test.serial('shared numbers: two threads, values that grow, shrink and come back are never torn', async (t) => {
  const task = { memory: new SharedArrayBuffer(sharedNumbersMemorySize(4)), flags: new SharedArrayBuffer(8), count: 3_000_000 };
  const writer = runWorker(t, './marks-worker.js', import.meta.url, { ...task, role: 'numbers-write' });
  const reader = runWorker<{ failure: string; reads: number }>(t, './marks-worker.js', import.meta.url, { ...task, role: 'numbers-read' });
  const { failure, reads } = await reader;
  t.is(failure, '');
  t.true(reads > 1000);
  t.log(`${reads} reads`);
  await writer;
});
