// Records of both versions and families of hosts, each fault of a check, and 200,000 damaged ones.
import test from 'ava';
import fc from 'fast-check';
import { Arena, allocateRegion } from '../../src/base/arena.ts';
import { KERNEL_TABLES_SIZE } from '../../src/base/kernel.ts';
import { SeededRandom } from '../../src/base/random.ts';
import { bodyCrc } from '../../src/message/crc.ts';
import { encodeProperties } from '../../src/message/properties.ts';
import * as record from '../../src/message/record.ts';

const example =
  '00000084daa320a73610a68600000003000000070000000000000000000000000000000000000000' +
  '0000018bcfe568000a010203000015b3000001a22bbecbffc0a8000900002a9f000000020000000000000009' +
  '0000000568656c6c6f02543100225441475301546167410' +
  '24b455953016b31206b3202554e49515f4b45590155513102';

interface Content {
  readonly topic: string;
  readonly body: Uint8Array;
  readonly properties: Map<string, string>;
  readonly bornV6: boolean;
  readonly storeV6: boolean;
  readonly number: number;
}

function fieldsOf(c: Content): record.RecordFields {
  const f = new record.RecordFields();
  f.queueId = c.number % 1000;
  f.flag = c.number | 0;
  f.sysFlag = record.SysFlags.commit | record.SysFlags.storeHostV6;
  f.bornTimeMs = c.number;
  f.bornHost = c.bornV6 ? Buffer.from('20010db8000000000000000000000001', 'hex') : Uint8Array.of(10, 1, 2, 3);
  f.bornPort = 5555;
  f.storeHost = c.storeV6 ? Buffer.from('fd000000000000000000000000000009', 'hex') : Uint8Array.of(192, 168, 0, 9);
  f.storePort = 10911;
  f.reconsumeTimes = 2;
  f.preparedPosition = c.number;
  f.bodyCrc = bodyCrc(c.body, 0, c.body.length);
  f.bodySize = c.body.length;
  f.topic = Buffer.from(c.topic);
  f.topicUnits = c.topic.length;
  return f;
}

/** A record behind `before` foreign bytes in an array over shared memory. */
function encode(c: Content, before: number): Buffer {
  const properties = encodeProperties(c.properties);
  const f = fieldsOf(c);
  f.propertiesSize = properties.length;
  const out = Buffer.from(new SharedArrayBuffer(before + record.sizeOfRecord(f)));
  out.fill(0xee);
  const at = record.writeRecord(out, before, f, c.body, 0);
  properties.copy(out, at);
  record.patchRecord(out, before, c.number, c.number + 1, c.number + 2);
  return out;
}

const contents = fc.record({
  topic: fc.integer({ min: 1, max: 255 }).map((size) => 'aB_%|9-Z'.repeat(32).slice(0, size)),
  body: fc.uint8Array({ maxLength: 300 }),
  properties: fc
    .dictionary(fc.stringMatching(/^[A-Za-z_]{1,20}$/), fc.string({ minLength: 1, unit: fc.constantFrom('a', '0', 'ж', '标', '😀') }))
    .map((o) => new Map(Object.entries(o))),
  bornV6: fc.boolean(),
  storeV6: fc.boolean(),
  number: fc.nat({ max: Number.MAX_SAFE_INTEGER - 2 }),
});

test('record: the documented example, byte for byte', (t) => {
  const f = new record.RecordFields();
  const body = Buffer.from('xhello');
  Object.assign(f, { queueId: 3, flag: 7, bornTimeMs: 1_700_000_000_000, bornHost: Uint8Array.of(10, 1, 2, 3), bornPort: 5555 });
  Object.assign(f, { storeHost: Uint8Array.of(192, 168, 0, 9), storePort: 10911, reconsumeTimes: 2, preparedPosition: 9 });
  Object.assign(f, { bodyCrc: bodyCrc(body, 1, 5), bodySize: 5, topic: Buffer.from('T1'), topicUnits: 2, propertiesSize: 0x22 });
  const out = Buffer.alloc(132);
  const at = record.writeRecord(out, 0, f, body, 1);
  const properties = Buffer.from('TAGS\u0001TagA\u0002KEYS\u0001k1 k2\u0002UNIQ_KEY\u0001UQ1\u0002');
  properties.copy(out, at);
  record.patchRecord(out, 0, 0, 0, 0x01a22bbecbff);
  t.is(out.toString('hex'), example);
  t.is(record.checkRecord(out, 0, out.length, true), 132);
});

test('record: V1, V2 and both families of hosts come back as they were written', (t) => {
  const versions = new Set<number>();
  fc.assert(
    fc.property(contents, fc.nat({ max: 9 }), (c, before) => {
      const b = encode(c, before);
      const size = record.checkRecord(b, before, b.length, true);
      const r = record.decodeRecord(b, before);
      versions.add(r.version);
      t.is(size, b.length - before);
      t.is(r.version, c.topic.length > 127 ? 2 : 1);
      t.is(r.topic, c.topic);
      t.deepEqual([...r.body], [...c.body]);
      t.deepEqual(r.properties, c.properties);
      t.deepEqual([r.bornHost.length, r.storeHost.length, r.bornPort, r.storePort], [c.bornV6 ? 16 : 4, c.storeV6 ? 16 : 4, 5555, 10911]);
      t.is(r.sysFlag, record.SysFlags.commit | (c.bornV6 ? 0x10 : 0) | (c.storeV6 ? 0x20 : 0));
      t.deepEqual([r.queueOffset, r.position, r.storeTimeMs], [c.number, c.number + 1, c.number + 2]);
      t.deepEqual([r.bornTimeMs, r.preparedPosition, r.flag, r.reconsumeTimes], [c.number, c.number, c.number | 0, 2]);
    }),
    { seed: 7, numRuns: 300 },
  );
  t.is(versions.size, 2);
});

test('record: a topic of 127 letters makes V1, of 128 V2, one byte longer', (t) => {
  t.is(record.recordSize(127, 127, 0, 0, 0), record.RECORD_FIXED_SIZE + 127);
  t.is(record.recordSize(128, 128, 0, 0, 0), record.RECORD_FIXED_SIZE + 129);
  t.is(record.recordSize(0, 0, 10, 5, 0x30), record.RECORD_FIXED_SIZE + 15 + 24);
});

test('record: lengths that do not fit their fields are never written', (t) => {
  const f = fieldsOf({ topic: 'T', body: new Uint8Array(0), properties: new Map(), bornV6: false, storeV6: false, number: 0 });
  f.propertiesSize = record.PROPERTIES_SIZE_MAX + 1;
  t.throws(() => record.writeRecord(Buffer.alloc(70_000), 0, f, f.topic, 0), { message: /lengths fit/ });
  f.propertiesSize = record.PROPERTIES_SIZE_MAX;
  t.notThrows(() => record.writeRecord(Buffer.alloc(70_000), 0, f, f.topic, 0));
  t.throws(() => record.writeRecord(Buffer.alloc(32_000), 0, f, f.topic, 0), { message: /room/ });
});

test('record: each way of being wrong has its fault', (t) => {
  const good = Buffer.from(example, 'hex');
  const spoilt = (at: number, bytes: string): number => {
    const b = Buffer.from(good);
    Buffer.from(bytes, 'hex').copy(b, at);
    return record.checkRecord(b, 0, b.length, true);
  };
  const faults = record.RecordFaults;
  const seen: Record<string, [number, number]> = {
    cut: [record.checkRecord(good, 0, good.length - 1, true), faults.tooFewBytes],
    sevenBytes: [record.checkRecord(good, 0, 7, true), faults.tooFewBytes],
    endBeyondArray: [record.checkRecord(good, 0, good.length + 1, true), faults.tooFewBytes],
    zeros: [record.checkRecord(Buffer.alloc(100), 0, 100, true), faults.nothing],
    magic: [spoilt(4, 'daa320a8'), faults.badMagic],
    negativeTotal: [spoilt(0, 'ffffffff'), faults.badTotalSize],
    smallTotal: [spoilt(0, '0000005a'), faults.badTotalSize],
    negativeBody: [spoilt(84, 'ffffffff'), faults.badLength],
    longBody: [spoilt(84, '0000002a'), faults.badLength],
    negativeTopic: [spoilt(93, '80'), faults.badLength],
    longTopic: [spoilt(93, '25'), faults.badLength],
    negativeProperties: [spoilt(96, 'ffff'), faults.badLength],
    longProperties: [spoilt(96, '0023'), faults.badLength],
    shortProperties: [spoilt(96, '0021'), faults.sizesDiffer],
    body: [spoilt(88, '00'), faults.badBodyCrc],
    crc: [spoilt(8, 'b610a686'), faults.badBodyCrc],
  };
  for (const [name, [code, fault]] of Object.entries(seen)) t.is(record.recordFaultText(code), record.recordFaultText(fault), name);
  const unchecked = Buffer.from(good);
  unchecked[88] = 0;
  t.is(record.checkRecord(unchecked, 0, unchecked.length, false), 132);
});

test('record: a blank sends the reader on, whatever lies behind its header', (t) => {
  const b = Buffer.alloc(20, 0x55);
  record.writeBlank(b, 4, 16);
  t.is(b.toString('hex'), '5555555500000010cbd431945555555555555555');
  t.is(record.checkRecord(b, 4, 20, true), 0);
  t.is<number, number>(record.checkRecord(b, 4, 19, true), record.RecordFaults.tooFewBytes);
  t.throws(() => record.writeBlank(b, 0, 7), { message: /header/ });
});

/** The same record twice: between zeros and between ones. What a check says must not depend on what lies around. */
function surround(size: number): [Buffer, Buffer] {
  return [Buffer.alloc(size + 128, 0), Buffer.alloc(size + 128, 0xff)];
}

test('record: hostile bytes never throw and are never read beyond their end', (t) => {
  const random = new SeededRandom(20_261_130);
  const lengthFields = [0, 1, 2, 3, 4, 7, 36, 37, 38, 39, 84, 85, 86, 87, 93, 96, 97];
  const good = Buffer.from(example, 'hex');
  const [zeros, ones] = surround(good.length);
  const seen = new Map<number, number>();
  for (let i = 0; i < 200_000; i++) {
    good.copy(zeros, 64);
    for (let changes = 1 + random.below(3); changes > 0; changes--) {
      const at = random.below(4) === 0 ? random.below(good.length) : (lengthFields[random.below(lengthFields.length)] as number);
      zeros[64 + at] = random.below(256);
    }
    const end = 64 + (random.below(3) === 0 ? random.below(good.length + 1) : good.length);
    zeros.copy(ones, 64, 64, end);
    ones.fill(0xff, end);
    const crc = random.below(2) === 0;
    const size = record.checkRecord(zeros, 64, end, crc);
    if (size !== record.checkRecord(ones, 64, end, crc) || size > end - 64) t.fail(`run ${i} size=${size}`);
    if (size > 0) record.decodeRecord(ones, 64);
    seen.set(size, (seen.get(size) ?? 0) + 1);
  }
  for (const fault of Object.values(record.RecordFaults)) if (fault !== record.RecordFaults.nothing) t.true((seen.get(fault) ?? 0) > 100);
  t.true((seen.get(good.length) ?? 0) > 100);
});

test('crc: 31 bits of the usual one, 0 for nothing, also over shared memory', (t) => {
  const b = Buffer.from(new SharedArrayBuffer(8));
  b.write('.v6hello');
  t.is(bodyCrc(b, 1, 2), 0x77065916);
  t.is(bodyCrc(b, 3, 5), 0x3610a686);
  t.is(bodyCrc(Buffer.from('rb'), 0, 2), 0x7f6c09ff);
  t.is(bodyCrc(b, 3, 0), 0);
});

test('record: one written like another of its batch is what it would be alone', (t) => {
  fc.assert(
    fc.property(contents, fc.uint8Array({ maxLength: 300 }), fc.integer(), fc.nat({ max: 200 }), (c, otherBody, flag, propertiesSize) => {
      const first = fieldsOf(c);
      first.propertiesSize = 9;
      const later = { ...fieldsOf({ ...c, body: otherBody }), flag, propertiesSize };
      const size = record.sizeOfRecord(later);
      const arena = Arena.of(allocateRegion(8192).memory);
      const firstAt = KERNEL_TABLES_SIZE + 3;
      record.writeRecordIn(arena, firstAt, first, c.body, 0);
      const at = firstAt + record.sizeOfRecord(first) + 5;
      arena.bytes.fill(0xee, at, at + size + 1);
      const propertiesAt = record.writeRecordLike(arena, at, firstAt, later, otherBody, 0);
      const alone = Buffer.alloc(size + 1, 0xee);
      t.is(propertiesAt - at, record.writeRecord(alone, 0, later, otherBody, 0));
      t.is(arena.bytes.toString('hex', at, at + size + 1), alone.toString('hex'));
    }),
  );
});
