// Versions compared as 64-bit numbers although they are text, and the shapes that tell members apart.

import test from 'ava';
import fc from 'fast-check';
import { compareVersions, mergeSubscription, type Subscription, shapeOf } from '../../src/core/subscription.ts';

const of = (topic: string, expression: string, version = '1', type = 'TAG'): Subscription => ({
  topic,
  expression,
  type,
  tags: [],
  codes: [],
  version,
  classFilter: false,
});

test('subscription: versions compare as 64-bit integers', (t) => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (a, b) => {
      const order = compareVersions(a.toString(), b.toString());
      return Math.sign(order) === (a < b ? -1 : a > b ? 1 : 0);
    }),
  );
  t.true(compareVersions('1700000000000000001', '1700000000000000000') > 0, 'beyond 2^53');
  t.is(compareVersions('007', '7'), 0);
  t.is(compareVersions('-0', '0') < 1, true);
});

test('subscription: the larger version stays, an equal one changes nothing', (t) => {
  const table = new Map<string, Subscription>();
  t.true(mergeSubscription(table, of('T', 'A', '5')));
  t.false(mergeSubscription(table, of('T', 'B', '5')));
  t.false(mergeSubscription(table, of('T', 'B', '4')));
  t.is(table.get('T')?.expression, 'A');
  t.true(mergeSubscription(table, of('T', 'B', '10')));
  t.is(table.get('T')?.expression, 'B');
});

test('subscription: order of topics and tags makes no difference, versions neither', (t) => {
  t.is(shapeOf([of('T', 'A || B', '1'), of('U', '*')]), shapeOf([of('U', '', '7'), of('T', 'B||A', '2')]));
  t.not(shapeOf([of('T', 'A')]), shapeOf([of('T', 'B')]));
  t.not(shapeOf([of('T', 'a > 1', '1', 'SQL92')]), shapeOf([of('T', 'a > 1')]));
  t.not(shapeOf([of('T', '*', '1', 'SQL92')]), shapeOf([of('T', '*')]), 'a star is SQL for something else');
});
