// The tail window: right bytes or none, at every place of the wrap and under a writer on another thread.

import test from 'ava';
import { allocateRegion, allocateRegions } from '../../src/base/arena.ts';
import { WindowReader, WindowWriter, windowMemorySize } from '../../src/runtime/tail-window.ts';
import { runWorker } from './threads.ts';

const size = 1024;

function newWindow() {
  const memory = allocateRegion(windowMemorySize(size));
  return { memory, writer: new WindowWriter(memory, size), reader: new WindowReader(memory) };
}

function record(first: number, length: number): Buffer {
  return Buffer.from(Array.from({ length }, (_, i) => (first + i) & 255));
}

test('tail window: records written at log positions are read back, whole or in parts, also beyond 4 GiB', (t) => {
  for (const start of [0, 1_000_003, 5 * 2 ** 32 - 300]) {
    const { writer, reader } = newWindow();
    const bytes = record(1, 700);
    writer.write(start, bytes, 0, 400);
    writer.publish(start + 400);
    writer.write(start + 400, bytes, 400, 300);
    writer.publish(start + 400 + 300);
    const into = Buffer.alloc(704);
    t.true(reader.read(start, 700, into, 4));
    t.deepEqual(into.subarray(4), bytes);
    t.true(reader.read(start + 399, 2, into, 0));
    t.deepEqual(into.subarray(0, 2), bytes.subarray(399, 401));
    t.is(reader.low(), start);
    t.is(reader.high(), start + 700);
  }
});

test('tail window: nothing is there before the first write, after the newest byte, or in front of the oldest', (t) => {
  const { writer, reader } = newWindow();
  const into = Buffer.alloc(100);
  t.false(reader.read(0, 1, into, 0));
  writer.write(5000, record(0, 50), 0, 50);
  t.false(reader.read(5000, 50, into, 0), 'not before it is published');
  writer.publish(5050);
  t.false(reader.read(4990, 10, into, 0));
  t.false(reader.read(4999, 2, into, 0));
  t.false(reader.read(5049, 2, into, 0));
  t.true(reader.read(5049, 1, into, 0));
});

test('tail window: old bytes go, new ones stay, at every place of the wrap', (t) => {
  const { writer, reader } = newWindow();
  const into = Buffer.alloc(60);
  for (let position = 0; position < 10 * size; ) {
    const length = 1 + (position % 59);
    writer.write(position, record(position, length), 0, length);
    writer.publish(position + length);
    if (!reader.read(position, length, into, 0) || !into.subarray(0, length).equals(record(position, length)))
      t.fail(`position=${position}`);
    position += length;
    t.true(reader.low() >= position - size && reader.low() <= Math.max(0, position - size + size / 16 + 59));
    if (reader.low() > 0 && reader.read(reader.low() - 1, 1, into, 0)) t.fail('a byte below the low mark was read');
  }
});

test('tail window: reserved bytes can be filled in place, in two pieces where they wrap', (t) => {
  const { writer, reader } = newWindow();
  const start = 2 * size - 10;
  t.is(writer.reserve(start, 30), writer.at(start));
  t.is(writer.contiguous(start), 10);
  writer.bytes.fill(1, writer.at(start), writer.at(start) + 10);
  writer.bytes.fill(2, writer.at(start + 10), writer.at(start + 10) + 20);
  const into = Buffer.alloc(30);
  t.false(reader.read(start, 30, into, 0));
  writer.publish(start + 30);
  t.true(reader.read(start, 30, into, 0));
  t.deepEqual([...into], [...Array(10).fill(1), ...Array(20).fill(2)]);
});

test('tail window: a gap in the log keeps what is before it', (t) => {
  const { writer, reader } = newWindow();
  writer.write(0, record(0, 100), 0, 100);
  writer.publish(0 + 100);
  writer.write(512, record(7, 100), 0, 100);
  writer.publish(512 + 100);
  const into = Buffer.alloc(100);
  t.true(reader.read(0, 100, into, 0));
  t.true(reader.read(512, 100, into, 0));
  t.deepEqual(into, record(7, 100));
});

test('tail window: going back, and parts over half the size, are bugs of the writer', (t) => {
  const { memory, writer } = newWindow();
  writer.write(100, record(0, 50), 0, 50);
  writer.publish(100 + 50);
  t.throws(() => writer.reserve(149, 1), { message: /goes forward/ });
  t.throws(() => writer.reserve(150, size / 2 + 1), { message: /out of range/ });
  t.is(new WindowWriter(memory, size).reserve(150, 512), writer.at(150));
  t.throws(() => windowMemorySize(1000));
});

test.serial('tail window: two threads, a reader at the edge that is being overwritten never gets a wrong byte', async (t) => {
  const windowSizeBytes = 1 << 14;
  const [window, scratch] = allocateRegions([windowMemorySize(windowSizeBytes), 2048]);
  const task = {
    window,
    scratch,
    windowSizeBytes,
    flags: new SharedArrayBuffer(8),
    count: 400_000,
  };
  const writer = runWorker(t, './marks-worker.js', import.meta.url, { ...task, role: 'window-write' });
  const verdict = runWorker<{ failure: string; reads: number; misses: number }>(t, './marks-worker.js', import.meta.url, {
    ...task,
    role: 'window-read',
  });
  const { failure, reads, misses } = await verdict;
  t.is(failure, '');
  t.true(reads > 1000);
  t.log(`${reads} reads, ${misses} misses`);
  await writer;
});
