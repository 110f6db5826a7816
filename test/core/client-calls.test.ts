// Calls to clients: each ends once, by whatever comes first.
import test from 'ava';
import { SeededRandom } from '../../src/base/random.ts';
import { ClientCalls } from '../../src/core/client-calls.ts';

test('client calls: an answer ends a call once, and only over the connection that was asked', (t) => {
  const calls = new ClientCalls<string>(10);
  const opaque = calls.open(7, 100, 'a');
  t.is(calls.answered(8, opaque), undefined, 'another connection');
  t.is(calls.answered(7, opaque + 1), undefined, 'nothing was asked under this number');
  t.is(calls.answered(7, opaque), 'a');
  t.is(calls.answered(7, opaque), undefined, 'a second answer');
  t.deepEqual(calls.takeExpired(1000), []);
  t.is(calls.size, 0);
  t.is(calls.nextMs(), Number.POSITIVE_INFINITY);
});

test('client calls: time and a closing connection end them; what comes later finds nothing', (t) => {
  const calls = new ClientCalls<string>(10);
  const slow = calls.open(1, 100, 'slow');
  const gone = calls.open(2, 50, 'gone');
  calls.open(1, 70, 'slower');
  t.is(calls.nextMs(), 50);
  t.deepEqual(calls.linkClosed(2), ['gone']);
  t.is(calls.answered(2, gone), undefined);
  t.deepEqual(calls.takeExpired(69), []);
  t.deepEqual(calls.takeExpired(70), ['slower']);
  t.is(calls.nextMs(), 100);
  t.deepEqual(calls.takeExpired(100), ['slow']);
  t.is(calls.answered(1, slow), undefined, 'too late');
  t.deepEqual(calls.linkClosed(1), []);
});

test('client calls: no more than the limit are under way', (t) => {
  const calls = new ClientCalls<number>(2);
  const first = calls.open(1, 10, 1);
  t.true(calls.open(1, 10, 2) >= 0);
  t.is(calls.open(1, 10, 3), -1);
  calls.answered(1, first);
  t.true(calls.open(1, 10, 3) >= 0);
});

test('client calls: whatever the order of answers, closings and time, each call ends exactly once (BR-50)', (t) => {
  const random = new SeededRandom(5);
  const calls = new ClientCalls<number>(1000);
  const ended = new Map<number, number>();
  const open: { opaque: number; link: number }[] = [];
  const end = (waiter: number | undefined): void => {
    if (waiter !== undefined) ended.set(waiter, (ended.get(waiter) ?? 0) + 1);
  };
  let opened = 0;
  for (let now = 0; now < 20_000; now++) {
    const link = random.below(5);
    const opaque = calls.open(link, now + random.below(20), opened);
    if (opaque >= 0) {
      opened++;
      open.push({ opaque, link });
    }
    const call = open[random.below(open.length)];
    if (call !== undefined) for (let i = random.below(3); i > 0; i--) end(calls.answered(call.link, call.opaque));
    if (random.below(50) === 0) for (const waiter of calls.linkClosed(link)) end(waiter);
    for (const waiter of calls.takeExpired(now)) end(waiter);
  }
  for (const waiter of calls.takeExpired(Number.MAX_SAFE_INTEGER)) end(waiter);
  t.is(ended.size, opened);
  t.true([...ended.values()].every((count) => count === 1));
  t.is(calls.size, 0);
});
