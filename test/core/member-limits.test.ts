// What a heartbeat may say, to its limits; and the same for producers.
import test from 'ava';
import { groupConfig, groupConfigFault } from '../../src/core/group-config.ts';
import {
  CLIENT_ID_SIZE_MAX,
  EXPRESSION_SIZE_MAX,
  GROUPS_PER_LINK_MAX,
  heartbeatFault,
  SUBSCRIPTION_COUNT_MAX,
  shown,
  WORD_SIZE_MAX,
} from '../../src/core/member-limits.ts';
import { ProducerGroups } from '../../src/core/producer-groups.ts';
import { TAG_COUNT_MAX } from '../../src/message/tags.ts';
import type { ConsumerData, HeartbeatData } from '../../src/protocol/bodies/heartbeat.ts';

const reading = { topic: 'T', expression: '*', type: 'TAG', tags: [], codes: [], version: '1', classFilter: false };
const consumer: ConsumerData = {
  group: 'G',
  consumeType: 'CONSUME_PASSIVELY',
  messageModel: 'CLUSTERING',
  consumeFromWhere: 'CONSUME_FROM_LAST_OFFSET',
  subscriptions: [reading],
  unitMode: false,
};

function faultOf(of: Partial<HeartbeatData>, reads: Partial<ConsumerData> = {}, subscribes: Partial<typeof reading> = {}): string | null {
  const consumers = [{ ...consumer, subscriptions: [{ ...reading, ...subscribes }], ...reads }];
  return heartbeatFault({ clientId: 'c', producerGroups: [], consumers, fingerprint: 0, withoutSub: false, ...of });
}

const x = (size: number): string => 'x'.repeat(size);

test('member limits: a usual heartbeat, and one at every limit, is taken', (t) => {
  t.is(faultOf({}), null);
  t.is(faultOf({ clientId: x(CLIENT_ID_SIZE_MAX), producerGroups: new Array<string>(GROUPS_PER_LINK_MAX).fill('P') }), null);
  t.is(faultOf({}, { consumeFromWhere: x(WORD_SIZE_MAX) }, { expression: x(EXPRESSION_SIZE_MAX) }), null);
  t.is(faultOf({}, {}, { codes: new Array<never>(TAG_COUNT_MAX) }), null);
});

test('member limits: what is beyond one is told with the limit', (t) => {
  t.regex(faultOf({ consumers: new Array<ConsumerData>(GROUPS_PER_LINK_MAX + 1).fill(consumer) }) ?? '', /consumers=1001 .* max=1000/);
  const many = new Array<typeof reading>(SUBSCRIPTION_COUNT_MAX).fill(reading);
  t.is(faultOf({ consumers: [{ ...consumer, subscriptions: many }] }), null);
  t.regex(faultOf({ consumers: [{ ...consumer, subscriptions: many }, consumer] }) ?? '', /subscriptions=4001 max=4000/);
  t.regex(faultOf({ clientId: x(CLIENT_ID_SIZE_MAX + 1) }) ?? '', /clientID .* size=1025 max=1024/);
  for (const word of ['consumeType', 'messageModel', 'consumeFromWhere'] as const) {
    t.regex(faultOf({}, { [word]: x(WORD_SIZE_MAX + 1) }) ?? '', /group G .* size=129 max=128/);
  }
  t.regex(faultOf({}, {}, { type: x(WORD_SIZE_MAX + 1) }) ?? '', /expressionType .* max=128 group=G topic=T/);
  t.regex(faultOf({}, {}, { expression: x(EXPRESSION_SIZE_MAX + 1) }) ?? '', /subString .* size=65537 max=65536 group=G topic=T/);
  t.regex(faultOf({}, {}, { codes: new Array<never>(TAG_COUNT_MAX + 1) }) ?? '', /tags=4097 max=4096.* group=G topic=T/);
});

test('member limits: a text that a person reads is cut', (t) => {
  t.is(shown('short'), 'short');
  t.is(shown(x(600)), `${x(512)}...`);
});

test('member limits: producers are counted by group and connection; those that are there may go on', (t) => {
  const producers = new ProducerGroups(3);
  const client = { clientId: 'c', language: 'JAVA', version: 1, lastSeenMs: 0 };
  t.deepEqual(
    ['A', 'B', 'A'].map((group) => producers.beat(group, 1, client)),
    [true, true, true],
  );
  t.true(producers.beat('A', 2, client));
  t.false(producers.beat('C', 1, client));
  t.true(producers.beat('B', 1, client));
  t.false(producers.leave('C', 1));
  t.deepEqual([producers.has(1), producers.has(2), producers.has(3)], [true, true, false]);
  t.true(producers.leave('A', 2));
  t.false(producers.has(2));
  t.true(producers.beat('A', 2, client));
  t.true(producers.leave('B', 1));
  t.true(producers.beat('C', 1, client));
  t.deepEqual([...producers.all()].map(([group]) => group).sort(), ['A', 'C']);
});

test('member limits: a group keeps numbers that clients can read, and no endless texts', (t) => {
  const group = groupConfig('G');
  t.is(groupConfigFault(group), null);
  t.is(groupConfigFault({ ...group, retryMaxTimes: 2 ** 31 - 1, retryQueueNums: -(2 ** 31) }), null);
  t.regex(groupConfigFault({ ...group, retryMaxTimes: 2 ** 31 }) ?? '', /retryMaxTimes=2147483648 max=2147483647/);
  t.regex(groupConfigFault({ ...group, attributes: { a: 'b' } }) ?? '', /attributes=a allowed=none/);
  t.is(groupConfigFault({ ...group, groupRetryPolicy: { note: x(60_000) } }), null);
  t.regex(groupConfigFault({ ...group, subscriptionDataSet: [{ note: x(70_000) }] }) ?? '', /group=G size=70\d+ max=65536/);
});
