// Checks what `auto`, numbers and ratios per core come to.
import test from 'ava';
import { resolveCount } from '../../src/config/count.ts';

test('count: auto is a share of the cores, at least one', (t) => {
  t.is(resolveCount('auto', 8), 4);
  t.is(resolveCount('auto', 1), 1);
  t.is(resolveCount('auto', 8, 0.25), 2);
});

test('count: a number is taken as it is', (t) => {
  t.is(resolveCount('1', 64), 1);
  t.is(resolveCount('12', 2), 12);
});

test('count: a ratio per core is rounded, at least one', (t) => {
  t.is(resolveCount('0.5x', 8), 4);
  t.is(resolveCount('2x', 3), 6);
  t.is(resolveCount('.25x', 2), 1);
  t.is(resolveCount('0.001x', 2), 1);
});

test('count: anything else is refused', (t) => {
  for (const text of ['', '0', '-1', '1.5', 'x', 'many', '0.5 x']) t.throws(() => resolveCount(text, 4), { message: /must be "auto"/ });
});
