// A record stored again: what stays, what changes, and the measures that go with it.
import test from 'ava';
import { javaHash } from '../../src/base/bytes.ts';
import { bodyCrc } from '../../src/message/crc.ts';
import { indexKeyHash, topicKeyHash } from '../../src/message/index-key.ts';
import { decodeProperties, encodeProperties } from '../../src/message/properties.ts';
import * as record from '../../src/message/record.ts';
import { planCopy, type RecordChange, writeCopy } from '../../src/message/record-copy.ts';
import { tagsCodeOf } from '../../src/message/tags.ts';

const BEFORE = 5;
const body = Buffer.from('a body that stays as it is');
const v4 = Uint8Array.of(10, 1, 2, 3);
const v6 = Buffer.from('20010db8000000000000000000000001', 'hex');

function sourceOf(properties: Uint8Array, bornHost: Uint8Array = v4): Buffer {
  const f = new record.RecordFields();
  Object.assign(f, { queueId: 3, flag: 77, sysFlag: 1, bornTimeMs: 1_700_000_000_000, bornHost, bornPort: 5555 });
  Object.assign(f, { storeHost: v4, storePort: 10911, reconsumeTimes: 2, preparedPosition: 9, topic: Buffer.from('Old'), topicUnits: 3 });
  Object.assign(f, { bodyCrc: bodyCrc(body, 0, body.length), bodySize: body.length, propertiesSize: properties.length });
  const out = Buffer.alloc(BEFORE + record.sizeOfRecord(f), 0xee);
  out.set(properties, record.writeRecord(out, BEFORE, f, body, 0));
  record.patchRecord(out, BEFORE, 11, 22, 33);
  return out;
}

function changeOf(change: Partial<RecordChange> = {}): RecordChange {
  const topic = Buffer.from('New');
  const rest = { storeHost: v4, storePort: 9, preparedPosition: 0, drop: [], put: [] };
  return { topic, topicUnits: 3, queueId: 6, sysFlag: 1, reconsumeTimes: 4, ...rest, ...change };
}

function copied(source: Uint8Array, change: RecordChange): Buffer {
  const copy = planCopy(source, BEFORE, change);
  const out = Buffer.alloc(copy.size + 2, 0xcc);
  writeCopy(copy, out, 1);
  if (out[0] !== 0xcc || out[out.length - 1] !== 0xcc) throw new Error('written beyond the record');
  return out.subarray(1, 1 + copy.size);
}

function propertiesOf(b: Uint8Array): Map<string, string> {
  const at = record.propertiesAt(b, 0);
  return decodeProperties(b, at, at + record.propertiesSize(b, 0));
}

const properties = new Map([
  ['TAGS', 'blue'],
  ['DELAY', '3'],
  ['UNIQ_KEY', 'AC11'],
  ['own', 'value'],
]);

for (const [family, host] of [
  ['IPv4', v4],
  ['IPv6', v6],
] as const) {
  test(`record copy: body, checksum, flag and birth stay, place and times are new (born host ${family})`, (t) => {
    const out = copied(sourceOf(encodeProperties(properties), host), changeOf({ storeHost: v6 }));
    t.is(record.checkRecord(out, 0, out.length, true), out.length);
    t.is(record.readTotalSize(out, 0), out.length);
    const at = record.bodyAt(out, 0);
    t.deepEqual(Buffer.from(out.subarray(at, at + record.bodySize(out, 0))), body);
    t.is(record.readBodyCrc(out, 0), bodyCrc(body, 0, body.length));
    t.is(record.readFlag(out, 0), 77);
    t.is(record.readBornTimeMs(out, 0), 1_700_000_000_000);
    t.is(record.readBornPort(out, 0), 5555);
    const born = record.bornHostAt(0);
    t.deepEqual(Buffer.from(out.subarray(born, born + host.length)), Buffer.from(host));
    t.is(record.readQueueId(out, 0), 6);
    t.is(record.readReconsumeTimes(out, 0), 4);
    t.is(record.readStorePort(out, 0), 9);
    t.is(record.storeHostSize(out, 0), 16);
    t.deepEqual([record.readQueueOffset(out, 0), record.readPosition(out, 0), record.readStoreTimeMs(out, 0)], [0, 0, 0]);
    const topic = record.topicAt(out, 0);
    t.is(out.toString('utf8', topic, topic + record.topicSize(out, 0)), 'New');
    t.deepEqual(propertiesOf(out), properties);
  });
}

test('record copy: properties that do not change keep every byte, also those that no reader sees', (t) => {
  const odd = Buffer.from('\x02TAGS\x01blue\x02nameless\x02own\x01x');
  const out = copied(sourceOf(odd), changeOf());
  const at = record.propertiesAt(out, 0);
  t.deepEqual(Buffer.from(out.subarray(at, at + record.propertiesSize(out, 0))), odd);
});

test('record copy: dropped pairs go, put ones replace all of their name, the others keep their order', (t) => {
  const twice = Buffer.concat([encodeProperties(properties), Buffer.from('DELAY\x014\x02last\x01no separator')]);
  const put: [string, string][] = [
    ['TAGS', 'red'],
    ['RETRY_TOPIC', 'Old'],
    ['own', ''],
  ];
  const out = copied(sourceOf(twice), changeOf({ drop: ['DELAY', 'absent'], put }));
  const at = record.propertiesAt(out, 0);
  const text = out.toString('utf8', at, at + record.propertiesSize(out, 0));
  t.is(text, 'UNIQ_KEY\x01AC11\x02last\x01no separator\x02TAGS\x01red\x02RETRY_TOPIC\x01Old\x02');
});

test('record copy: tag code and key hash are those of the new topic and properties', (t) => {
  const copy = planCopy(sourceOf(encodeProperties(properties)), BEFORE, changeOf({ put: [['TAGS', 'red']] }));
  const red = Buffer.from('red');
  t.is(copy.tagsCode, tagsCodeOf(red, 0, red.length));
  t.true(copy.hasUniqueKey);
  t.false(copy.hasKeys);
  const topic = Buffer.from('New');
  t.is(copy.uniqueKeyHash, indexKeyHash(topicKeyHash(topic, 0, 3), Buffer.from('AC11'), 0, 4));
  t.deepEqual([copy.hasTag, copy.tagKeyHash], [true, javaHash('New#T#red')]);
  const bare = planCopy(sourceOf(Buffer.from('KEYS\x01k\x02')), BEFORE, changeOf());
  t.deepEqual(
    [bare.tagsCode, bare.hasUniqueKey, bare.hasKeys, bare.uniqueKeyHash, bare.hasTag, bare.tagKeyHash],
    [0, false, true, 0, false, 0],
  );
});

test('record copy: a long topic makes a V2 record, properties beyond their limit do not fit', (t) => {
  const long = Buffer.from('t'.repeat(200));
  const out = copied(sourceOf(encodeProperties(properties)), changeOf({ topic: long, topicUnits: 200 }));
  t.is(record.readMagic(out, 0), record.RecordMagics.v2);
  t.is(record.topicSize(out, 0), 200);
  t.is(record.checkRecord(out, 0, out.length, true), out.length);
  const full = Buffer.from(`x\x01${'y'.repeat(record.PROPERTIES_SIZE_MAX - 3)}\x02`);
  t.true(planCopy(sourceOf(full), BEFORE, changeOf()).fits);
  t.false(planCopy(sourceOf(full), BEFORE, changeOf({ put: [['a', 'b']] })).fits);
});
