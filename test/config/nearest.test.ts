// Checks the distance between names and the choice of the nearest.
import test from 'ava';
import fc from 'fast-check';
import { editDistance, nearestName } from '../../src/config/nearest.ts';

test('nearest: distances of known pairs', (t) => {
  t.is(editDistance('abc', 'abc', 9), 0);
  t.is(editDistance('abc', 'acb', 9), 1);
  t.is(editDistance('abc', 'abcd', 9), 1);
  t.is(editDistance('kitten', 'sitting', 9), 3);
  t.is(editDistance('', 'abc', 9), 3);
});

test('nearest: a distance is symmetric and zero only for equal texts', (t) => {
  const word = fc.string({ maxLength: 8 });
  fc.assert(
    fc.property(word, word, (a, b) => {
      const distance = editDistance(a, b, 99);
      return distance === editDistance(b, a, 99) && (distance === 0) === (a === b);
    }),
  );
  t.pass();
});

test('nearest: case does not count, and far names are not offered', (t) => {
  const names = ['listenPort', 'brokerName', 'brokerIP1'];
  t.is(nearestName('LISTENPORT', names), 'listenPort');
  t.is(nearestName('brokerIp', names), 'brokerIP1');
  t.is(nearestName('whatever', names), undefined);
});
