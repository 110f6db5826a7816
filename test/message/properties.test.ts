// Properties as text, map and scan: all three agree on any bytes, and the stored form loses nothing of the client's.

import test from 'ava';
import fc from 'fast-check';
import { Arena, allocateRegion } from '../../src/base/arena.ts';
import * as properties from '../../src/message/properties.ts';

const { PropertyScan, scanProperties } = properties;

function scanText(text: string): { b: Buffer; scan: properties.PropertyScan } {
  const b = Buffer.from(`<<${text}>>`);
  const scan = new PropertyScan();
  scanProperties(b, 2, b.length - 2, scan);
  return { b, scan };
}

function valueAt(b: Buffer, at: number, end: number): string | null {
  return at < 0 ? null : b.toString('utf8', at, end);
}

test('properties: text to map and back, with and without the last separator', (t) => {
  const names = fc.stringMatching(/^[A-Za-z_0-9жж标]{1,12}$/);
  const values = fc.string({ minLength: 1, unit: fc.constantFrom('a', 'Z', ' ', 'ж', '标', '😀', '\u0003') });
  fc.assert(
    fc.property(fc.dictionary(names, values), (object) => {
      const map = new Map(Object.entries(object));
      const b = properties.encodeProperties(map);
      t.deepEqual(properties.decodeProperties(b, 0, b.length), map);
      t.deepEqual(properties.decodeProperties(b, 0, Math.max(0, b.length - 1)), map);
      for (const [name, value] of map) t.is(properties.readProperty(b, 0, b.length, name), value);
      t.is(properties.unstorableProperty(map), null);
    }),
    { seed: 3, numRuns: 300 },
  );
});

const broken: [string, Record<string, string>][] = [
  ['a\u0001\u0002b\u00011\u0002', { b: '1' }],
  ['\u0001x\u0002b\u00011', { b: '1' }],
  ['abc\u0002\u0002\u0002b\u00011', { b: '1' }],
  ['a\u00011\u0002a\u00012\u0002', { a: '2' }],
  ['a\u00011\u0002a\u0001\u0002', { a: '1' }],
  ['a\u0001b\u0001c\u0002', { a: 'b\u0001c' }],
  ['\u0002', {}],
  ['', {}],
];

for (const [text, want] of broken) {
  test(`properties: what can be split of ${JSON.stringify(text)}`, (t) => {
    const b = Buffer.from(text);
    t.deepEqual(properties.decodeProperties(b, 0, b.length), new Map(Object.entries(want)));
    for (const name of ['a', 'b']) t.is(properties.readProperty(b, 0, b.length, name), want[name] ?? null);
  });
}

test('properties: a name is found whole, not as a part of another', (t) => {
  const b = Buffer.from('XTAGS\u00011\u0002TAGSX\u00012\u0002v\u0001TAGS\u0002TAGS');
  t.is(properties.readProperty(b, 0, b.length, 'TAGS'), null);
});

test('properties: names and values that cannot be stored are told', (t) => {
  t.is(
    properties.unstorableProperty(
      new Map([
        ['ok', 'v'],
        ['a\u0001b', 'v'],
      ]),
    ),
    'a\u0001b',
  );
  t.is(properties.unstorableProperty(new Map([['x', 'a\u0002b']])), 'x');
  t.is(properties.unstorableProperty(new Map([['', 'b']])), '');
  t.is(
    properties.formatProperties(
      new Map([
        ['empty', ''],
        ['x', '1'],
      ]),
    ),
    'x\u00011\u0002',
  );
});

test('scan: all that the broker must know, in one pass', (t) => {
  const { b, scan } = scanText(
    'TAGS\u0001订单\u0002KEYS\u0001k1 k2\u0002UNIQ_KEY\u0001U1\u0002WAIT\u0001false\u0002DELAY\u00013\u0002TRAN_MSG\u0001true\u0002' +
      'RETRY_TOPIC\u0001T\u0002INNER_NUM\u00014\u0002TIMER_DELAY_SEC\u00015\u0002TIMER_DELAY_MS\u00016\u0002TIMER_DELIVER_MS\u00017\u0002' +
      'POP_CK\u0001ck\u0002CLUSTER\u0001C\u0002MSG_REGION\u0001R\u0002TRACE_ON\u0001true\u0002x\u0001y',
  );
  t.is(valueAt(b, scan.tagsAt, scan.tagsEnd), '订单');
  t.is(valueAt(b, scan.keysAt, scan.keysEnd), 'k1 k2');
  t.is(valueAt(b, scan.uniqueKeyAt, scan.uniqueKeyEnd), 'U1');
  t.is(valueAt(b, scan.retryTopicAt, scan.retryTopicEnd), 'T');
  t.is(valueAt(b, scan.innerNumAt, scan.innerNumEnd), '4');
  t.is(valueAt(b, scan.timerDelaySecAt, scan.timerDelaySecEnd), '5');
  t.is(valueAt(b, scan.timerDelayMsAt, scan.timerDelayMsEnd), '6');
  t.is(valueAt(b, scan.timerDeliverMsAt, scan.timerDeliverMsEnd), '7');
  t.is(valueAt(b, scan.popCkAt, scan.popCkEnd), 'ck');
  t.deepEqual([scan.waitFalse, scan.delayLevel, scan.tranMsg, scan.hasTimer], [true, 3, true, true]);
  t.deepEqual([scan.hasCluster, scan.hasMsgRegion, scan.hasTraceOn, scan.endsWithSeparator], [true, true, true, false]);
  scanProperties(b, 2, 2, scan);
  t.deepEqual(scan, new PropertyScan());
});

test('scan: names that only look alike are left alone', (t) => {
  const { scan } = scanText(
    'tags\u00011\u0002TAGZ\u00011\u0002KEYS2\u00011\u0002WAIT\u0001true\u0002TRAN_MSG\u0001no\u0002TIMEX_DELAY_SEC\u00011\u0002POP_CX\u00011\u0002',
  );
  t.deepEqual(scan, new PropertyScan());
});

for (const name of ['TIMER_X', 'TIMER_XX', 'TIMER_XXX', 'TIMER_XXXX', 'TIMER_OUT_MS', 'TIMER_ROLL_TIMES']) {
  test(`scan: ${name} is a timer's`, (t) => t.true(scanText(`${name}\u00011`).scan.hasTimer));
}

test('scan: the last of equal names counts, unless it has no value', (t) => {
  const { b, scan } = scanText('TAGS\u0001a\u0002WAIT\u0001false\u0002TAGS\u0001b\u0002WAIT\u0001true\u0002TAGS\u0001\u0002');
  t.is(valueAt(b, scan.tagsAt, scan.tagsEnd), 'b');
  t.false(scan.waitFalse);
  t.is(scan.lostCount, 1);
});

test('scan: a delay that is no number is told from none', (t) => {
  t.is(scanText('DELAY\u00014Some-Flag').scan.delayLevel, Number.NaN);
  t.is(scanText('DELAY\u0001-1').scan.delayLevel, -1);
  t.is(scanText('DELAY\u000199999999999999999').scan.delayLevel, Number.NaN);
  t.is(scanText('DELAY\u0001').scan.delayLevel, 0);
  t.is(scanText('a\u0001b\u0001c\u0002').scan.straySeparatorCount, 1);
});

const pieces = fc.constantFrom(
  'TAGS',
  'CLUSTER',
  'MSG_REGION',
  'TRACE_ON',
  'POP_CK',
  'UNIQ_KEY',
  'x',
  'ж',
  '\u0001',
  '\u0001',
  '\u0002',
  '\u0002',
  'true',
);
const owned = ['MSG_REGION', 'TRACE_ON', 'CLUSTER', 'POP_CK'];

test('stored properties: any text keeps what is the client’s, loses what is the broker’s, and can be appended to', (t) => {
  const suffix = Buffer.from('MSG_REGION\u0001R\u0002CLUSTER\u0001C\u0002');
  const region = allocateRegion(4096);
  const arena = Arena.of(region.memory);
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 30 }), (parts) => {
      const { b, scan } = scanText(parts.join(''));
      const sourceEnd = b.length - 2;
      const size = properties.storedPropertiesSize(sourceEnd - 2, scan, suffix.length);
      const out = arena.bytes.subarray(region.at, region.at + size + 1).fill(0xee);
      const end = properties.writeStoredProperties(arena, region.at, b, 2, sourceEnd, scan, suffix) - region.at;
      t.is(end, size);
      t.is(out[end], 0xee);
      const source = properties.decodeProperties(b, 2, sourceEnd);
      const want = new Map([...source].filter(([name]) => !owned.includes(name)));
      want.set('MSG_REGION', 'R').set('CLUSTER', 'C');
      t.deepEqual(properties.decodeProperties(out, 0, end), want);
      t.is(valueAt(b, scan.tagsAt, scan.tagsEnd), source.get('TAGS') ?? null);
      t.is(valueAt(b, scan.uniqueKeyAt, scan.uniqueKeyEnd), source.get('UNIQ_KEY') ?? null);
      t.deepEqual([scan.hasCluster, scan.hasTraceOn], [source.has('CLUSTER'), source.has('TRACE_ON')]);
    }),
    { seed: 11, numRuns: 3000 },
  );
});
