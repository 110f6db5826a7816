// Which tries were sent back already, and for how long that is known.
import test from 'ava';
import { SendBackMemory } from '../../src/core/send-back-memory.ts';

test('send-back memory: one try is taken once while its copy waits, and again after it', (t) => {
  const memory = new SendBackMemory();
  t.is(memory.look('G', 100, 0), 'new');
  memory.begin('G', 100);
  t.is(memory.look('G', 100, 1), 'underWay');
  memory.end('G', 100, 10_005, 5);
  t.is(memory.look('G', 100, 10_004), 'stored');
  t.is(memory.look('H', 100, 10_004), 'new', 'another group');
  t.is(memory.look('G', 101, 10_004), 'new', 'another try');
  t.is(memory.look('G', 100, 10_005), 'new', 'its copy was given out: what fails now may be what was read again after a reset');
  t.is(memory.size, 0);
});

test('send-back memory: what was not stored may be sent again at once', (t) => {
  const memory = new SendBackMemory();
  memory.begin('G', 1);
  memory.end('G', 1, 0, 5);
  t.is(memory.look('G', 1, 5), 'new');
});

test('send-back memory: it stays small, and forgets nothing that is under way', (t) => {
  const memory = new SendBackMemory(10);
  memory.begin('G', 0);
  for (let position = 1; position <= 1_000; position++) {
    memory.begin('G', position);
    memory.end('G', position, 10_000_000, position);
  }
  t.true(memory.size <= 11, `${memory.size}`);
  t.is(memory.look('G', 0, 2_000), 'underWay');
  t.is(memory.look('G', 1_000, 2_000), 'stored');
  memory.begin('G', 2_000);
  memory.end('G', 2_000, 30_000_000, 20_000_000);
  t.is(memory.size, 2, 'those whose time is over are gone');
});
