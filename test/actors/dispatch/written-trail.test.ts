// The trail of what is in files: it follows the oldest unit that is not, and never goes back.
import test from 'ava';
import { WrittenTrail } from '../../../src/actors/dispatch/written-trail.ts';

test('written trail: it stands at the newest note in front of the oldest unwritten unit', (t) => {
  const trail = new WrittenTrail(100);
  trail.note(200, 180, 1_000);
  trail.note(300, 280, 2_000);
  trail.note(400, 380, 3_000);
  trail.advance(150);
  t.like(trail, { end: 100, position: 0, timeMs: 0 });
  trail.advance(300);
  t.like(trail, { end: 300, position: 280, timeMs: 2_000 });
  trail.advance(250);
  t.is(trail.end, 300);
  trail.advance(399);
  t.is(trail.end, 300);
  trail.advance(Number.POSITIVE_INFINITY);
  t.like(trail, { end: 400, position: 380, timeMs: 3_000 });
});

test('written trail: standing still makes no notes, and before the first record there is no time', (t) => {
  const trail = new WrittenTrail(0);
  for (let i = 0; i < 5_000; i++) trail.note(100, 90, 10);
  trail.note(200, 0, 0);
  trail.advance(150);
  t.like(trail, { end: 100, position: 90, timeMs: 10 });
  trail.advance(1_000);
  t.like(trail, { end: 200, position: 90, timeMs: 10 });
});

test('written trail: a queue that is never written does not make it grow for ever', (t) => {
  const trail = new WrittenTrail(0);
  for (let i = 1; i <= 100_000; i++) trail.note(i, i - 1, i);
  trail.advance(500);
  t.is(trail.end, 500);
  trail.advance(Number.POSITIVE_INFINITY);
  t.true(trail.end < 100_000);
  trail.note(200_000, 199_999, 1);
  trail.advance(Number.POSITIVE_INFINITY);
  t.is(trail.end, 200_000);
});
