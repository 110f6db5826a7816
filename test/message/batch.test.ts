// Batch bodies come back entry by entry, and wrong ones are told by what is wrong.
import test from 'ava';
import fc from 'fast-check';
import { SeededRandom } from '../../src/base/random.ts';
import { BatchReader, encodeBatch } from '../../src/message/batch.ts';

const entries = fc.array(
  fc.record({ flag: fc.integer(), body: fc.uint8Array({ maxLength: 60 }), properties: fc.uint8Array({ maxLength: 60 }) }),
  { maxLength: 8 },
);

test('batch: the documented entry', (t) => {
  const b = encodeBatch([{ flag: 0, body: Buffer.from('hi'), properties: Buffer.from('TAGS\u0001TagA\u0002') }]);
  t.is(b.toString('hex'), '000000220000000000000000000000000000000268690' + '00a54414753015461674102');
});

test('batch: entries come back one by one', (t) => {
  const reader = new BatchReader();
  fc.assert(
    fc.property(entries, fc.nat({ max: 5 }), (list, before) => {
      const encoded = encodeBatch(list);
      const b = Buffer.concat([Buffer.alloc(before, 1), encoded, Buffer.alloc(9, 0xff)]);
      reader.reset(b, before, before + encoded.length);
      for (const [index, entry] of list.entries()) {
        t.true(reader.next());
        t.is(reader.index, index);
        t.is(reader.flag, entry.flag);
        t.deepEqual(new Uint8Array(b.subarray(reader.bodyAt, reader.bodyAt + reader.bodySize)), entry.body);
        t.deepEqual(new Uint8Array(b.subarray(reader.propertiesAt, reader.propertiesAt + reader.propertiesSize)), entry.properties);
      }
      t.false(reader.next());
      t.is(reader.fault, '');
    }),
    { seed: 9, numRuns: 200 },
  );
});

test('batch: the largest properties pass, one byte more is refused with its size', (t) => {
  const reader = new BatchReader();
  const entry = (size: number): Buffer => {
    const b = Buffer.alloc(22 + size);
    b.writeInt32BE(b.length, 0);
    b.writeUInt16BE(size, 20);
    return b;
  };
  const first = entry(32_767);
  reader.reset(first, 0, first.length);
  t.true(reader.next());
  t.is(reader.propertiesSize, 32_767);
  const second = Buffer.concat([entry(0), entry(32_768)]);
  reader.reset(second, 0, second.length);
  t.true(reader.next());
  t.false(reader.next());
  t.is(reader.fault, 'batch entry 1 has properties of more than 32767 bytes size=32768');
  t.false(reader.next());
  t.throws(() => encodeBatch([{ flag: 0, body: new Uint8Array(0), properties: new Uint8Array(32_768) }]), { message: /fit/ });
});

const wrong: [string, string, RegExp][] = [
  ['too short', '000000160000', /cut short bytesLeft=6/],
  ['a size beyond the end', `00000017${'00'.repeat(18)}`, /wrong size size=23/],
  ['a negative size', `ffffffff${'00'.repeat(18)}`, /wrong size size=-1/],
  ['a negative body', `00000016${'00'.repeat(12)}ffffffff0000`, /wrong body size bodySize=-1/],
  ['a body beyond the entry', `00000016${'00'.repeat(12)}000000010000`, /wrong body size bodySize=1/],
  ['properties beyond the entry', `00000016${'00'.repeat(12)}000000000001`, /do not add up/],
];

for (const [what, hex, fault] of wrong) {
  test(`batch: ${what} is a fault`, (t) => {
    const reader = new BatchReader();
    const b = Buffer.from(hex, 'hex');
    reader.reset(b, 0, b.length);
    t.false(reader.next());
    t.regex(reader.fault, fault);
  });
}

test('batch: hostile bytes neither throw nor lead beyond the end', (t) => {
  const random = new SeededRandom(77);
  const good = encodeBatch([1, 2, 3].map((flag) => ({ flag, body: Buffer.alloc(flag * 3, 1), properties: Buffer.alloc(flag * 5, 2) })));
  const reader = new BatchReader();
  const b = Buffer.alloc(good.length);
  let faults = 0;
  for (let i = 0; i < 50_000; i++) {
    good.copy(b);
    for (let changes = random.below(3); changes > 0; changes--) b[random.below(b.length)] = random.below(256);
    const end = random.below(2) === 0 ? b.length : random.below(b.length + 1);
    reader.reset(b, 0, end);
    while (reader.next()) {
      const bodyOk = reader.bodyAt + reader.bodySize <= end && reader.bodySize >= 0;
      if (!bodyOk || reader.propertiesSize < 0 || reader.propertiesAt + reader.propertiesSize > end) t.fail(`run ${i}`);
    }
    if (reader.fault !== '') faults++;
  }
  t.true(faults > 1000 && faults < 50_000);
});
