// JSON as Java writes it: what is read, what is refused and where, and the golden configuration files written again byte for byte.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import fc from 'fast-check';
import { RingmqError } from '../../src/base/errors.ts';
import { compactJson, javaJson, prettyJavaJson, RawJson } from '../../src/base/json-writer.ts';
import { parseLenient } from '../../src/base/lenient-json.ts';

/** Ordinary objects instead of those without a prototype, for comparing. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plain(member)]));
}

const lenient: [string, unknown][] = [
  ['{0:"a"}', { 0: 'a' }],
  ['{-1:"a"}', { '-1': 'a' }],
  ['{"0":"a"}', { 0: 'a' }],
  ['{a_$1:1}', { a_$1: 1 }],
  ["{'a':'it\\'s \"x\"'}", { a: 'it\'s "x"' }],
  ['{"a":1,}', { a: 1 }],
  ['[1,2,]', [1, 2]],
  ['\ufeff {\t"a" :\n[ ] } ', { a: [] }],
  ['{"a":1,"a":2}', { a: 2 }],
  [
    '{"t":{{"brokerName":"b{\\"}:,","queueId":0,"topic":"t"}:12,{"queueId":1}:{}}}',
    { t: { '{"brokerName":"b{\\"}:,","queueId":0,"topic":"t"}': 12, '{"queueId":1}': {} } },
  ],
  ['9007199254740991', 9_007_199_254_740_991],
  ['[9007199254740993,-9223372036854775808,1.5,-0.25e2]', ['9007199254740993', '-9223372036854775808', 1.5, -25]],
  ['"\\u8ba2\\x41\\n\\/\\\\\\"\\q"', '订A\n/\\"q'],
  ['"line\nbreak"', 'line\nbreak'],
  ['[true,false,null,""]', [true, false, null, '']],
];

for (const [text, want] of lenient)
  test(`lenient json: reads ${JSON.stringify(text)}`, (t) => t.deepEqual(plain(parseLenient(text)), want));

test('lenient json: names that objects inherit are names like any other', (t) => {
  const value = parseLenient('{"__proto__":{"x":1},"a":2}') as Record<string, unknown>;
  t.deepEqual(Object.keys(value), ['__proto__', 'a']);
  t.is(value['constructor'], undefined);
  t.is(Object.getPrototypeOf(value), null);
  t.is(compactJson(value), '{"__proto__":{"x":1},"a":2}');
});

const malformed: [string, RegExp][] = [
  ['', /allowed here: a value at=0 seen=end/],
  ['{', /a key at=1 seen=end/],
  ['{"a"}', /a colon at=4/],
  ['{"a":}', /a value at=5/],
  ['{"a":1 "b":2}', /a comma or } at=7/],
  ['[1 2]', /a comma or \] at=3/],
  ['[1', /a comma or \] at=2 seen=end/],
  ['"abc', /a closing quote/],
  ['"abc\\', /an escape/],
  ['"\\u12"', /4 hex digits/],
  ['{"a":1}x', /the end of the text at=7/],
  ['nul', /a value at=0 seen="nul"/],
  ['1-2', /a value/],
  ['{[1]:2}', /a key at=1/],
  ['['.repeat(257), /nested too deeply at=256 depthMax=256/],
  ['{'.repeat(300), /nested too deeply/],
];

for (const [text, message] of malformed) {
  test(`lenient json: refuses ${JSON.stringify(text.slice(0, 20))}`, (t) => {
    const error = t.throws(() => parseLenient(text), { instanceOf: RingmqError, message });
    t.is(error.code, 'malformed');
  });
}

test('lenient json: 256 levels pass', (t) => t.notThrows(() => parseLenient('['.repeat(256) + ']'.repeat(256))));

/** Integers that a number does not hold exactly are text after reading. */
function exact(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(exact);
  if (typeof value === 'number') return Number.isSafeInteger(value) || !/^-?\d+$/.test(String(value)) ? value : String(value);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, exact(member)]));
}

test('lenient json: strict JSON is read as the platform reads it, in both forms', (t) => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
      const strict = JSON.parse(JSON.stringify(value));
      t.deepEqual(plain(parseLenient(JSON.stringify(value))), exact(strict));
      t.is(compactJson(strict), JSON.stringify(strict));
      t.deepEqual(plain(parseLenient(prettyJavaJson(strict))), exact(strict));
    }),
    { seed: 2, numRuns: 300 },
  );
});

test('lenient json: damaged text either reads or is refused, nothing else', (t) => {
  const text = '{"a":{{"b":"c\\u0041"}:1.5e3,1:[true,null]},\'x\':-12}';
  let refused = 0;
  fc.assert(
    fc.property(fc.nat({ max: text.length - 1 }), fc.constantFrom('{', '}', '"', ',', ':', '\\', '[', '', '9', ' '), (at, piece) => {
      try {
        parseLenient(text.slice(0, at) + piece + text.slice(at + 1));
      } catch (error) {
        refused++;
        t.true(error instanceof RingmqError);
      }
    }),
    { seed: 4, numRuns: 2000 },
  );
  t.true(refused > 100 && refused < 2000);
});

const queue = { brokerName: 'b', queueId: 0, topic: 't' };

test('json writer: number and object keys in the forms of both readers', (t) => {
  t.is(compactJson(new Map([[0, '10.0.0.1:10911']])), '{"0":"10.0.0.1:10911"}');
  t.is(
    javaJson(
      new Map([
        [10, 'a'],
        [0, 'b'],
      ]),
    ),
    '{10:"a",0:"b"}',
  );
  t.is(javaJson({ offsetTable: new Map([[queue, 12]]) }), '{"offsetTable":{{"brokerName":"b","queueId":0,"topic":"t"}:12}}');
  t.is(compactJson(new Map([[queue, 12]])), '{"{\\"brokerName\\":\\"b\\",\\"queueId\\":0,\\"topic\\":\\"t\\"}":12}');
  t.is(javaJson(new Map([['0', 1]])), '{"0":1}');
});

test('json writer: what has no form is left out or null, raw text is kept', (t) => {
  t.is(
    compactJson({ a: undefined, b: null, c: Number.NaN, d: [undefined], e: new RawJson('9007199254740993') }),
    '{"b":null,"c":null,"d":[null],"e":9007199254740993}',
  );
  t.is(compactJson(new Map([['a', undefined]])), '{}');
  t.is(prettyJavaJson({ a: {}, b: [], c: new Map() }), '{\n\t"a":{},\n\t"b":[],\n\t"c":{}\n}');
});

function goldenConfig(): string | null {
  for (let folder = dirname(fileURLToPath(import.meta.url)); folder !== dirname(folder); folder = dirname(folder)) {
    const place = join(folder, '../shared/golden/store/clean.config');
    if (existsSync(place)) return place;
  }
  return null;
}

/** Java maps with integer keys, which are objects with such names after reading. */
function withIntegerKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withIntegerKeys);
  if (value === null || typeof value !== 'object') return value;
  const members = Object.entries(value).map(([key, member]) => [key, withIntegerKeys(member)] as const);
  const isIntegers = members.length > 0 && members.every(([key]) => /^\d+$/.test(key));
  return isIntegers ? new Map(members.map(([key, member]) => [Number(key), member])) : Object.fromEntries(members);
}

const configs = ['consumerFilter', 'consumerOffset', 'consumerOrderInfo', 'delayOffset', 'subscriptionGroup', 'topics'];

for (const name of configs) {
  test(`json writer: ${name}.json is written again as Java's broker wrote it`, (t) => {
    const folder = goldenConfig();
    if (folder === null) {
      t.log('skipped: no golden data beside the project');
      t.pass();
      return;
    }
    const text = readFileSync(join(folder, `${name}.json`), 'utf8');
    t.is(prettyJavaJson(withIntegerKeys(parseLenient(text))), text);
  });
}
