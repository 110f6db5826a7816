// The registration at one name server, step by step.
import test from 'ava';
import { NameServerState } from '../../src/core/name-server-state.ts';

function opened(): NameServerState {
  const state = new NameServerState(30_000, 0);
  state.step(0);
  state.onOpen(0);
  return state;
}

test('name server: connect, register, wait for the period', (t) => {
  const state = new NameServerState(30_000, 5);
  t.is(state.step(4), 'none');
  t.is(state.step(5), 'connect');
  t.is(state.step(5), 'none', 'one attempt at a time');
  t.is(state.nextMs(), Number.POSITIVE_INFINITY);
  state.onOpen(7);
  t.is(state.step(7), 'register');
  state.onSent(1, 7);
  t.is(state.nextMs(), 3007);
  t.false(state.isCurrent);
  t.false(state.onAnswer(2, true, 8), 'an answer to something else');
  t.true(state.onAnswer(1, true, 8));
  t.true(state.isCurrent && state.registeredOnce);
  t.is(state.nextMs(), 30_008);
  t.is(state.step(30_008), 'register');
});

test('name server: a change while one is under way is told after it', (t) => {
  const state = opened();
  state.step(0);
  state.onSent(1, 0);
  state.onChange(10);
  t.is(state.step(10), 'none');
  state.onAnswer(1, true, 20);
  t.false(state.isCurrent);
  t.is(state.step(20), 'register');
  state.onSent(2, 20);
  state.onAnswer(2, true, 21);
  t.true(state.isCurrent);
  state.onChange(50);
  t.is(state.nextMs(), 50);
});

test('name server: silence and refusals are met with growing pauses, success ends them', (t) => {
  const state = opened();
  state.onSent(1, 0);
  t.is(state.step(2999), 'none');
  t.is(state.step(3000), 'none');
  t.is(state.nextMs(), 3200);
  t.is(state.step(3200), 'register');
  state.onSent(2, 3200);
  state.onAnswer(2, false, 3300);
  t.is(state.nextMs(), 3700);
  state.onSent(3, 3700);
  state.onAnswer(3, true, 3700);
  state.onClosed(4000);
  t.is(state.nextMs(), 4200);
  t.is(state.step(4200), 'connect');
  t.true(state.registeredOnce);
});

test('name server: an answer after the connection was lost counts for nothing', (t) => {
  const state = opened();
  state.onSent(1, 0);
  state.onClosed(1);
  t.false(state.onAnswer(1, true, 2));
  t.false(state.registeredOnce);
});
