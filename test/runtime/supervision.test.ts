// What failures lead to: replaced with growing pauses, together with its kind, or the end of the broker.
import test from 'ava';
import { Directives, FailureWindow, type SupervisionRule } from '../../src/runtime/supervision.ts';

const rule: SupervisionRule = { onFailure: Directives.restart, failureCountMax: 4, windowMs: 60_000, delayMsMin: 50, delayMsMax: 300 };

test('supervision: each further failure waits twice as long, up to a limit, until there are too many', (t) => {
  const window = new FailureWindow(rule);
  const decisions = [0, 1, 2, 3, 4].map((ms) => window.decide(ms));
  t.deepEqual(decisions, [
    { directive: 'restart', delayMs: 50 },
    { directive: 'restart', delayMs: 100 },
    { directive: 'restart', delayMs: 200 },
    { directive: 'restart', delayMs: 300 },
    { directive: 'stop-broker', delayMs: 0 },
  ]);
});

test('supervision: failures older than the window count no more', (t) => {
  const window = new FailureWindow(rule);
  for (let ms = 0; ms < 100 * 20_000; ms += 20_000) {
    const { directive, delayMs } = window.decide(ms);
    t.is(directive, 'restart');
    t.true(delayMs <= 200);
  }
  t.deepEqual(window.decide(10_000_000), { directive: 'restart', delayMs: 50 });
});

test('supervision: exactly at its end the window has passed', (t) => {
  const window = new FailureWindow(rule);
  window.decide(0);
  t.is(window.decide(59_999).delayMs, 100);
  const other = new FailureWindow(rule);
  other.decide(0);
  t.is(other.decide(60_000).delayMs, 50);
});

test('supervision: a kind that must not fail ends the broker at once, a group goes together', (t) => {
  t.deepEqual(new FailureWindow({ ...rule, onFailure: Directives.stopBroker }).decide(0), { directive: 'stop-broker', delayMs: 0 });
  t.deepEqual(new FailureWindow({ ...rule, onFailure: Directives.restartGroup }).decide(0), { directive: 'restart-group', delayMs: 50 });
});
