// Tag hashes as Java has them, and the rules of subscription expressions.
import test from 'ava';
import { javaHash } from '../../src/base/bytes.ts';
import { parseTagExpression, TAG_COUNT_MAX, tagsCodeOf } from '../../src/message/tags.ts';

// Values that Java's String.hashCode gives.
const hashes: [string, number][] = [
  ['', 0],
  ['TagA', 2598919],
  ['Aa', 2112],
  ['BB', 2112],
  ['中', 0x4e2d],
  ['polygenelubricants', -2147483648],
  ['😀', 0xd83d * 31 + 0xde00],
  ['*', 42],
];

for (const [tag, hash] of hashes) {
  test(`tags: Java's hash of ${JSON.stringify(tag)} is ${hash}`, (t) => {
    const b = Buffer.from(`..${tag}..`);
    t.is(tagsCodeOf(b, 2, b.length - 2), hash);
    const shared = new Uint8Array(new SharedArrayBuffer(b.length));
    shared.set(b);
    t.is(tagsCodeOf(shared, 2, b.length - 2), hash);
    t.is(javaHash(tag), hash);
  });
}

test('tags: a message without a tag has code 0', (t) => t.is(tagsCodeOf(Buffer.alloc(4), -1, -1), 0));

for (const text of [null, undefined, '', '*']) {
  test(`tags: ${text === '' ? 'an empty expression' : String(text)} selects everything`, (t) => {
    t.deepEqual(parseTagExpression(text), { ok: true, all: true, tags: [], codes: [] });
  });
}

const expressions: [string, string[]][] = [
  ['TagA', ['TagA']],
  ['a||b', ['a', 'b']],
  [' a || b ', ['a', 'b']],
  ['||a||', ['a']],
  ['a||a', ['a']],
  ['a||*', ['a', '*']],
  ['a|b', ['a|b']],
  [' || ', []],
  [' ', []],
  ['\u3000a', ['\u3000a']],
];

for (const [text, tags] of expressions) {
  test(`tags: the expression ${JSON.stringify(text)}`, (t) => {
    t.deepEqual(parseTagExpression(text), { ok: true, all: false, tags, codes: tags.map(javaHash) });
  });
}

for (const text of ['||', '||||']) {
  test(`tags: the expression ${text} is refused`, (t) =>
    t.deepEqual(parseTagExpression(text), { ok: false, fault: 'subString split error' }));
}

test('tags: equal hashes of different tags are one code', (t) => {
  t.deepEqual(parseTagExpression('Aa||BB'), { ok: true, all: false, tags: ['Aa', 'BB'], codes: [2112] });
});

test('tags: an expression has a limited number of tags', (t) => {
  const tags = (count: number): string => Array.from({ length: count }, (_, i) => `t${i}`).join('||');
  const most = parseTagExpression(tags(TAG_COUNT_MAX));
  t.is(most.ok && most.tags.length, TAG_COUNT_MAX);
  const more = parseTagExpression(tags(TAG_COUNT_MAX + 1));
  t.regex(more.ok ? '' : more.fault, /tags=4097 max=4096/);
});
