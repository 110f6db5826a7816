// The clock by which files age: what a wall clock that jumps can and cannot do to it.
import test from 'ava';
import fc from 'fast-check';
import { AgeClock } from '../../src/core/age-clock.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const YEARS_MS = 25 * 365 * DAY_MS;
const START_MS = 1_700_000_000_000;

test('age clock: it is the wall clock while that goes as time does', (t) => {
  const clock = new AgeClock(START_MS, 500, 72 * HOUR_MS);
  t.is(clock.advance(START_MS, 500), START_MS);
  t.is(clock.advance(START_MS + 10, 510), START_MS + 10);
  t.is(clock.advance(START_MS + DAY_MS, 500 + DAY_MS), START_MS + DAY_MS);
  t.is(clock.lagMs(START_MS + DAY_MS), 0);
});

test('age clock: 25 years ahead count at twice the speed until they have stood for the time of patience (BR-62)', (t) => {
  const clock = new AgeClock(START_MS, 0, 72 * HOUR_MS);
  for (let hour = 1; hour < 72; hour++) {
    t.is(clock.advance(START_MS + YEARS_MS + hour * HOUR_MS, hour * HOUR_MS), START_MS + 2 * hour * HOUR_MS);
  }
  t.is(clock.advance(START_MS + YEARS_MS, 72 * HOUR_MS), START_MS + YEARS_MS);
});

test('age clock: a wrong future that ends leaves nothing behind (BR-62)', (t) => {
  const clock = new AgeClock(START_MS, 0, 72 * HOUR_MS);
  clock.advance(START_MS + YEARS_MS, HOUR_MS);
  t.is(clock.advance(START_MS + HOUR_MS, HOUR_MS), START_MS + HOUR_MS);
  t.is(clock.advance(START_MS + 2 * HOUR_MS, 2 * HOUR_MS), START_MS + 2 * HOUR_MS);
});

test('age clock: steps of an hour to and fro are made up for within the hour', (t) => {
  const clock = new AgeClock(START_MS, 0, 72 * HOUR_MS);
  t.is(clock.advance(START_MS + HOUR_MS + 60_000, 60_000), START_MS + 120_000);
  t.is(clock.advance(START_MS + 2 * HOUR_MS + 60_000, HOUR_MS + 60_000), START_MS + 2 * HOUR_MS + 60_000);
  t.is(clock.advance(START_MS, HOUR_MS + 60_000), START_MS);
});

test('age clock: without patience it is the wall clock', (t) => {
  const clock = new AgeClock(START_MS, 0, 0);
  t.is(clock.advance(START_MS + YEARS_MS, 1), START_MS + YEARS_MS);
});

test('age clock: never ahead of the wall clock, never faster than twice, and right in the end', (t) => {
  const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: HOUR_MS }), fc.integer({ min: -DAY_MS, max: DAY_MS })), { maxLength: 40 });
  fc.assert(
    fc.property(steps, (moves) => {
      const clock = new AgeClock(START_MS, 0, 72 * HOUR_MS);
      let [wallMs, steadyMs] = [START_MS, 0];
      for (const [passedMs, jumpMs] of moves) {
        const beforeMs = clock.valueMs;
        steadyMs += passedMs;
        wallMs += passedMs + jumpMs;
        const valueMs = clock.advance(wallMs, steadyMs);
        t.true(valueMs <= wallMs);
        t.true(valueMs <= beforeMs + 2 * passedMs || steadyMs >= 72 * HOUR_MS);
      }
      t.is(clock.advance(wallMs + 72 * HOUR_MS, steadyMs + 72 * HOUR_MS), wallMs + 72 * HOUR_MS);
    }),
  );
});
