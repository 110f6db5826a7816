// Unique keys that the broker makes.
import test from 'ava';
import { newUniqueKey } from '../../src/base/id.ts';

test('id: keys are 32 upper-case hex digits, and no two of many are alike, whatever clock, process or worker (BR-48)', (t) => {
  const keys = new Set<string>();
  const count = 100_000;
  for (let i = 0; i < count; i++) keys.add(newUniqueKey());
  t.is(keys.size, count);
  t.true([...keys].every((key) => /^[0-9A-F]{32}$/.test(key)));
  // Random in all places: nothing of it is a time, an address or a count.
  for (let place = 0; place < 32; place++) t.is(new Set([...keys].map((key) => key[place])).size, 16);
});
