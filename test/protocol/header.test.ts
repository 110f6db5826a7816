// Headers in both forms: captured ones, odd ones, round trips.
import test from 'ava';
import fc from 'fast-check';
import type { HeaderCodec } from '../../src/protocol/frame.ts';
import { HeaderCodecs } from '../../src/protocol/frame.ts';
import type { ExtFields } from '../../src/protocol/header.ts';
import { encodeFrame, encodeResponse, Header, integerOf, readHeader } from '../../src/protocol/header.ts';
import { languageName } from '../../src/protocol/versions.ts';
import { cut, goldenAbsent, goldenClients, goldenFrames, goldenProbes } from './golden.ts';

function read(frame: Buffer, into = new Header()): Header {
  const { codec, headerSize } = cut(frame);
  const fault = readHeader(frame, 8, headerSize, codec as HeaderCodec, into);
  if (fault !== null) throw new Error(fault);
  return into;
}

const faultOf = (codec: HeaderCodec, bytes: Buffer): string | null => readHeader(bytes, 0, bytes.length, codec, new Header());
const fromJson = (text: string): Header => {
  const header = new Header();
  const bytes = Buffer.from(text);
  const fault = readHeader(bytes, 0, bytes.length, HeaderCodecs.json, header);
  if (fault !== null) throw new Error(fault);
  return header;
};

const texts = (ext: Record<string, unknown> | undefined): Record<string, string> =>
  Object.fromEntries(Object.entries(ext ?? {}).flatMap(([name, value]) => (value === null ? [] : [[name, String(value)]])));

const filled = (ext: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(ext).filter(([, value]) => value !== ''));

for (const client of goldenClients()) {
  test(`header: every frame of ${client} decodes to what was captured, and survives both forms`, (t) => {
    const header = new Header();
    const again = new Header();
    for (const line of goldenFrames(client)) {
      const frame = Buffer.from(line.b64, 'base64');
      const { body } = cut(frame);
      read(frame, header);
      const seen = { code: header.code, opaque: header.opaque, flag: header.flag, version: header.version, size: body.length };
      t.deepEqual(seen, { code: line.code, opaque: line.opaque, flag: line.flag, version: line.version, size: line.bodyLength });
      t.is(languageName(header.language), line.language);
      t.is(header.remark ?? '', line.remark ?? '');
      const ext = header.fields();
      // In the binary form an empty value means that the field is absent.
      t.deepEqual(ext, line.header === 'JSON' ? texts(line.ext) : filled(texts(line.ext)));
      for (const [name, value] of Object.entries(ext)) t.is(header.field(name), value);
      const { code, opaque, flag, version, language, remark } = header;
      for (const codec of Object.values(HeaderCodecs)) {
        const written = encodeFrame({ code, opaque, flag, version, language, remark, ext, body, codec });
        t.is(cut(written).codec, code > 0x7fff ? HeaderCodecs.json : codec);
        read(written, again);
        t.deepEqual([again.code, again.opaque, again.flag, again.version], [code, opaque, flag, version]);
        t.is(languageName(again.language), line.language);
        t.is(again.remark ?? '', remark ?? '');
        const kept = codec === HeaderCodecs.json ? ext : filled(ext);
        t.deepEqual(again.fields(), kept);
        t.deepEqual(cut(written).body, body);
      }
    }
  });
}

test('header: golden frames are at hand', (t) => {
  if (goldenAbsent !== undefined) t.log(goldenAbsent);
  t.pass();
});

test('header: the probes read without a throw, and their answers as captured', (t) => {
  const header = new Header();
  for (const probe of goldenProbes()) {
    const request = Buffer.from(probe.request, 'base64');
    t.notThrows(() => readHeader(request, 8, cut(request).headerSize, request[4] as HeaderCodec, header));
    if (probe.response === undefined || probe.response === null) continue;
    read(Buffer.from(probe.response, 'base64'), header);
    t.is(header.code, probe.answer ?? -1, probe.name);
    t.deepEqual(header.fields(), texts(probe.answerExt ?? {}), probe.name);
  }
  t.pass();
});

test('header: the two examples of the reference are written byte by byte', (t) => {
  const request = { code: 105, opaque: 1, flag: 0, version: 479, language: 'JAVA', ext: { topic: 'TBW102' } };
  const json =
    '{"code":105,"extFields":{"topic":"TBW102"},"flag":0,"language":"JAVA","opaque":1,"serializeTypeCurrentRPC":"JSON","version":479}';
  t.is(encodeFrame({ ...request, codec: HeaderCodecs.json }).toString('latin1'), `\0\0\0\x84\0\0\0\x80${json}`);
  const binary = '0000002a0100002600690001df000000010000000000000000000000110005746f70696300000006544257313032';
  t.is(encodeFrame({ ...request, codec: HeaderCodecs.binary }).toString('hex'), binary);
});

test('header: numbers, booleans and null in extFields count as their text', (t) => {
  const header = fromJson('{"code":310,"opaque":2,"flag":0,"extFields":{"d":4,"k":false,"x":null,"y":1.5,"z":-0,"i":"","o":{"a":[1]}}}');
  t.deepEqual(header.fields(), { d: '4', k: 'false', y: '1.5', z: '0', i: '', o: '{"a":[1]}' });
  t.is(header.field('x'), undefined);
  t.is(header.number('d'), 4);
  t.true(Number.isNaN(header.number('y')));
});

test('header: a bare number beyond 2^53 keeps its digits', (t) => {
  const ext = '"subVersion":1796036932062919262,"s":"a\\"1796036932062919262,","low":-9223372036854775808,"f":0.12345678901234567890';
  const header = fromJson(`{"code":11,"extFields":{${ext}}}`);
  t.is(header.field('f'), '0.12345678901234568');
  t.is(header.field('subVersion'), '1796036932062919262');
  t.is(header.field('low'), '-9223372036854775808');
  t.is(header.field('s'), 'a"1796036932062919262,');
  t.true(Number.isNaN(header.number('subVersion')));
  t.is(header.fields()['subVersion'], '1796036932062919262');
});

test('header: names of the object prototype are ordinary and harmless', (t) => {
  const none = fromJson('{"code":1,"extFields":{}}');
  for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) t.is(none.field(name), undefined);
  const sent = fromJson('{"code":1,"extFields":{"__proto__":{"polluted":"yes"},"constructor":"c","toString":1}}');
  t.is(sent.field('__proto__'), '{"polluted":"yes"}');
  t.is(sent.field('constructor'), 'c');
  t.is(sent.number('toString'), 1);
  t.deepEqual(Object.keys(sent.fields()), ['__proto__', 'constructor', 'toString']);
  t.is(({} as Record<string, unknown>)['polluted'], undefined);
});

test('header: what is no header is refused with a reason', (t) => {
  const cases: [string, RegExp][] = [
    ['', /not JSON/],
    ['{"code":105', /not JSON/],
    ['[]', /not a JSON object/],
    ['null', /not a JSON object/],
    ['{"opaque":1}', /32-bit number code=undefined/],
    ['{"code":1.5}', /code=1.5/],
    ['{"code":1,"opaque":4294967296}', /opaque=4294967296/],
    ['{"code":1,"extFields":[1]}', /extFields is not an object/],
    ['{"code":1,"extFields":"x"}', /extFields is not an object/],
  ];
  for (const [text, wanted] of cases) t.regex(faultOf(HeaderCodecs.json, Buffer.from(text)) ?? '', wanted, text);
  const deep = `{"code":1,"extFields":{"x":${'['.repeat(200_000)}${']'.repeat(200_000)}}}`;
  const header = new Header();
  const fault = readHeader(Buffer.from(deep), 0, deep.length, HeaderCodecs.json, header);
  if (fault === null) t.is(typeof header.field('x'), 'string');
});

const binaryWith = (ext: string, remarkSize = 0, extSize = ext.length / 2): Buffer => {
  const sizes = Buffer.alloc(8);
  sizes.writeInt32BE(remarkSize, 0);
  sizes.writeInt32BE(extSize, 4);
  return Buffer.concat([Buffer.from('006900' + '01df' + '00000001' + '00000000', 'hex'), sizes, Buffer.from(ext, 'hex')]);
};

test('binary header: every overrun is a fault', (t) => {
  t.is(faultOf(HeaderCodecs.binary, binaryWith('')), null);
  t.regex(faultOf(HeaderCodecs.binary, Buffer.alloc(20)) ?? '', /too short size=20 min=21/);
  t.regex(faultOf(HeaderCodecs.binary, binaryWith('', -1)) ?? '', /remark overruns/);
  t.regex(faultOf(HeaderCodecs.binary, binaryWith('', 1)) ?? '', /remark overruns/);
  t.regex(faultOf(HeaderCodecs.binary, binaryWith('', 0x7fffffff)) ?? '', /remark overruns/);
  t.regex(faultOf(HeaderCodecs.binary, binaryWith('', 0, 1)) ?? '', /extFields overrun/);
  t.regex(faultOf(HeaderCodecs.binary, binaryWith('', 0, -1)) ?? '', /extFields overrun/);
  t.regex(faultOf(HeaderCodecs.binary, binaryWith('00')) ?? '', /key size/);
  t.regex(faultOf(HeaderCodecs.binary, binaryWith('000161')) ?? '', /key of an entry/);
  t.regex(faultOf(HeaderCodecs.binary, binaryWith('ffff6100000000')) ?? '', /key of an entry/);
  t.regex(faultOf(HeaderCodecs.binary, binaryWith('00016100000001')) ?? '', /value of an entry/);
  t.regex(faultOf(HeaderCodecs.binary, binaryWith('000161ffffffff')) ?? '', /value of an entry/);
});

test('binary header: the last of a name counts, an empty value is absent', (t) => {
  const entry = (key: string, value: string): string => {
    const sizes = Buffer.alloc(6);
    sizes.writeInt16BE(key.length, 0);
    sizes.writeInt32BE(value.length, 2);
    return Buffer.concat([sizes.subarray(0, 2), Buffer.from(key), sizes.subarray(2), Buffer.from(value)]).toString('hex');
  };
  const frame = binaryWith(entry('a', '1') + entry('b', '2') + entry('a', '3') + entry('b', '') + entry('', 'x') + entry('c', ''));
  const header = new Header();
  t.is(readHeader(frame, 0, frame.length, HeaderCodecs.binary, header), null);
  t.is(header.field('a'), '3');
  t.is(header.number('a'), 3);
  t.is(header.field('b'), undefined);
  t.is(header.field('c'), undefined);
  t.deepEqual(header.fields(), { a: '3' });
});

test('binary header: more entries than the table has room for', (t) => {
  const ext: ExtFields = {};
  for (let i = 0; i < 500; i++) ext[`name${i}`] = i;
  const header = read(encodeFrame({ code: 1, opaque: 1, flag: 0, codec: HeaderCodecs.binary, ext }));
  t.is(header.number('name0'), 0);
  t.is(header.field('name499'), '499');
  t.is(Object.keys(header.fields()).length, 500);
});

test('header: an unknown language stays as it came', (t) => {
  t.is(fromJson('{"code":1,"language":"COBOL"}').language, 'COBOL');
  const frame = encodeFrame({ code: 1, opaque: 1, flag: 0, codec: HeaderCodecs.binary, language: 99 });
  t.is(read(frame).language, 99);
  t.is(read(encodeFrame({ code: 1, opaque: 1, flag: 0, codec: HeaderCodecs.json, language: 99 })).language, 99);
});

test('header: an answer repeats form and opaque, and always has fields', (t) => {
  for (const codec of Object.values(HeaderCodecs)) {
    const request = read(encodeFrame({ code: 14, opaque: -7, flag: 0, codec, language: 'GO', version: 317 }));
    const frame = encodeResponse(request, 22, 'none', undefined, Buffer.from('x'));
    const answer = read(frame);
    t.is(cut(frame).codec, codec);
    t.deepEqual([answer.code, answer.opaque, answer.isResponse, answer.isOneway, answer.version], [22, -7, true, false, 479]);
    t.is(languageName(answer.language), 'JAVA');
    t.is(answer.remark, 'none');
    if (codec === HeaderCodecs.json) t.true(frame.toString().includes('"extFields":{}'));
  }
});

test('header: an answer does not repeat a text of any size', (t) => {
  for (const codec of Object.values(HeaderCodecs)) {
    const request = read(encodeFrame({ code: 14, opaque: 1, flag: 0, codec }));
    t.is(read(encodeResponse(request, 1, 'x'.repeat(16_384))).remark, 'x'.repeat(16_384));
    t.is(read(encodeResponse(request, 1, 'x'.repeat(16 * 1024 * 1024))).remark, `${'x'.repeat(16_384)}...`);
  }
});

const code = fc.integer({ min: -0x8000, max: 0x7fff });
const int = fc.integer();
const extOf = fc.dictionary(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }), fc.string({ unit: 'grapheme', minLength: 1 }));
const ascii = fc.dictionary(fc.stringMatching(/^[a-zA-Z_]{1,12}$/), fc.oneof(fc.string({ minLength: 1 }), fc.integer(), fc.boolean()));

test('header: whatever is written in either form reads back', (t) => {
  const header = new Header();
  fc.assert(
    fc.property(code, int, int, fc.option(fc.string({ minLength: 1 })), fc.oneof(extOf, ascii), fc.constantFrom(0, 1), (...parts) => {
      const [code, opaque, flag, remark, ext, codec] = parts;
      const frame = encodeFrame({ code, opaque, flag, codec: codec as HeaderCodec, remark: remark ?? undefined, ext });
      read(frame, header);
      t.deepEqual([header.code, header.opaque, header.flag, header.remark ?? null], [code, opaque, flag, remark]);
      t.deepEqual(new Map(Object.entries(header.fields())), new Map(Object.entries(texts(ext))));
    }),
    { numRuns: 2000, seed: 7 },
  );
});

test('header: integers are read without Number()', (t) => {
  fc.assert(
    fc.property(fc.integer(), (value) => {
      t.is(integerOf(String(value)), value);
    }),
    { numRuns: 300, seed: 7 },
  );
  t.is(integerOf('999999999999999'), 999999999999999);
  for (const text of ['', '-', '1e3', '1.0', ' 1', '0x10', '9999999999999999', '--1']) t.true(Number.isNaN(integerOf(text)), text);
});
