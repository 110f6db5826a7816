// Things that are due after a fixed time: leases of clients, and notices to groups.
import test from 'ava';
import { ExpiryQueue } from '../../src/core/expiry-queue.ts';
import { NoticeBook } from '../../src/core/notice-book.ts';

test('expiry queue: the oldest is first, a touch makes young, the deadline is exact', (t) => {
  const queue = new ExpiryQueue<string>(100);
  t.is(queue.nextMs(), Number.POSITIVE_INFINITY);
  queue.touch('a', 0);
  queue.touch('b', 10);
  queue.touch('a', 20);
  t.is(queue.nextMs(), 110);
  t.deepEqual(queue.takeExpired(109), []);
  t.deepEqual(queue.takeExpired(110), ['b']);
  queue.forget('a');
  t.is(queue.size, 0);
  t.deepEqual(queue.takeExpired(1000), []);
});

test('notice book: the first change sets the time, later ones ride along', (t) => {
  const book = new NoticeBook(200);
  book.ask('A', 0);
  book.ask('B', 50);
  book.ask('A', 199);
  t.is(book.nextMs(), 200);
  t.deepEqual(book.takeDue(199), []);
  t.deepEqual(book.takeDue(200), ['A']);
  book.ask('A', 200);
  t.deepEqual(book.takeDue(400), ['B', 'A']);
  book.ask('C', 500);
  book.forget('C');
  t.is(book.nextMs(), Number.POSITIVE_INFINITY);
});
