// A level's queue on its way out: order, failures, and which position may be written down.
import test from 'ava';
import { DelayLine, type WaitingMessage } from '../../../src/actors/scheduler/delay-line.ts';

const SIZE = 10;

function lineOf(count: number, to = Number.POSITIVE_INFINITY, from = 0): DelayLine {
  const line = new DelayLine(3, 7, { from: 0, to, delayMs: 10_000 }, from);
  for (let i = 0; i < count; i++) line.fetched(from + i, (from + i) * SIZE, SIZE, 5);
  return line;
}

/** It is stored again by a record that ends there. */
function stored(line: DelayLine, message: WaitingMessage, logEnd: number): void {
  line.stored(message, logEnd - SIZE, SIZE);
}

/** Sends whatever can be sent. */
function sendAll(line: DelayLine, nowMs = 0): WaitingMessage[] {
  const sent: WaitingMessage[] = [];
  for (let message = line.head(nowMs); message !== undefined; message = line.head(nowMs)) {
    line.sent(message);
    sent.push(message);
  }
  return sent;
}

test('delay line: messages go out in order, the position follows what came back', (t) => {
  const line = lineOf(3);
  const [a, b, c] = sendAll(line) as [WaitingMessage, WaitingMessage, WaitingMessage];
  t.deepEqual([a.offset, b.offset, c.offset], [0, 1, 2]);
  t.is(line.position, 0);
  stored(line, a, 100);
  t.is(line.position, 1);
  stored(line, b, 200);
  stored(line, c, 300);
  t.is(line.position, 3);
});

test('delay line: what failed goes again, alone and in order, before anything newer (BR-30)', (t) => {
  const line = lineOf(5);
  const sent = sendAll(line);
  stored(line, sent[0] as WaitingMessage, 100);
  line.failed(sent[1] as WaitingMessage, 1_000);
  line.failed(sent[2] as WaitingMessage, 1_000);
  t.is(line.head(2_000), undefined, 'two are still under way');
  stored(line, sent[3] as WaitingMessage, 200);
  stored(line, sent[4] as WaitingMessage, 300);
  t.is(line.head(999), undefined, 'not before its time');
  t.is(line.position, 1);
  const again = sendAll(line, 1_000);
  t.deepEqual(
    again.map((message) => message.offset),
    [1, 2],
  );
  for (const message of again) stored(line, message, 400);
  t.is(line.position, 5);
});

test('delay line: a position is durable only as far as the log is synced behind the deliveries', (t) => {
  const line = lineOf(3);
  const [a, b, c] = sendAll(line) as [WaitingMessage, WaitingMessage, WaitingMessage];
  stored(line, a, 100);
  stored(line, b, 200);
  t.false(line.settle(99));
  t.is(line.durable, 0);
  t.false(line.settle(150));
  t.is(line.durable, 1);
  stored(line, c, 300);
  t.true(line.settle(300));
  t.is(line.durable, 3);
});

test('delay line: of many deliveries that are not synced the marks stay few and true', (t) => {
  const count = 3_000;
  const line = lineOf(count);
  for (const message of sendAll(line)) stored(line, message, (message.offset + 1) * 10);
  t.false(line.settle(5_000));
  t.true(line.durable <= 500);
  t.true(line.settle(count * 10));
  t.is(line.durable, count);
});

test('delay line: it ends where its span does, and asks for no more', (t) => {
  const line = lineOf(4, 2);
  t.is(line.askFrom(0), -1);
  const sent = sendAll(line);
  t.is(sent.length, 2);
  t.false(line.isFinished);
  for (const message of sent) stored(line, message, 10);
  t.true(line.isFinished);
  t.is(line.position, 2);
});

test('delay line: it asks again at once after messages, later after none, and not while a pull is open', (t) => {
  const line = lineOf(0);
  t.is(line.askFrom(0), 0);
  line.asked = true;
  t.is(line.askFrom(0), -1);
  line.nothing(0, 50);
  t.is(line.askFrom(149), -1);
  t.is(line.askAtMs, 150);
  t.is(line.askFrom(150), 0);
  line.asked = true;
  line.fetched(0, 0, SIZE, 160);
  line.answered(1);
  t.is(line.askFrom(160), 1);
  t.is(line.askAtMs, Number.POSITIVE_INFINITY);
  line.asked = true;
  line.nothing(9, 170);
  t.is(line.askFrom(170), 9, 'what is between was deleted');
  t.is(line.position, 0, 'the one before it still waits');
});

test('delay line: it knows only so many ahead', (t) => {
  const line = lineOf(256);
  t.is(line.askFrom(0), -1);
  line.head(0);
  sendAll(line);
  t.is(line.askFrom(0), 256);
});

test('delay line: what may be noted is what came back without a gap, with the last record that it rests on', (t) => {
  const line = lineOf(4);
  t.is(line.deliveredTo, -1);
  const [a, b, c, d] = sendAll(line) as [WaitingMessage, WaitingMessage, WaitingMessage, WaitingMessage];
  stored(line, b, 200);
  t.is(line.deliveredTo, -1, 'the one before it is under way');
  stored(line, a, 100);
  t.deepEqual([line.deliveredTo, line.recordAt, line.recordEnd], [2, 200 - SIZE, 200]);
  stored(line, c, 300);
  line.answered(9);
  stored(line, d, 400);
  t.is(line.deliveredTo, 4, 'what the queue skips behind the last is none of it');
  t.is(line.position, 9);
});

test('delay line: a message that is dropped rests on its own record, which a log may lose', (t) => {
  const line = lineOf(2);
  line.done(line.head(0) as WaitingMessage);
  t.deepEqual([line.deliveredTo, line.recordAt, line.recordEnd], [1, 0, SIZE]);
  t.false(line.settle(SIZE - 1));
  t.is(line.durable, 0);
  t.true(line.settle(SIZE));
  t.is(line.durable, 1);
});

test('delay line: what a start found noted is durable only once the log is synced behind it', (t) => {
  const line = new DelayLine(3, 7, { from: 0, to: Number.POSITIVE_INFINITY, delayMs: 10_000 }, 5, 2, 900);
  t.is(line.position, 5);
  t.is(line.askFrom(0), 5);
  t.false(line.settle(899));
  t.is(line.durable, 2);
  t.true(line.settle(900));
  t.is(line.durable, 5);
});
