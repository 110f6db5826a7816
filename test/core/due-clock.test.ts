// By which time waiting messages come due when the wall clock is set forward or back.
import test from 'ava';
import { FakeClock } from '../../src/base/clock.ts';
import { DueClock, steadyLimitMs } from '../../src/core/due-clock.ts';

const HOUR_MS = 3_600_000;

/** A look a second for so long, at a log that ends there. */
function pass(due: DueClock, clock: FakeClock, seconds: number, position: number): void {
  due.look(clock.wallMs(), clock.steadyMs(), position);
  for (let i = 0; i < seconds; i++) {
    clock.advance(1_000);
    due.look(clock.wallMs(), clock.steadyMs(), position);
  }
}

test('due clock: it is the wall clock while that runs as it should, and when it is set forward', (t) => {
  const clock = new FakeClock();
  const due = new DueClock();
  pass(due, clock, 5, 100);
  t.is(due.nowFor(0), clock.wallMs());
  clock.stepWall(HOUR_MS);
  pass(due, clock, 1, 100);
  t.is(due.nowFor(0), clock.wallMs());
});

test('due clock: what was stored before a step back goes on by the former time, later records by the wall clock (BR-32)', (t) => {
  const clock = new FakeClock();
  const due = new DueClock();
  pass(due, clock, 5, 100);
  clock.stepWall(-HOUR_MS);
  pass(due, clock, 3, 200);
  t.is(due.nowFor(99), clock.wallMs() + HOUR_MS);
  t.is(due.nowFor(100), clock.wallMs());
  clock.stepWall(HOUR_MS);
  pass(due, clock, 1, 300);
  t.is(due.nowFor(99), clock.wallMs());
});

test('due clock: after two steps back nothing comes early', (t) => {
  const clock = new FakeClock();
  const due = new DueClock();
  pass(due, clock, 1, 100);
  clock.stepWall(-HOUR_MS);
  pass(due, clock, 1, 200);
  clock.stepWall(-HOUR_MS);
  pass(due, clock, 1, 300);
  t.is(due.nowFor(99), clock.wallMs() + 2 * HOUR_MS);
  t.is(due.nowFor(150), clock.wallMs());
});

test('due clock: a clock that is slewed is followed', (t) => {
  const clock = new FakeClock();
  const due = new DueClock();
  for (let i = 0; i < 100; i++) {
    clock.stepWall(-2);
    pass(due, clock, 1, 100);
  }
  t.is(due.nowFor(0), clock.wallMs());
});

test('due clock: only a message from the future has a steady limit: its delay from when it was seen', (t) => {
  t.is(steadyLimitMs(2_000, 1_000, 1_000, 50), Number.POSITIVE_INFINITY);
  t.is(steadyLimitMs(2_001, 1_000, 1_000, 50), 1_050);
});
