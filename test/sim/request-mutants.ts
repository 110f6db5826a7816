// One sound request of each kind that clients and tools send to a broker, and mutations of them: fields and bodies as hostile as they come.
import fc from 'fast-check';
import { encodeBatch } from '../../src/message/batch.ts';
import { encodeOffsetMessageId } from '../../src/message/message-id.ts';
import { formatProperties } from '../../src/message/properties.ts';
import { encodeHeartbeat } from '../../src/protocol/bodies/heartbeat.ts';
import { encodeLockBatch } from '../../src/protocol/bodies/lock-batch.ts';
import { RequestCodes } from '../../src/protocol/codes.ts';
import { encodePullRequest, PullFlags, PullRequest } from '../../src/protocol/commands/pull-message.ts';
import { encodeSendRequest, SendRequest } from '../../src/protocol/commands/send-message.ts';

export interface Sound {
  readonly code: number;
  readonly ext: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface Mutant extends Sound {
  readonly oneway: boolean;
}

/** What makes the sender of these requests a member, a producer, and the one that is meant by those that tools send. */
export function soundHeartbeat(): Sound {
  return sound(RequestCodes.HEART_BEAT, {}, heartbeat);
}

/** Where all requests aim: nothing that is done here is a bystander's. */
export const TARGET = { topic: 'Mutants', group: 'MutantGroup', clientId: 'mutant@1' } as const;
const { topic, group, clientId } = TARGET;
const none = Buffer.alloc(0);
const subscription = { topic, expression: 'a||b', type: 'TAG', tags: ['a', 'b'], codes: [97, 98], version: '1', classFilter: false };

function sound(code: number, ext: Readonly<Record<string, unknown>> = {}, body: Uint8Array | object = none): Sound {
  const fields = Object.fromEntries(Object.entries(ext).map(([name, value]) => [name, String(value)]));
  const bytes = body instanceof Uint8Array ? Buffer.from(body) : Buffer.from(JSON.stringify(body));
  return { code, ext: fields, body: bytes };
}

function send(code: number, properties: Record<string, string> = {}, body: Uint8Array = Buffer.from('body')): Sound {
  const request = new SendRequest();
  request.group = 'MutantProducers';
  request.topic = topic;
  request.defaultTopic = 'TBW102';
  request.defaultTopicQueueCount = 2;
  request.bornTimeMs = 1_700_000_000_000;
  request.batch = code === RequestCodes.SEND_BATCH_MESSAGE;
  request.properties = formatProperties(new Map(Object.entries({ TAGS: 'a', KEYS: 'k', UNIQ_KEY: 'u', ...properties })));
  return sound(code, encodeSendRequest(code, request), body);
}

function pull(code: number, more: number): Sound {
  const request = new PullRequest();
  request.group = group;
  request.topic = topic;
  request.maxCount = 32;
  request.suspendMs = 500;
  request.sysFlag = PullFlags.suspend | more;
  request.subscription = 'a || b';
  request.expressionType = 'TAG';
  return sound(code, encodePullRequest(request));
}

const consumer = {
  group,
  consumeType: 'CONSUME_PASSIVELY',
  messageModel: 'CLUSTERING',
  consumeFromWhere: 'CONSUME_FROM_LAST_OFFSET',
  subscriptions: [subscription],
  unitMode: false,
};
const heartbeat = encodeHeartbeat({
  clientId,
  producerGroups: ['MutantProducers'],
  consumers: [consumer],
  fingerprint: 5,
  withoutSub: false,
});
const queues = { group, clientId, queues: [{ topic, brokerName: 'broker-a', queueId: 0 }], onlyThisBroker: false };
const batch = encodeBatch([
  { flag: 0, body: Buffer.from('one'), properties: Buffer.from('UNIQ_KEY\x01b1\x02') },
  { flag: 0, body: Buffer.from('two'), properties: none },
]);
const offsetId = encodeOffsetMessageId(Buffer.from([127, 0, 0, 1]), 10911, 0);
const config = { readQueueNums: 2, writeQueueNums: 2, perm: 6, topicFilterType: 'SINGLE_TAG', topicSysFlag: 0, order: false };
const range = { beginTimestamp: 0, endTimestamp: Number.MAX_SAFE_INTEGER };
const queue = { topic, queueId: 0 };
const read = { consumerGroup: group, topic, queueId: 0 };

const ofClients: readonly Sound[] = [
  send(RequestCodes.SEND_MESSAGE),
  send(RequestCodes.SEND_MESSAGE_V2),
  send(RequestCodes.SEND_MESSAGE_V2, { DELAY: '1' }),
  send(RequestCodes.SEND_BATCH_MESSAGE, {}, batch),
  send(RequestCodes.SEND_REPLY_MESSAGE, { REPLY_TO_CLIENT: clientId, CORRELATION_ID: '1' }),
  send(RequestCodes.SEND_REPLY_MESSAGE_V2, { REPLY_TO_CLIENT: clientId, CORRELATION_ID: '1' }),
  pull(RequestCodes.PULL_MESSAGE, PullFlags.subscription | PullFlags.commitOffset),
  pull(RequestCodes.PULL_MESSAGE, 0),
  pull(RequestCodes.LITE_PULL_MESSAGE, PullFlags.subscription | PullFlags.litePull),
  sound(RequestCodes.QUERY_MESSAGE, { topic, key: 'k', maxNum: 32, ...range, _UNIQUE_KEY_QUERY: false }),
  sound(RequestCodes.QUERY_CONSUMER_OFFSET, { ...read, setZeroIfNotFound: true }),
  sound(RequestCodes.UPDATE_CONSUMER_OFFSET, { ...read, commitOffset: 1 }),
  sound(RequestCodes.SEARCH_OFFSET_BY_TIMESTAMP, { ...queue, timestamp: 5, boundaryType: 'LOWER' }),
  sound(RequestCodes.GET_MAX_OFFSET, { ...queue, committed: true }),
  sound(RequestCodes.GET_MIN_OFFSET, queue),
  sound(RequestCodes.GET_EARLIEST_MSG_STORETIME, queue),
  sound(RequestCodes.VIEW_MESSAGE_BY_ID, { topic, offset: 0 }),
  soundHeartbeat(),
  sound(RequestCodes.UNREGISTER_CLIENT, { clientID: clientId, producerGroup: 'MutantProducers', consumerGroup: group }),
  sound(RequestCodes.CONSUMER_SEND_MSG_BACK, {
    group,
    offset: 0,
    delayLevel: 0,
    originMsgId: offsetId,
    originTopic: topic,
    unitMode: false,
    maxReconsumeTimes: 16,
  }),
  sound(RequestCodes.GET_CONSUMER_LIST_BY_GROUP, { consumerGroup: group }),
  sound(RequestCodes.LOCK_BATCH_MQ, {}, encodeLockBatch(queues)),
  sound(RequestCodes.UNLOCK_BATCH_MQ, {}, encodeLockBatch(queues)),
  sound(
    RequestCodes.CHECK_CLIENT_CONFIG,
    {},
    { clientId, group, namespace: '', subscriptionData: { topic, subString: 'a', expressionType: 'TAG', tagsSet: ['a'], codeSet: [97] } },
  ),
];

const ofTools: readonly Sound[] = [
  sound(RequestCodes.UPDATE_AND_CREATE_TOPIC, { topic, defaultTopic: 'TBW102', ...config, attributes: '' }),
  sound(RequestCodes.UPDATE_AND_CREATE_TOPIC_LIST, {}, { topicConfigList: [{ topicName: topic, ...config }] }),
  sound(RequestCodes.GET_ALL_TOPIC_CONFIG, { topicSeq: 0, maxTopicNum: 1 }),
  sound(RequestCodes.GET_BROKER_RUNTIME_INFO),
  sound(RequestCodes.GET_ALL_CONSUMER_OFFSET),
  sound(RequestCodes.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, { groupName: group, retryMaxTimes: 3, groupRetryPolicy: { type: 'X' } }),
  sound(RequestCodes.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST, {}, { groupConfigList: [{ groupName: group, retryQueueNums: 1 }] }),
  sound(RequestCodes.GET_ALL_SUBSCRIPTIONGROUP_CONFIG, { groupSeq: 0, maxGroupNum: 1 }),
  sound(RequestCodes.GET_TOPIC_STATS_INFO, { topic }),
  sound(RequestCodes.GET_CONSUMER_CONNECTION_LIST, { consumerGroup: group }),
  sound(RequestCodes.GET_PRODUCER_CONNECTION_LIST, { producerGroup: 'MutantProducers' }),
  sound(RequestCodes.GET_CONSUME_STATS, { consumerGroup: group, topic }),
  sound(RequestCodes.INVOKE_BROKER_TO_RESET_OFFSET, { topic, group, timestamp: -1, isForce: true, queueId: 0, offset: 0 }),
  sound(RequestCodes.INVOKE_BROKER_TO_RESET_OFFSET, { topic, group, timestamp: 5, isForce: true }),
  sound(RequestCodes.INVOKE_BROKER_TO_GET_CONSUMER_STATUS, { topic, group, clientAddr: '' }),
  sound(RequestCodes.QUERY_TOPIC_CONSUME_BY_WHO, { topic }),
  sound(RequestCodes.QUERY_CONSUME_TIME_SPAN, { topic, group }),
  sound(RequestCodes.GET_CONSUMER_RUNNING_INFO, { consumerGroup: group, clientId, jstackEnable: false }),
  sound(RequestCodes.QUERY_CORRECTION_OFFSET, { topic, compareGroup: group, filterGroups: 'x,y' }),
  sound(RequestCodes.CONSUME_MESSAGE_DIRECTLY, { consumerGroup: group, clientId, msgId: offsetId, brokerName: 'broker-a', topic }),
  sound(RequestCodes.CLONE_GROUP_OFFSET, { srcGroup: group, destGroup: 'MutantGroup2', topic, offline: false }),
  sound(RequestCodes.VIEW_BROKER_STATS_DATA, { statsName: 'TOPIC_PUT_NUMS', statsKey: topic }),
  sound(RequestCodes.GET_BROKER_CONSUME_STATS, { isOrder: false }),
  sound(RequestCodes.QUERY_CONSUME_QUEUE, { ...queue, index: 0, count: 10, consumerGroup: group }),
  sound(RequestCodes.GET_ALL_PRODUCER_INFO),
  sound(RequestCodes.QUERY_TOPICS_BY_CONSUMER, { group }),
  sound(RequestCodes.QUERY_SUBSCRIPTION_BY_CONSUMER, { group, topic }),
  sound(RequestCodes.GET_TOPIC_CONFIG, { topic, lo: true }),
  sound(RequestCodes.GET_SUBSCRIPTIONGROUP_CONFIG, { group }),
  sound(RequestCodes.UPDATE_AND_GET_GROUP_FORBIDDEN, { group, topic, readable: true }),
  sound(RequestCodes.DELETE_TOPIC_IN_BROKER, { topic }),
  sound(RequestCodes.DELETE_SUBSCRIPTIONGROUP, { groupName: group, cleanOffset: true }),
];

/** Those that remove something are the last. */
export const soundRequests: readonly Sound[] = [...ofClients, ...ofTools];

/** Of one field at a time; undefined leaves it out. */
const worstTexts = [
  ...[undefined, '', '-1', '2147483648', '9223372036854775807', '1.5', 'x', '订单🚀', 'x'.repeat(40_000), '\x01'.repeat(40_000)],
  Array.from({ length: 5_000 }, (_, i) => `t${i}`).join('||'),
];

/** Each field of each request as hostile as it comes, the others sound. */
export function* oneFieldMutants(): Generator<Mutant & { readonly what: string }> {
  for (const { code, ext, body } of soundRequests) {
    for (const name of Object.keys(ext)) {
      for (const text of worstTexts) {
        const { [name]: _, ...others } = ext;
        const what = `code=${code} ${name}=${text?.slice(0, 20)}`;
        yield { code, ext: text === undefined ? others : { ...others, [name]: text }, body, oneway: false, what };
      }
    }
  }
}

const oddTexts = [
  ...['', ' ', '0', '-1', '1', '17', '2147483647', '2147483648', '-2147483648', '9223372036854775807', '-9223372036854775808'],
  ...['9007199254740993', '1e9', '0x10', 'NaN', 'null', 'true', '*', '||', '订单🚀', '\x01\x02', '%RETRY%', '%RETRY%x', '%DLQ%MutantGroup'],
  ...['SCHEDULE_TOPIC_XXXX', 'TBW102', 'CID_RMQ_SYS_x', '__proto__', 'constructor', '../../up', 'x'.repeat(130), 'x'.repeat(40_000)],
  ...[
    Array.from({ length: 5_000 }, (_, i) => `t${i}`).join('||'),
    `DELAY\x0199\x02UNIQ_KEY\x01${'k'.repeat(5_000)}\x02`,
    'DELAY\x01-3\x02',
  ],
];

const oddJson = [
  ...['null', '[]', '{}', '0', '""', '"x"', '-1', '2147483648', '1e400', '{"a":{}}', '[null,1,"x",{},[]]', '9223372036854775807', 'true'],
  ...[JSON.stringify('x'.repeat(70_000)), '['.repeat(300), `${'['.repeat(200)}${']'.repeat(200)}`, '{"__proto__":1}', '订'],
];

type FieldChange =
  | { readonly kind: 'drop' | 'swap'; readonly which: number }
  | { readonly kind: 'set'; readonly which: number; readonly text: string };
type BodyChange =
  | { readonly kind: 'keep' | 'drop' }
  | { readonly kind: 'cut'; readonly at: number }
  | { readonly kind: 'flip'; readonly at: number; readonly by: number }
  | { readonly kind: 'value'; readonly at: number; readonly text: string }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array };

const oddText = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...oddTexts) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
);
const fieldChange: fc.Arbitrary<FieldChange> = fc.oneof(
  fc.record({ kind: fc.constantFrom('drop' as const, 'swap' as const), which: fc.nat(15) }),
  fc.record({ kind: fc.constant('set' as const), which: fc.nat(15), text: oddText }),
);
const bodyChange: fc.Arbitrary<BodyChange> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom<BodyChange>({ kind: 'keep' }, { kind: 'keep' }, { kind: 'drop' }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cut' as const), at: fc.nat(400) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('flip' as const), at: fc.nat(400), by: fc.integer({ min: 1, max: 255 }) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('value' as const), at: fc.nat(30), text: fc.constantFrom(...oddJson) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('bytes' as const), bytes: fc.uint8Array({ maxLength: 60 }) }) },
);

export const mutant: fc.Arbitrary<Mutant> = fc
  .record({
    request: fc.constantFrom(...soundRequests),
    fields: fc.array(fieldChange, { maxLength: 3 }),
    body: bodyChange,
    oneway: fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  })
  .map(({ request, fields, body, oneway }) => ({
    code: request.code,
    ext: changedFields(request.ext, fields),
    body: changedBody(request.body, body),
    oneway,
  }));

function changedFields(ext: Readonly<Record<string, string>>, changes: readonly FieldChange[]): Record<string, string> {
  const fields = new Map(Object.entries(ext));
  for (const change of changes) {
    const names = [...fields.keys()];
    const name = names[change.which % Math.max(1, names.length)] ?? 'topic';
    const next = names[(change.which + 1) % Math.max(1, names.length)] ?? name;
    if (change.kind === 'drop') fields.delete(name);
    else fields.set(name, change.kind === 'set' ? change.text : (fields.get(next) ?? ''));
  }
  return Object.fromEntries(fields);
}

function changedBody(body: Buffer, change: BodyChange): Buffer {
  switch (change.kind) {
    case 'keep':
      return body;
    case 'drop':
      return none;
    case 'cut':
      return body.subarray(0, change.at % (body.length + 1));
    case 'flip': {
      const flipped = Buffer.from(body);
      const at = change.at % Math.max(1, body.length);
      if (at < body.length) flipped[at] = (flipped[at] as number) ^ change.by;
      return flipped;
    }
    case 'value':
      return withValue(body, change.at, change.text);
    case 'bytes':
      return Buffer.from(change.bytes);
  }
}

/** One value of a JSON body becomes another one. */
function withValue(body: Buffer, which: number, text: string): Buffer {
  const places = [...body.toString().matchAll(/(?<=[:[,])(?:"[^"]*"|-?\d+|true|false|\[[^\]]*\])(?=[,}\]])/g)];
  const place = places[which % Math.max(1, places.length)];
  if (place === undefined) return Buffer.from(text);
  const json = body.toString();
  return Buffer.from(json.slice(0, place.index) + text + json.slice(place.index + place[0].length));
}
