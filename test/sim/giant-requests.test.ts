// Requests that are sound but for their size: they are refused with the limit, and neither an actor nor another client suffers.
import test from 'ava';
import { HEADER_SIZE_MAX } from '../../src/actors/ingress/frame-router.ts';
import { EXPRESSION_SIZE_MAX, HEARTBEAT_SIZE_MAX } from '../../src/core/member-limits.ts';
import { TAG_COUNT_MAX } from '../../src/message/tags.ts';
import type { ConsumerData } from '../../src/protocol/bodies/heartbeat.ts';
import { encodeLockBatch } from '../../src/protocol/bodies/lock-batch.ts';
import { RequestCodes, ResponseCodes } from '../../src/protocol/codes.ts';
import { SimBroker } from './sim-broker.ts';
import { bodyOf, nameOf, recordsOf, type SimClient, sendFields } from './sim-client.ts';

const queries = { maxNum: 32, beginTimestamp: 0, endTimestamp: Number.MAX_SAFE_INTEGER };

function tagsOf(count: number): string {
  return Array.from({ length: count }, (_, i) => `t${i}`).join('||');
}

function reads(group: string, expression: string, codes: number[]): ConsumerData {
  return {
    group,
    consumeType: 'CONSUME_PASSIVELY',
    messageModel: 'CLUSTERING',
    consumeFromWhere: 'CONSUME_FROM_LAST_OFFSET',
    subscriptions: [{ topic: 'Orders', expression, type: 'TAG', tags: [], codes, version: '1', classFilter: false }],
    unitMode: false,
  };
}

/** With a message under a key, which another connection can always find. */
async function start(seed: number): Promise<{ sim: SimBroker; client: SimClient; checkOthers: () => void }> {
  const sim = await SimBroker.start(seed, { ingressCount: 1 });
  const other = sim.client();
  other.ask(
    RequestCodes.SEND_MESSAGE_V2,
    { ...sendFields('Orders', 0, ''), i: 'UNIQ_KEY\x01m0\x02KEYS\x01k\x02TAGS\x01t7\x02' },
    bodyOf('m0', 10),
  );
  const checkOthers = (): void => {
    sim.assertHealthy();
    const names = recordsOf(other.ask(RequestCodes.QUERY_MESSAGE, { topic: 'Orders', key: 'k', ...queries })).map(nameOf);
    if (other.closed || names.join() !== 'm0') throw new Error(`the other client: closed=${other.closed} names=${names.join()}`);
  };
  return { sim, client: sim.client(), checkOthers };
}

test('giant requests: a key longer than any message can have is refused, and the longest is looked for', async (t) => {
  const { client, checkOthers } = await start(1);
  const longest = 32_700 - 'Orders#'.length;
  for (const size of [longest + 1, 100_000, 900_000]) {
    const answer = client.ask(RequestCodes.QUERY_MESSAGE, { topic: 'Orders', key: 'x'.repeat(size), ...queries });
    t.is(answer.code, ResponseCodes.SYSTEM_ERROR);
    t.regex(answer.remark ?? '', new RegExp(`size=${size + 7} max=32700`));
  }
  const found = client.ask(RequestCodes.QUERY_MESSAGE, { topic: 'Orders', key: 'x'.repeat(longest), ...queries });
  t.is(found.code, ResponseCodes.QUERY_NOT_FOUND);
  checkOthers();
});

test('giant requests: thousands of queries at once wait for their turn, and all are answered', async (t) => {
  const { sim, client, checkOthers } = await start(2);
  const asked = Array.from({ length: 3_000 }, (_, i) =>
    client.send(RequestCodes.QUERY_MESSAGE, { topic: 'Orders', key: 'x'.repeat(500 + i), ...queries }),
  );
  for (const opaque of asked) t.is(client.await(opaque).code, ResponseCodes.QUERY_NOT_FOUND);
  t.false(sim.host.failures.length > 0);
  checkOthers();
});

test('giant requests: a pull with more tags than a subscription may have is refused, with the most it is served', async (t) => {
  const { client, checkOthers } = await start(3);
  for (const count of [TAG_COUNT_MAX + 1, 100_000]) {
    const answer = client.askPull('Orders', 0, 'G', { tags: tagsOf(count) });
    t.is(answer.code, ResponseCodes.SUBSCRIPTION_PARSE_FAILED);
    t.regex(answer.remark ?? '', new RegExp(`tags=${count} max=${TAG_COUNT_MAX}`));
  }
  t.deepEqual(recordsOf(client.askPull('Orders', 0, 'G', { tags: tagsOf(TAG_COUNT_MAX) })).map(nameOf), ['m0']);
  checkOthers();
});

test('giant requests: a heartbeat that subscribes to too much makes no member', async (t) => {
  const { client, checkOthers } = await start(4);
  const codes = Array.from({ length: 100_000 }, (_, i) => i);
  const cases: [ConsumerData, RegExp][] = [
    [reads('Codes', 'a', codes), /tags=100000 max=4096.* group=Codes topic=Orders/],
    [reads('Text', 'x'.repeat(EXPRESSION_SIZE_MAX + 1), []), /subString is too long size=65537 max=65536 group=Text/],
    [reads('All', 'x'.repeat(HEARTBEAT_SIZE_MAX), []), /heartbeat is too large size=\d+ max=4194304 bytes/],
  ];
  for (const [consumer, remark] of cases) {
    const answer = client.await(client.beat({ consumers: [consumer] }));
    t.is(answer.code, ResponseCodes.SYSTEM_ERROR);
    t.regex(answer.remark ?? '', remark);
    t.is(client.ask(RequestCodes.GET_CONSUMER_LIST_BY_GROUP, { consumerGroup: consumer.group }).code, ResponseCodes.SYSTEM_ERROR);
  }
  checkOthers();
});

test('giant requests: a set of queues to lock is limited, and the largest is looked through', async (t) => {
  const { client, checkOthers } = await start(7);
  const queues = (count: number) => Array.from({ length: count }, (_, queueId) => ({ topic: 'Orders', brokerName: 'default', queueId }));
  const body = (count: number) => encodeLockBatch({ group: 'G', clientId: 'c', queues: queues(count), onlyThisBroker: false });
  for (const code of [RequestCodes.LOCK_BATCH_MQ, RequestCodes.UNLOCK_BATCH_MQ]) {
    const answer = client.ask(code, {}, body(100_000));
    t.is(answer.code, ResponseCodes.SYSTEM_ERROR);
    t.regex(answer.remark ?? '', /lock body: it is too large size=\d+ max=1048576 bytes/);
    t.is(client.ask(code, {}, body(15_000)).code, 0);
  }
  checkOthers();
});

test('giant requests: a connection with thousands of groups that falls silent is closed, and nobody waits for that', async (t) => {
  const { sim, client, checkOthers } = await start(8);
  for (let i = 0; i < 20; i++) {
    const producerGroups = Array.from({ length: 1_000 }, (_, k) => `P${i}-${k}`);
    t.is(client.await(client.beat({ producerGroups })).code, 0);
  }
  for (let second = 0; second < 130 && !client.closed; second += 10) {
    sim.runner.runFor(10_000);
    checkOthers();
  }
  t.true(client.closed);
});

test('giant requests: a mismatch of long subscriptions is told in a text that can be read', async (t) => {
  const { sim, client, checkOthers } = await start(5);
  t.is(client.await(client.beat({ consumers: [reads('G', 'x'.repeat(60_000), [1])] })).code, 0);
  const answer = sim.client();
  const told = answer.await(answer.beat({ clientId: 'd', consumers: [reads('G', 'y'.repeat(60_000), [2])] }));
  t.is(told.code, 0);
  t.regex(told.remark ?? '', /members of group G subscribe to different things own=Orders\[TAG y+\.\.\. others=Orders\[TAG x+\.\.\.$/);
  t.true((told.remark ?? '').length < 2_000);
  checkOthers();
});

test('giant requests: a header is limited, and what is passed on to a consumer cannot break its connection', async (t) => {
  const { sim, client, checkOthers } = await start(6);
  const consumer = sim.client();
  t.is(consumer.await(consumer.beat({ clientId: 'c', consumers: [reads('G', '*', [])] })).code, 0);
  const running = { consumerGroup: 'G', clientId: 'c', jstackEnable: false };
  const large = client.ask(RequestCodes.GET_CONSUMER_RUNNING_INFO, { ...running, more: '\x01'.repeat(HEADER_SIZE_MAX) });
  t.is(large.code, ResponseCodes.SYSTEM_ERROR);
  t.regex(large.remark ?? '', /header is too large size=\d+ max=1048576/);
  t.deepEqual(consumer.requested, []);
  // The binary form takes one byte for what takes six in JSON, in which clients are asked.
  let seen = 0;
  consumer.onRequest = ({ opaque, ext }) => {
    seen = ext['more']?.length ?? 0;
    consumer.reply(opaque, 0);
  };
  for (let form = 0; form < 2; form++) {
    const size = form === 0 ? 150_000 : 170_000;
    t.is(client.ask(RequestCodes.GET_CONSUMER_RUNNING_INFO, { ...running, more: '\x01'.repeat(size) }).code, 0);
    t.is(seen, size);
  }
  t.false(consumer.closed);
  checkOthers();
});
