// Where the log ended when topics were removed: kept as long as the log has something of them, and within a limit.
import test from 'ava';
import { RemovedTopics } from '../../src/core/removed-topics.ts';

test('removed topics: a topic counts from where it was removed, and from where it was made again', (t) => {
  const removed = new RemovedTopics();
  t.is(removed.from('T'), 0);
  removed.madeAgain('T', 50, 0);
  t.is(removed.from('T'), 0, 'it was never removed');
  t.false(removed.dirty);
  removed.note('T', 100, 0);
  t.is(removed.from('T'), 100);
  removed.madeAgain('T', 130, 0);
  t.is(removed.from('T'), 130);
  t.true(removed.dirty);
});

test('removed topics: what the log has forgotten is forgotten', (t) => {
  const removed = new RemovedTopics();
  removed.note('A', 100, 0);
  removed.note('B', 200, 0);
  removed.note('C', 300, 150);
  t.deepEqual([...removed.positions.keys()], ['B', 'C']);
});

test('removed topics: beyond the limit those removed first are forgotten', (t) => {
  const removed = new RemovedTopics(2);
  removed.load(new Map([['A', 10]]));
  removed.note('B', 20, 0);
  removed.note('A', 30, 0);
  removed.note('C', 40, 0);
  t.deepEqual(
    [...removed.positions],
    [
      ['A', 30],
      ['C', 40],
    ],
  );
});
