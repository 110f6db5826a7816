// The sending end of a ring: when it wakes the receiver, and when it lets mail lie.
import test from 'ava';
import { Outbox } from '../../src/actors/outbox.ts';
import { allocateRegion } from '../../src/base/arena.ts';
import { RingReader, RingWriter, ringMemorySize } from '../../src/runtime/ring.ts';

interface Rig {
  readonly outbox: Outbox;
  rings: number;
  /** Types of the mail that is visible, taken out. */
  take(): number[];
}

function rig(capacity = 1024): Rig {
  const memory = allocateRegion(ringMemorySize(capacity));
  const reader = new RingReader(memory);
  const made: Rig = {
    outbox: new Outbox(new RingWriter(memory), { ring: () => made.rings++ }),
    rings: 0,
    take: () => {
      const types: number[] = [];
      reader.drain({ onRecord: (type) => types.push(type) > 0 }, 100);
      return types;
    },
  };
  return made;
}

const nothing = new Uint8Array(0);

test('outbox: a flush wakes the receiver once for all that was sent, and not for nothing', (t) => {
  const it = rig();
  t.false(it.outbox.flush());
  it.outbox.send(1, [7]);
  it.outbox.send(2, [8]);
  t.deepEqual(it.take(), [], 'nothing is seen before the flush');
  t.true(it.outbox.flush());
  t.is(it.rings, 1);
  t.deepEqual(it.take(), [1, 2]);
});

test('outbox: quiet mail is there after the flush, and wakes nobody until its owner says so', (t) => {
  const it = rig();
  it.outbox.sendQuietly(3, [1], nothing);
  t.true(it.outbox.isQuiet);
  t.true(it.outbox.flush());
  t.is(it.rings, 0);
  t.deepEqual(it.take(), [3]);
  t.true(it.outbox.isQuiet);
  it.outbox.wake();
  t.is(it.rings, 1);
  t.false(it.outbox.isQuiet);
});

test('outbox: quiet mail rides on what is urgent, whichever comes first', (t) => {
  const it = rig();
  it.outbox.sendQuietly(3, [1], nothing);
  it.outbox.send(1, [2]);
  it.outbox.sendQuietly(3, [1], nothing);
  t.true(it.outbox.flush());
  t.is(it.rings, 1);
  t.false(it.outbox.isQuiet, 'the receiver is awake and sees all of it');
  t.deepEqual(it.take(), [3, 1, 3]);
  it.outbox.send(1, [2]);
  it.outbox.flush();
  t.is(it.rings, 2);
});

test('outbox: mail that found the ring full goes later, in order, and wakes the receiver then', (t) => {
  const it = rig(64);
  for (let i = 1; i <= 5; i++) it.outbox.send(i, [1, 2, 3, 4]);
  t.true(it.outbox.hasWaiting);
  const seen: number[] = [];
  for (let i = 0; i < 5 && seen.length < 5; i++) {
    it.outbox.flush();
    seen.push(...it.take());
  }
  t.deepEqual(seen, [1, 2, 3, 4, 5]);
  t.false(it.outbox.hasWaiting);
  t.true(it.rings >= 2);
});
