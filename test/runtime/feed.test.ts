// The feed: whole entries in order, or a clear word that they are gone, on one thread and on two.
import test from 'ava';
import { type FeedHandler, FeedReader, FeedWriter, feedMemorySize } from '../../src/runtime/feed.ts';
import { runWorker } from './threads.ts';

class Entries implements FeedHandler {
  readonly rows: number[][] = [];
  throwAtKey = -1;

  onEntry(key: number, ...fields: number[]): void {
    if (key === this.throwAtKey) throw new Error('handler failed');
    this.rows.push([key, ...fields]);
  }

  keys(): number[] {
    return this.rows.map((row) => row[0] as number);
  }
}

function newFeed(capacity: number, startPosition = 0, sequence = 0) {
  const memory = new SharedArrayBuffer(feedMemorySize(capacity));
  const words = new Int32Array(memory);
  words[0] = sequence;
  words[32] = sequence;
  const writer = new FeedWriter(memory, startPosition);
  let next = startPosition;
  const append = (from: number, end: number): void => {
    for (let key = from; key < end; key++, next += 10) writer.append(key, key * 2, next, 10, 0, 0, 0, 0, 0);
  };
  return { memory, writer, append, reader: new FeedReader(memory, sequence), entries: new Entries() };
}

test('feed: entries arrive whole and in order, once published', (t) => {
  const { writer, reader, entries } = newFeed(16);
  const rows = [
    [2 ** 32 - 1, 2 ** 52 + 1, 2 ** 45 + 3, 4_000_000, -5, 1_700_000_000_123, -1, -(2 ** 31), 2 ** 30],
    [0, -1, 0, 1, 2 ** 31 - 1, 2 ** 41, 7, 2 ** 31 - 1, -3],
  ] as const;
  for (const row of rows) writer.append(...(row as [number, number, number, number, number, number, number, number, number]));
  t.is(writer.pendingCount, 2);
  t.is(reader.poll(entries, 10), 0);
  writer.publish();
  t.is(reader.lagCount(), 2);
  t.is(reader.poll(entries, 1), 1);
  t.is(reader.poll(entries, 10), 1);
  t.deepEqual(entries.rows, rows as unknown as number[][]);
  t.is(reader.lagCount(), 0);
});

test('feed: an overrun follower is told, and goes on from the oldest entry that is left', (t) => {
  const { writer, append, reader, entries } = newFeed(64, 1000);
  for (let key = 0; key < 160; key += 32) {
    append(key, key + 32);
    writer.publish();
  }
  t.is(reader.poll(entries, 1000), -1);
  t.is(reader.positionOfNext(), -1);
  const position = reader.resync();
  t.is(reader.positionOfNext(), position);
  const first = (position - 1000) / 10;
  t.true(first >= 160 - 64 && first < 160 - 32, `first=${first}`);
  t.is(reader.poll(entries, 1000), 160 - first);
  t.deepEqual(
    entries.keys(),
    Array.from({ length: 160 - first }, (_, i) => first + i),
  );
});

test('feed: entries about to be overwritten by an unpublished batch count as gone', (t) => {
  const { writer, append, reader, entries } = newFeed(16);
  append(0, 8);
  writer.publish();
  append(8, 16);
  writer.publish();
  append(16, 17);
  t.is(reader.poll(entries, 100), -1);
  t.is(reader.resync(), 40);
  t.is(reader.poll(entries, 100), 12);
});

test('feed: the position of the next entry is known before it exists', (t) => {
  const { memory, writer, append, reader, entries } = newFeed(16, 500);
  t.is(reader.positionOfNext(), 500);
  t.is(reader.resync(), 500);
  append(0, 2);
  writer.publish();
  t.is(reader.positionOfNext(), 500);
  reader.poll(entries, 1);
  t.is(reader.positionOfNext(), 510);
  reader.poll(entries, 1);
  t.is(reader.positionOfNext(), 520);
  const late = new FeedReader(memory, reader.sequence);
  t.is(late.positionOfNext(), 520);
});

test('feed: a batch that is too long is a bug of the writer', (t) => {
  const { writer, append } = newFeed(16);
  append(0, writer.batchCountMax);
  t.throws(() => append(8, 9), { message: /batch is too long/ });
  writer.publish();
  t.notThrows(() => append(8, 9));
});

test('feed: a handler that throws has had its entry', (t) => {
  const { writer, append, reader, entries } = newFeed(16);
  append(0, 3);
  writer.publish();
  entries.throwAtKey = 1;
  t.throws(() => reader.poll(entries, 10), { message: 'handler failed' });
  t.is(reader.poll(entries, 10), 1);
  t.deepEqual(entries.keys(), [0, 2]);
});

test('feed: sequences wrap, and a follower that is far behind or ahead is overrun', (t) => {
  for (const sequence of [2 ** 31 - 20, -20]) {
    const { memory, writer, append, reader, entries } = newFeed(16, 0, sequence | 0);
    for (let key = 0; key < 48; key += 8) {
      append(key, key + 8);
      writer.publish();
      t.is(reader.poll(entries, 100), 8);
    }
    t.is(entries.keys().length, 48);
    for (const behind of [17, 2 ** 31, -1]) t.is(new FeedReader(memory, reader.sequence - behind).poll(entries, 1), -1);
  }
});

test('feed: a writer made anew goes on after what was published', (t) => {
  const { memory, writer, append, reader, entries } = newFeed(16, 100);
  append(0, 2);
  writer.publish();
  append(2, 4);
  const heir = new FeedWriter(memory, 999);
  heir.append(9, 0, 120, 10, 0, 0, 0, 0, 0);
  heir.publish();
  t.is(reader.poll(entries, 10), 3);
  t.deepEqual(entries.keys(), [0, 1, 9]);
});

test.serial('feed: two threads, a follower that is overrun now and then never sees a torn or missing entry', async (t) => {
  const task = { memory: new SharedArrayBuffer(feedMemorySize(256)), flags: new SharedArrayBuffer(8), count: 2_000_000 };
  const writer = runWorker(t, './marks-worker.js', import.meta.url, { ...task, role: 'feed-write' });
  const verdict = runWorker<{ failure: string; reads: number; overruns: number }>(t, './marks-worker.js', import.meta.url, {
    ...task,
    role: 'feed-read',
  });
  const { failure, reads, overruns } = await verdict;
  t.is(failure, '');
  t.true(reads > 1000);
  t.log(`${reads} entries, ${overruns} overruns`);
  await writer;
});
