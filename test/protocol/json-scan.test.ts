// The scan of JSON headers against JSON.parse.
import test from 'ava';
import fc from 'fast-check';
import { SeededRandom } from '../../src/base/random.ts';
import { HeaderCodecs } from '../../src/protocol/frame.ts';
import { Header, readHeader } from '../../src/protocol/header.ts';
import { readJsonHeader } from '../../src/protocol/json-header.ts';
import { scanJsonHeader } from '../../src/protocol/json-scan.ts';
import { cut, goldenClients, goldenFrames } from './golden.ts';

function shape(header: Header): unknown {
  const { code, language, version, opaque, flag, remark } = header;
  return { code, language, version, opaque, flag, remark, fields: header.fields() };
}

/** What JSON.parse makes of it, or its fault. */
function parsed(bytes: Buffer): unknown {
  const header = new Header();
  return readJsonHeader(bytes, 0, bytes.length, header) ?? shape(header);
}

function scanned(bytes: Buffer): unknown {
  const header = new Header();
  return scanJsonHeader(bytes, 0, bytes.length, header) ? shape(header) : undefined;
}

const usual =
  '{"code":310,"extFields":{"a":"g","b":"","i":"K\\u0001k\\u0002\\"\\\\\\/\\b\\f\\n\\r\\t","d":4,"k":false,"t":true,"z":0,"n":-7,"big":1796036932062919262},"flag":0,"language":"JAVA","opaque":-21,"remark":"","serializeTypeCurrentRPC":"JSON","version":479}';

test('json scan: the usual header is read without JSON.parse, to the same end', (t) => {
  for (const text of [
    usual,
    '{"code":1}',
    '{"code":0,"extFields":{},"flag":1,"language":"GO","opaque":0,"version":317}',
    '{"code":1,"language":"KLINGON"}',
  ]) {
    const bytes = Buffer.from(text);
    t.not(scanned(bytes), undefined, text);
    t.deepEqual(scanned(bytes), parsed(bytes), text);
  }
});

test('json scan: nearly all golden headers are usual, and all read alike', (t) => {
  let usualCount = 0;
  let count = 0;
  for (const client of goldenClients()) {
    for (const frame of goldenFrames(client)) {
      if (frame.header !== 'JSON') continue;
      const { header } = cut(Buffer.from(frame.b64, 'base64'));
      const seen = scanned(header);
      count++;
      if (seen === undefined) continue;
      usualCount++;
      t.deepEqual(seen, parsed(header));
    }
  }
  t.true(usualCount >= count * 0.95, `${usualCount} of ${count}`);
});

test('json scan: what is unusual is left to JSON.parse', (t) => {
  const cases = [
    '{ "code":1}',
    '{"code":1,"other":1}',
    '{"code":1,"code":2}',
    '{"code":"1"}',
    '{"code":1.0}',
    '{"code":01}',
    '{"code":-0}',
    '{"code":4294967296}',
    '{"opaque":1}',
    '{"code":1,"extFields":null}',
    '{"code":1,"extFields":{"a":null}}',
    '{"code":1,"extFields":{"a":1.5}}',
    '{"code":1,"extFields":{"a":1e3}}',
    '{"code":1,"extFields":{"a":-0}}',
    '{"code":1,"extFields":{"a":{}}}',
    '{"code":1,"extFields":{"\\u0061":1}}',
    '{"code":1,"extFields":{"a":"\\x"}}',
    '{"code":1,"extFields":{"a":"\\u00g0"}}',
    '{"code":1,"extFields":{"a":"\n"}}',
    '{"code":1,"extFields":{"a":1,}}',
    '{"code":1,"extFields":{"a":tru}}',
    '{"code":1,"extFields":{"a":truely}}',
    '{"code":1}}',
    '{"code":1',
    '{"code":1,',
    '{"code":1,"extFields":{"a":"',
    '{"code":1,"extFields":{"a":"\\',
    '{"code":1,"remark":null}',
    '{"code":1,"remark":"\\n"}',
    '',
    '{}',
  ];
  for (const text of cases) t.is(scanned(Buffer.from(text)), undefined, text);
});

test('json scan: escapes and other alphabets, as text and as bytes', (t) => {
  const out = Buffer.alloc(4096);
  const header = new Header();
  const check = (value: string, text: string): void => {
    const bytes = Buffer.from(`{"code":1,"extFields":{"i":${text}}}`);
    t.is(readHeader(bytes, 0, bytes.length, HeaderCodecs.json, header), null);
    t.is(header.field('i'), value);
    t.is(header.name('i'), value);
    const end = header.writeField('i', out, 7);
    t.is(out.toString('utf8', 7, end), value);
    t.true(end - 7 <= header.fieldSizeMax('i'));
  };
  check('a标签😀', '"a\\u6807\\u7b7e\\ud83d\\ude00"');
  check('a标签😀\u0001', '"a标签😀\\u0001"');
  check('\u007f', '"\\u007f"');
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (value) => {
      check(value, JSON.stringify(value));
      check(
        value,
        JSON.stringify(value).replace(/[^\0-~]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`),
      );
    }),
    { numRuns: 500, seed: 11 },
  );
});

test('json scan: whatever it takes of mutated headers, JSON.parse takes alike', (t) => {
  const random = new SeededRandom(12);
  const letters = Buffer.from('{}",:\\u01aeft-.n \n');
  let taken = 0;
  for (let round = 0; round < 60_000; round++) {
    const bytes = Buffer.from(usual);
    for (let i = random.below(2); i >= 0; i--)
      bytes[random.below(bytes.length)] = random.below(3) === 0 ? random.below(256) : (letters[random.below(letters.length)] as number);
    const seen = scanned(bytes);
    if (seen === undefined) continue;
    taken++;
    const wanted = parsed(bytes);
    if (JSON.stringify(seen) !== JSON.stringify(wanted)) t.deepEqual(seen, wanted, bytes.toString('latin1'));
  }
  t.true(taken > 5000);
});

test('json scan: a header cut short does not read on in the body', (t) => {
  const bytes = Buffer.from(usual);
  for (let size = 0; size < bytes.length; size++) {
    t.false(scanJsonHeader(bytes, 0, size, new Header()), String(size));
    t.not(readHeader(bytes, 0, size, HeaderCodecs.json, new Header()), null);
  }
});

test('json scan: values longer than the scratch', (t) => {
  const value = `\u0001${'x'.repeat(200_000)}`;
  const bytes = Buffer.from(`{"code":1,"extFields":{"i":${JSON.stringify(value)}}}`);
  const header = new Header();
  t.true(scanJsonHeader(bytes, 0, bytes.length, header));
  t.is(header.field('i'), value);
});
