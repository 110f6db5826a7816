// The queue against a plain array, over lengths at which it drops what has left.
import test from 'ava';
import { SeededRandom } from '../../src/base/random.ts';
import { Fifo } from '../../src/runtime/fifo.ts';

test('fifo: gives back what came in, in order', (t) => {
  const random = new SeededRandom(1);
  const fifo = new Fifo<number>();
  const model: number[] = [];
  let next = 0;
  for (let round = 0; round < 60; round++) {
    for (let i = random.below(3000); i > 0; i--) {
      fifo.push(next);
      model.push(next++);
    }
    for (let i = random.below(3000); i > 0; i--) {
      if (fifo.peek() !== model[0] || fifo.shift() !== model.shift()) t.fail(`round ${round}`);
    }
    t.is(fifo.count, model.length);
  }
  fifo.clear();
  t.is(fifo.count, 0);
  t.is(fifo.peek(), undefined);
  t.is(fifo.shift(), undefined);
  fifo.push(1);
  t.is(fifo.shift(), 1);
});
