// The edges of what may be sent: sizes, names, tags, separators and large numbers get one verdict, and what is refused leaves no trace.
import test, { type ExecutionContext } from 'ava';
import { startBroker } from '../../src/index.ts';
import { formatProperties } from '../../src/message/properties.ts';
import { RequestCodes } from '../../src/protocol/codes.ts';
import { decodeMessages, textOf } from './pulled.ts';
import { sendExt, topicExt, WireClient } from './wire-client.ts';

const ILLEGAL = 13;
const BAD_PARAMETER = 29;

async function openClient(t: ExecutionContext, settings: Record<string, number> = {}): Promise<WireClient> {
  const broker = await startBroker({ memory: true, settings });
  t.teardown(() => broker.close());
  return WireClient.for(t, broker.port);
}

function batchOf(entries: readonly { body: Buffer; properties: Buffer }[]): Buffer {
  return Buffer.concat(
    entries.flatMap(({ body, properties }) => {
      const head = Buffer.alloc(20);
      head.writeInt32BE(22 + body.length + properties.length, 0);
      head.writeInt32BE(body.length, 16);
      const size = Buffer.alloc(2);
      size.writeUInt16BE(properties.length & 0xffff, 0);
      return [head, body, size, properties];
    }),
  );
}

const nothing = Buffer.alloc(0);

/** A property block of exactly this many bytes, with a unique key so that the broker adds none. */
function blockOf(sizeBytes: number, filler = 'x'): string {
  const start = 'UNIQ_KEY\u0001A0000000000000000000000000000001\u0002big\u0001';
  const count = Math.floor((sizeBytes - Buffer.byteLength(start) - 1) / Buffer.byteLength(filler));
  const text = `${start}${filler.repeat(count)}`;
  return `${text}${'x'.repeat(sizeBytes - Buffer.byteLength(text) - 1)}\u0002`;
}

test('limits: a body may have exactly maxMessageSize bytes, alone and in a batch', async (t) => {
  const maxMessageSize = 1024 * 1024;
  const client = await openClient(t, { maxMessageSize });
  const fitting = await client.send('Sizes', Buffer.alloc(maxMessageSize, 7));
  t.is(fitting.code, 0, fitting.remark);
  const pulled = decodeMessages((await client.pull('Sizes', 0)).body);
  t.is(pulled[0]?.body.length, maxMessageSize);
  t.true(pulled[0]?.body.every((byte) => byte === 7));

  const over = await client.send('Sizes', Buffer.alloc(maxMessageSize + 1, 7));
  t.is(over.code, ILLEGAL);
  t.regex(over.remark, new RegExp(`${maxMessageSize + 1}.*${maxMessageSize}`));
  t.is((await client.send('Sizes', nothing)).code, ILLEGAL);

  const batch = batchOf([
    { body: Buffer.from('a'), properties: nothing },
    { body: Buffer.alloc(maxMessageSize, 1), properties: nothing },
  ]);
  t.is(
    (await client.call(RequestCodes.SEND_BATCH_MESSAGE, sendExt('Sizes', { batch: true }), batch)).code,
    ILLEGAL,
    'all of it is too large',
  );
  const small = batchOf([
    { body: Buffer.from('a'), properties: nothing },
    { body: Buffer.from('b'), properties: nothing },
  ]);
  t.is((await client.call(RequestCodes.SEND_BATCH_MESSAGE, sendExt('Sizes', { batch: true }), small)).code, 0);
  const rest = decodeMessages((await client.pull('Sizes', 1)).body).map(textOf);
  t.deepEqual(rest, ['a', 'b'], 'refused messages took no offset');
});

test('limits: stored properties may have 32,767 bytes, and one more is refused, alone and as second of a batch', async (t) => {
  const client = await openClient(t);
  t.is((await client.send('Props', 'first', { properties: blockOf(100) })).code, 0);
  const stored = decodeMessages((await client.pull('Props', 0)).body)[0];
  const addedSize = Buffer.byteLength(formatProperties(stored?.properties ?? new Map())) - 100;
  t.true(addedSize >= 0 && addedSize < 200, `added=${addedSize}`);
  const max = 32_767 - addedSize;
  for (const filler of ['x', '\u8ba2']) {
    const answer = await client.send('Props', `max ${filler}`, { properties: blockOf(max, filler) });
    t.is(answer.code, 0, answer.remark);
  }
  for (const size of [max + 1, 32_768, 65_536, 70_000]) {
    const answer = await client.send('Props', 'over', { properties: blockOf(size) });
    t.is(answer.code, ILLEGAL, `size=${size}`);
    t.regex(answer.remark, /32767/, `size=${size}`);
  }
  for (const size of [32_768, 65_535]) {
    const entries = batchOf([
      { body: Buffer.from('one'), properties: nothing },
      { body: Buffer.from('two'), properties: Buffer.from(blockOf(size)) },
    ]);
    const answer = await client.call(RequestCodes.SEND_BATCH_MESSAGE, sendExt('Props', { batch: true }), entries);
    t.is(answer.code, ILLEGAL, `batch size=${size} ${answer.remark}`);
  }
  t.is((await client.send('Props', 'last')).code, 0);
  const bodies = decodeMessages((await client.pull('Props', 0)).body).map(textOf);
  t.deepEqual(bodies, ['first', 'max x', 'max \u8ba2', 'last']);
});

test('limits: one judge of names, whoever brings them', async (t) => {
  const client = await openClient(t);
  const fine = ['T'.repeat(127), 'a-b_c|d%e', '0'];
  const wrong = ['T'.repeat(128), 'a.b', 'a+b', 'a/b', 'a b', '\u8ba2\u5355', '../up'];
  for (const topic of fine) {
    t.is((await client.call(RequestCodes.UPDATE_AND_CREATE_TOPIC, topicExt(topic, 1))).code, 0, topic);
    t.is((await client.send(topic, 'x')).code, 0, topic);
    t.is((await client.pull(topic, 0)).code, 0, topic);
  }
  for (const topic of wrong) {
    t.is((await client.call(RequestCodes.UPDATE_AND_CREATE_TOPIC, topicExt(topic, 1))).code, BAD_PARAMETER, topic);
    t.is((await client.send(topic, 'x')).code, BAD_PARAMETER, topic);
  }
  for (const [groupName, code] of [
    ['G'.repeat(120), 0],
    ['G'.repeat(121), BAD_PARAMETER],
    ['a.b', BAD_PARAMETER],
  ] as const) {
    const answer = await client.call(RequestCodes.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, JSON.stringify({ groupName }));
    t.is(answer.code, code, `${groupName.slice(0, 5)} ${answer.remark}`);
  }
});

test('limits: separators in user data, a missing last one, empty and double names harm nobody else', async (t) => {
  const client = await openClient(t);
  const odd: Record<string, string> = {
    'no last separator': 'a\u00011\u0002b\u00012',
    'separator in a value': 'a\u00011\u0001still\u0002b\u00012\u0002',
    'empty value': 'a\u0001\u0002b\u00012\u0002',
    'empty name': '\u00011\u0002b\u00012\u0002',
    'double name': 'b\u00011\u0002b\u00012\u0002',
    'only separators': '\u0002\u0002\u0001\u0001\u0002',
  };
  const expected: string[] = [];
  for (const [what, properties] of Object.entries(odd)) {
    const answer = await client.send('Odd', what, { properties });
    t.true(answer.code === 0 || answer.code === ILLEGAL, `${what}: ${answer.code} ${answer.remark}`);
    if (answer.code === 0) expected.push(what);
    t.is((await client.send('Odd', 'plain', { properties: 'a\u00011\u0002' })).code, 0);
    expected.push('plain');
  }
  t.is((await client.send('Odd', 'x', { properties: 'DELAY\u0001abc\u0002' })).code, ILLEGAL);
  const messages = decodeMessages((await client.pull('Odd', 0)).body);
  t.deepEqual(messages.map(textOf), expected);
  for (const message of messages.filter((each) => textOf(each) === 'plain')) t.is(message.properties.get('a'), '1');
  const cut = messages.find((each) => textOf(each) === 'no last separator');
  t.is(cut?.properties.get('b'), '2');
  t.is(cut?.properties.get('MSG_REGION'), 'DefaultRegion', 'what the broker adds begins a property of its own');
});

test('limits: tags are matched by their Java hash, of any letters, and the offset passes what does not match', async (t) => {
  const client = await openClient(t);
  const tags = ['Aa', 'BB', '\u8ba2\u5355', '\u{1f600}', 'x'.repeat(200), 'a', 'b'];
  for (const tag of tags) t.is((await client.send('Tags', tag, { properties: `TAGS\u0001${tag}\u0002` })).code, 0);
  const read = async (expression: string): Promise<string[]> =>
    decodeMessages((await client.pull('Tags', 0, { tags: expression })).body).map(textOf);
  t.deepEqual(await read('Aa'), ['Aa', 'BB'], 'equal hashes: the client tells them apart');
  for (const tag of tags.slice(2)) t.deepEqual(await read(tag), [tag]);
  t.deepEqual(await read('a||b'), ['a', 'b']);
  t.deepEqual(await read('a || b '), ['a', 'b']);
  t.deepEqual(await read('*'), tags);
  const none = await client.pull('Tags', 0, { tags: 'nobody' });
  t.is(none.code, 20);
  t.is(none.ext['nextBeginOffset'], String(tags.length));
});

test('limits: a number that a double cannot hold is kept exactly or refused, never changed', async (t) => {
  const client = await openClient(t);
  t.is((await client.send('Big', 'x')).code, 0);
  await client.call(RequestCodes.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, JSON.stringify({ groupName: 'G' }));
  const key = { consumerGroup: 'G', topic: 'Big', queueId: 0 };
  for (const text of ['9007199254740993', '9223372036854775807']) {
    const set = await client.call(RequestCodes.UPDATE_CONSUMER_OFFSET, { ...key, commitOffset: text });
    const got = await client.call(RequestCodes.QUERY_CONSUMER_OFFSET, key);
    if (set.code === 0) t.is(got.ext['offset'], text);
    else t.not(got.ext['offset'], '9007199254740992');
    const pulled = await client.call(RequestCodes.PULL_MESSAGE, {
      ...key,
      queueOffset: text,
      maxMsgNums: 32,
      sysFlag: 4,
      commitOffset: 0,
      suspendTimeoutMillis: 0,
      subVersion: '1796037105378123456',
      subscription: '*',
    });
    t.true(pulled.code === 21 || pulled.code === 1, `${pulled.code} ${pulled.remark}`);
    if (pulled.code === 21) t.is(pulled.ext['nextBeginOffset'], '1');
  }
});
