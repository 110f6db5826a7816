// What becomes of messages that could not be handled.
import test from 'ava';
import { DEAD_LETTER, isOrdered, isPastRetries, retryLimit, sendBackLevel } from '../../src/core/retries.ts';

test('retries: with the defaults, sixteen tries at growing levels, then dead', (t) => {
  const limit = retryLimit(16, undefined, 477);
  const levels = Array.from({ length: 17 }, (_, times) => sendBackLevel(times, 0, limit, 18));
  t.deepEqual(levels, [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, DEAD_LETTER]);
});

test('retries: a level asked for counts, up to the highest there is; below 0 it is dead at once', (t) => {
  t.is(sendBackLevel(0, 1, 16, 18), 1);
  t.is(sendBackLevel(5, 18, 16, 18), 18);
  t.is(sendBackLevel(0, 99, 16, 18), 18);
  t.is(sendBackLevel(0, -1, 16, 18), DEAD_LETTER);
  t.is(sendBackLevel(2, 18, 2, 18), DEAD_LETTER, 'the limit comes first (BR-35)');
  t.is(sendBackLevel(40, 0, 100, 18), 18, 'more tries than levels');
  t.is(sendBackLevel(0, 0, 0, 18), DEAD_LETTER);
  t.is(sendBackLevel(0, 0, 16, 2), 2, 'a short list of levels');
});

test('retries: the limit of the request counts from 3.4.9 on, and where it says one', (t) => {
  t.is(retryLimit(16, 2, 121), 2);
  t.is(retryLimit(16, 2, 120), 16);
  t.is(retryLimit(16, undefined, 477), 16);
  t.is(retryLimit(16, -1, 477), 16);
  t.is(retryLimit(16, 0, 477), 0);
});

test('retries: a send counts its own try, a send-back does not: both allow the same number', (t) => {
  const limit = 16;
  const sentBack = Array.from({ length: 30 }, (_, times) => times).filter((times) => sendBackLevel(times, 0, limit, 18) !== DEAD_LETTER);
  const sent = Array.from({ length: 30 }, (_, times) => times).filter((times) => !isPastRetries(times + 1, limit));
  t.deepEqual(sent, sentBack);
});

test('retries: a group is ordered on the topics that it has locked, and on no other', (t) => {
  t.true(isOrdered(['A', 'B'], 'G', 'B'));
  t.false(isOrdered(['A'], 'G', 'B'));
  t.false(isOrdered(['A'], 'G', undefined));
  t.false(isOrdered([], 'G', 'A'));
});

test('retries: consumers in a namespace show their topic without it', (t) => {
  t.true(isOrdered(['NS%A', '%RETRY%NS%G'], 'NS%G', 'A'));
  t.true(isOrdered(['NS%A'], 'NS%G', 'NS%A'));
  t.false(isOrdered(['NS%A'], 'OTHER%G', 'A'));
  t.false(isOrdered(['NS%A'], 'G', 'A'));
  t.false(isOrdered(['%RETRY%NS%G'], 'NS%G', 'G'));
});
