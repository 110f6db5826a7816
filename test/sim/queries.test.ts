// Messages looked up by id, unique key and keys, and what identifies them in the answer to their send.
import test from 'ava';
import { encodeBatch } from '../../src/message/batch.ts';
import { formatProperties } from '../../src/message/properties.ts';
import { RequestCodes, ResponseCodes } from '../../src/protocol/codes.ts';
import { SimBroker } from './sim-broker.ts';
import { type Answer, bodyOf, nameOf, recordsOf, type SimClient, sendFields } from './sim-client.ts';

function send(client: SimClient, uniqueKey: string, keys = ''): Answer {
  const properties = formatProperties(
    new Map([
      ['UNIQ_KEY', uniqueKey],
      ['KEYS', keys],
    ]),
  );
  return client.ask(RequestCodes.SEND_MESSAGE_V2, { ...sendFields('Orders', 0, ''), i: properties }, bodyOf(uniqueKey, 10));
}

function found(client: SimClient, key: string, more: Record<string, string | number | boolean> = {}): string[] {
  const ext = { topic: 'Orders', key, maxNum: 32, beginTimestamp: 0, endTimestamp: Number.MAX_SAFE_INTEGER, ...more };
  const answer = client.ask(RequestCodes.QUERY_MESSAGE, ext);
  if (answer.code !== 0) return answer.code === ResponseCodes.QUERY_NOT_FOUND ? [] : [`code ${answer.code}`];
  return recordsOf(answer).map(nameOf);
}

test('queries: a unique key that is not ASCII, or long, comes back as it was sent, and finds its message', async (t) => {
  const sim = await SimBroker.start(1);
  const client = sim.client();
  for (const key of ['ключ-1', '订单', '😀'.repeat(20), 'é', 'k'.repeat(200), '"\\\n']) {
    for (let form = 0; form < 2; form++) {
      const unique = `${key}${form}`;
      const answer = send(client, unique);
      t.is(answer.code, 0);
      t.is(answer.ext['transactionId'], unique);
      t.deepEqual(found(client, unique, { _UNIQUE_KEY_QUERY: true }), [unique]);
    }
  }
  sim.assertHealthy();
});

test('queries: each of several keys finds its messages and no others; a unique query heeds unique keys only', async (t) => {
  const sim = await SimBroker.start(2);
  const client = sim.client();
  send(client, 'one', 'red blue');
  send(client, 'two', 'blue');
  send(client, 'three', 'bluebell 订单-7');
  send(client, 'blue');
  t.deepEqual(found(client, 'blue').sort(), ['blue', 'one', 'two']);
  t.deepEqual(found(client, 'blue', { _UNIQUE_KEY_QUERY: true }), ['blue']);
  t.deepEqual(found(client, '订单-7'), ['three']);
  t.deepEqual(found(client, 'red blue'), []);
  t.deepEqual(found(client, 'green'), []);
  t.is(found(client, 'blue', { maxNum: 1 }).length, 1);
  t.deepEqual(found(client, 'red', { endTimestamp: 1000 }), []);
  sim.assertHealthy();
});

test('queries: an id that points into a message, behind the end or nowhere is an error', async (t) => {
  const sim = await SimBroker.start(3);
  const client = sim.client();
  const id = send(client, 'one').ext['msgId'] ?? '';
  const position = Number.parseInt(id.slice(-16), 16);
  for (const offset of [position + 5, position + 1_000_000, -1, 2 ** 52]) {
    t.is(client.ask(RequestCodes.VIEW_MESSAGE_BY_ID, { offset, topic: 'Orders' }).code, 1);
  }
  t.deepEqual(recordsOf(client.ask(RequestCodes.VIEW_MESSAGE_BY_ID, { offset: position })).map(nameOf), ['one']);
  sim.assertHealthy();
});

test('queries: a consumer gets the very record that a tool names, and its answer goes back (309)', async (t) => {
  const sim = await SimBroker.start(4);
  const tool = sim.client();
  const consumer = sim.client();
  const sent = send(tool, 'one');
  const kind = {
    consumeType: 'CONSUME_PASSIVELY',
    messageModel: 'CLUSTERING',
    consumeFromWhere: 'CONSUME_FROM_FIRST_OFFSET',
    unitMode: false,
  };
  consumer.await(consumer.beat({ clientId: 'c1', consumers: [{ group: 'G', subscriptions: [], ...kind }] }));
  const bodies: Buffer[] = [];
  consumer.onRequest = (request) => {
    if (request.code !== RequestCodes.CONSUME_MESSAGE_DIRECTLY) return;
    bodies.push(request.body);
    consumer.reply(request.opaque, 0, Buffer.from('{"consumeResult":"CR_SUCCESS"}'));
  };
  const ask = (msgId: string): Answer =>
    tool.ask(RequestCodes.CONSUME_MESSAGE_DIRECTLY, { consumerGroup: 'G', clientId: 'c1', topic: 'Orders', msgId });
  const answer = ask(sent.ext['msgId'] ?? '');
  t.is(answer.body.toString(), '{"consumeResult":"CR_SUCCESS"}');
  const [body] = bodies;
  t.deepEqual(recordsOf({ ...answer, body: body ?? Buffer.alloc(0) }).map(nameOf), ['one']);
  t.is(ask('nonsense').code, 1);
  t.is(ask('F'.repeat(32)).code, 1);
  t.is(bodies.length, 1);
  sim.assertHealthy();
});

test('queries: properties of a message, and of one in a batch, end at 32767 bytes; what is longer is named, and nothing else suffers (BR-46)', async (t) => {
  const sim = await SimBroker.start(5);
  const client = sim.client();
  const single = (size: number): Answer => {
    const head = 'UNIQ_KEY\x01u\x02k\x01';
    const text = `${head}${'x'.repeat(size - head.length - 1)}\x02`;
    return client.ask(RequestCodes.SEND_MESSAGE_V2, { ...sendFields('Orders', 0, ''), i: text }, bodyOf('b', 10));
  };
  for (const size of [32_768, 65_536]) {
    const refused = single(size);
    t.is(refused.code, ResponseCodes.MESSAGE_ILLEGAL);
    t.regex(refused.remark ?? '', /32767/);
  }
  t.is(single(32_000).code, 0);
  const long = Buffer.from(`k\x01${'中'.repeat(12_000)}\x02`);
  const small = encodeBatch([{ flag: 0, body: bodyOf('b', 10), properties: Buffer.from('UNIQ_KEY\x01s\x02') }]);
  const large = Buffer.alloc(32 + long.length);
  large.writeInt32BE(large.length, 0);
  large.writeInt32BE(10, 16);
  large.writeUInt16BE(long.length, 30);
  long.copy(large, 32);
  const batch = (...entries: Buffer[]): Answer =>
    client.ask(RequestCodes.SEND_BATCH_MESSAGE, sendFields('Orders', 0, '', '', true), Buffer.concat(entries));
  const refused = batch(small, large);
  t.is(refused.code, ResponseCodes.MESSAGE_ILLEGAL);
  t.regex(refused.remark ?? '', /entry 1 .*32767/);
  t.is(batch(small, small).code, 0);
  t.is(client.askNumber(RequestCodes.GET_MAX_OFFSET, 'Orders', 0), 3);
  sim.assertHealthy();
});
