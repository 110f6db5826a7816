// The ring on one thread: its contract, every place of the wrap, and seeded sequences with refusals.

import test from 'ava';
import { Arena, allocateRegion } from '../../src/base/arena.ts';
import { SeededRandom } from '../../src/base/random.ts';
import { type RingHandler, RingReader, RingWriter, ringMemorySize, ringUsedBytes } from '../../src/runtime/ring.ts';
import { RecordSequence } from './ring-records.ts';

function newRing(capacity: number, startPosition = 0) {
  const memory = allocateRegion(ringMemorySize(capacity));
  const words = new Int32Array(Arena.of(memory.memory).buffer, memory.at);
  words[0] = startPosition;
  words[32] = startPosition;
  return { memory, writer: new RingWriter(memory), reader: new RingReader(memory) };
}

function put(writer: RingWriter, type: number, text: string): void {
  const at = writer.claim(text.length);
  writer.bytes.write(text, at, 'latin1');
  writer.commit(type);
}

/** Notes what it gets; takes `budget` records, then leaves the rest. */
class Notes implements RingHandler {
  readonly seen: string[] = [];
  budget = Number.POSITIVE_INFINITY;
  throwAt = '';
  readonly #reader: RingReader;

  constructor(reader: RingReader) {
    this.#reader = reader;
  }

  onRecord(type: number, at: number, size: number): boolean {
    const text = this.#reader.bytes.toString('latin1', at, at + size);
    if (text === this.throwAt && text !== '') throw new Error('handler failed');
    if (this.budget-- <= 0) return false;
    this.seen.push(`${type}:${text}`);
    return true;
  }
}

test('ring: records come out in order, once published, with type and bytes', (t) => {
  const { writer, reader } = newRing(256);
  const notes = new Notes(reader);
  put(writer, 7, 'one');
  put(writer, 0, '');
  t.is(writer.pendingBytes, 24);
  t.true(reader.isEmpty());
  t.is(reader.drain(notes, 10), 0);
  t.true(writer.publish());
  t.false(writer.publish());
  t.is(writer.pendingBytes, 0);
  t.false(reader.isEmpty());
  t.is(reader.drain(notes, 10), 2);
  t.deepEqual(notes.seen, ['7:one', '0:']);
  t.true(reader.isEmpty());
});

test('ring: a claim is a multiple of 8 in bytes and words alike, and a cancelled one leaves no trace', (t) => {
  const { memory, writer, reader } = newRing(256);
  const at = writer.claim(12);
  t.is(at % 8, 0);
  writer.words[at >> 2] = 0x64636261;
  t.is(writer.bytes.toString('latin1', at, at + 4), 'abcd');
  t.throws(() => writer.claim(1), { message: /already claimed/ });
  writer.cancel();
  t.false(writer.publish());
  t.throws(() => writer.commit(1), { message: /nothing is claimed/ });
  put(writer, 1, 'x');
  writer.publish();
  t.is(ringUsedBytes(memory), 16);
  const notes = new Notes(reader);
  reader.drain(notes, 10);
  t.deepEqual(notes.seen, ['1:x']);
  t.is(ringUsedBytes(memory), 0);
});

test('ring: full is an answer, and space comes back after a drain', (t) => {
  const { writer, reader } = newRing(64);
  for (let i = 0; i < 4; i++) put(writer, i, 'abcdefgh');
  t.is(writer.claim(0), -1);
  t.is(writer.fullCount, 1);
  writer.publish();
  const notes = new Notes(reader);
  t.is(reader.drain(notes, 1), 1);
  put(writer, 9, 'newcomer');
  writer.publish();
  t.is(reader.drain(notes, 10), 4);
  t.is(notes.seen.at(-1), '9:newcomer');
  t.throws(() => writer.claim(33), { message: /size out of range/ });
});

test('ring: a handler that says no keeps its record and all after it', (t) => {
  const { memory, writer, reader } = newRing(256);
  for (const text of ['a', 'b', 'c']) put(writer, 1, text);
  writer.publish();
  const notes = new Notes(reader);
  notes.budget = 1;
  t.is(reader.drain(notes, 10), 1);
  t.is(reader.drain(notes, 10), 0);
  t.is(ringUsedBytes(memory), 32);
  t.false(reader.isEmpty());
  notes.budget = 2;
  t.is(reader.drain(notes, 10), 2);
  t.deepEqual(notes.seen, ['1:a', '1:b', '1:c']);
});

test('ring: a handler that throws consumes its record, and the next drain goes on behind it', (t) => {
  const { memory, writer, reader } = newRing(256);
  for (const text of ['a', 'b', 'c']) put(writer, 1, text);
  writer.publish();
  const notes = new Notes(reader);
  notes.throwAt = 'b';
  t.throws(() => reader.drain(notes, 10), { message: 'handler failed' });
  t.is(ringUsedBytes(memory), 16);
  t.is(reader.drain(notes, 10), 1);
  t.deepEqual(notes.seen, ['1:a', '1:c']);
});

test('ring: a handler must not drain its own ring', (t) => {
  const { writer, reader } = newRing(256);
  put(writer, 1, 'a');
  writer.publish();
  const handler: RingHandler = { onRecord: () => reader.drain(handler, 1) > 0 };
  t.throws(() => reader.drain(handler, 1), { message: /own handler/ });
});

test('ring: a large one that is drained starts over at a quarter of a mebibyte, and goes on where it is not', (t) => {
  const { memory, writer, reader } = newRing(1 << 20);
  const first = memory.at + 256 + 8;
  const take: RingHandler = { onRecord: () => true };
  const send = (size: number): number => {
    const at = writer.claim(size);
    writer.commit(1);
    return at - first;
  };
  t.is(send(256 * 1024), 0);
  const behind = send(8);
  t.is(behind, 256 * 1024 + 8, 'nothing is drained yet');
  writer.publish();
  t.is(send(8), behind + 16, 'published is not drained');
  writer.publish();
  t.is(reader.drain(take, 10), 3);
  t.is(send(300 * 1024), 256 * 1024 + 40, 'what is larger than the part behind it goes on');
  writer.publish();
  t.is(reader.drain(take, 10), 1);
  t.is(send(512 * 1024), 0);
  t.is(send(8), 512 * 1024 + 8, 'in the midst of a batch nothing moves');
  writer.publish();
  t.is(ringUsedBytes(memory), 512 * 1024 + 8 + 16, 'padding is nobody’s mail');
  t.is(reader.drain(take, 10), 2);
  t.true(reader.isEmpty());
  // Positions that are about to wrap at 2^32 are no exception.
  const late = newRing(1 << 20, -(2 ** 19));
  t.is(late.writer.claim(16) - late.memory.at, 256 + 8);
  late.writer.commit(2);
  late.writer.publish();
  t.is(late.reader.drain(take, 1), 1);
});

test('ring: every allowed size fits an empty ring at every position', (t) => {
  const take: RingHandler = { onRecord: () => true };
  for (let index = 0; index < 256; index += 8) {
    for (let size = 0; size <= 128; size++) {
      const { memory, writer, reader } = newRing(256, index);
      const at = writer.claim(size);
      if (at === -1 || at + size > memory.at + memory.size) t.fail(`index=${index} size=${size} at=${at}`);
      writer.commit(1);
      writer.publish();
      if (reader.drain(take, 1) !== 1 || ringUsedBytes(memory) !== 0) t.fail(`index=${index} size=${size}`);
    }
  }
  t.is(newRing(256).writer.recordSizeMax, 128);
});

test('ring: writer and reader made anew over the same memory go on where the old ones published', (t) => {
  const { memory, writer, reader } = newRing(256);
  for (const text of ['a', 'b']) put(writer, 1, text);
  writer.publish();
  put(writer, 1, 'lost with its writer');
  const notes = new Notes(reader);
  reader.drain(notes, 1);
  const heir = new RingWriter(memory);
  put(heir, 1, 'c');
  heir.publish();
  const late = new RingReader(memory);
  const more = new Notes(late);
  late.drain(more, 10);
  t.deepEqual(more.seen, ['1:b', '1:c']);
});

test('ring: wrong sizes are refused', (t) => {
  t.throws(() => ringMemorySize(100));
  t.throws(() => ringMemorySize(32));
  t.throws(() => ringMemorySize(2 ** 31));
  t.throws(() => new RingWriter(allocateRegion(1000)));
});

/** Writes and reads in random turns; the verifier also refuses at random. Claims must keep off everything that is not consumed. */
function seededRun(capacity: number, startPosition: number, seed: number, count: number): string {
  const { memory, writer, reader } = newRing(capacity, startPosition);
  const random = new SeededRandom(seed);
  const written = new RecordSequence(seed, writer.recordSizeMax);
  const expected = new RecordSequence(seed, writer.recordSizeMax);
  let failure = '';
  let refused = false;
  const verifier: RingHandler = {
    onRecord: (type, at, size) => {
      if (random.below(16) === 0) {
        refused = true;
        return false;
      }
      expected.next();
      if (type !== expected.type || size !== expected.size || !expected.isIntact(reader.words, reader.bytes, at)) {
        failure = `record ${expected.index} differs`;
      }
      return true;
    },
  };
  let idleTurns = 0;
  written.next();
  while (written.index < count && failure === '') {
    const before = written.index + expected.index;
    for (let burst = random.below(40); burst > 0 && written.index < count; burst--) {
      const at = writer.claim(written.size);
      if (at === -1) break;
      if (random.below(32) === 0) {
        writer.bytes.fill(0xee, at, at + written.size);
        writer.cancel();
        continue;
      }
      written.fill(writer.words, writer.bytes, at);
      writer.commit(written.type);
      written.next();
    }
    if (random.below(4) > 0) writer.publish();
    reader.drain(verifier, 1 + random.below(50));
    idleTurns = written.index + expected.index === before ? idleTurns + 1 : 0;
    if (idleTurns === 1000) failure = `stalled at ${written.index} size=${written.size}`;
  }
  writer.publish();
  do refused = reader.drain(verifier, count) < 0 || !reader.isEmpty();
  while (refused && failure === '');
  const marks = new Int32Array(Arena.of(memory.memory).buffer, memory.at, 64);
  if (marks.some((word, i) => word !== 0 && i !== 0 && i !== 32)) failure = 'a record ran over the positions';
  return failure === '' && expected.index !== count - 1 ? `ended at ${expected.index}` : failure;
}

for (const [name, capacity, start] of [
  ['in the smallest ring', 64, 0],
  ['where positions turn negative', 1024, 0x7fff_fe00],
  ['where positions wrap', 4096, -4096 * 3],
  ['in a large ring', 1 << 20, 8],
] as const) {
  test(`ring: a seeded sequence with refusals and cancelled claims arrives intact ${name}`, (t) => {
    t.is(seededRun(capacity, start, capacity + 1, 300_000), '');
  });
}
