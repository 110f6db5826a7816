// JSON bodies of captured frames: decoded and written again, they say the same.
import test from 'ava';
import { parseLenient } from '../../../src/base/lenient-json.ts';
import {
  decodeAssignmentQuery,
  decodeAssignments,
  decodeRequestMode,
  encodeAssignmentQuery,
  encodeAssignments,
  encodeRequestMode,
} from '../../../src/protocol/bodies/assignment.ts';
import { decodeBatchAck, encodeBatchAck } from '../../../src/protocol/bodies/batch-ack.ts';
import { decodeCheckClient, encodeCheckClient } from '../../../src/protocol/bodies/check-client.ts';
import {
  decodeConsumerConnections,
  decodeProducerConnections,
  encodeConsumerConnections,
  encodeProducerConnections,
} from '../../../src/protocol/bodies/connections.ts';
import { decodeConsumerIds, encodeConsumerIds } from '../../../src/protocol/bodies/consumer-ids.ts';
import { decodeHeartbeat, encodeHeartbeat } from '../../../src/protocol/bodies/heartbeat.ts';
import { decodeLockBatch, decodeLockedQueues, encodeLockBatch, encodeLockedQueues } from '../../../src/protocol/bodies/lock-batch.ts';
import {
  decodeConsumerStatus,
  decodeOffsetTable,
  encodeConsumerStatus,
  encodeOffsetList,
  encodeOffsetTable,
} from '../../../src/protocol/bodies/message-queue.ts';
import { decodeConsumeStats, decodeTopicStats, encodeConsumeStats, encodeTopicStats } from '../../../src/protocol/bodies/queue-stats.ts';
import {
  decodeSubscriptionGroup,
  decodeSubscriptionGroupList,
  decodeSubscriptionGroupTable,
  encodeSubscriptionGroup,
  encodeSubscriptionGroupList,
  encodeSubscriptionGroupTable,
} from '../../../src/protocol/bodies/subscription-group.ts';
import {
  decodeTopicConfig,
  decodeTopicConfigList,
  decodeTopicConfigTable,
  encodeTopicConfig,
  encodeTopicConfigList,
  encodeTopicConfigTable,
} from '../../../src/protocol/bodies/topic-config.ts';
import { RequestCodes as R } from '../../../src/protocol/codes.ts';
import type { Decoded } from '../../../src/protocol/ext.ts';
import { cut, goldenClients, goldenFrames } from '../golden.ts';

interface BodyCodec {
  decode(body: Uint8Array): Decoded<unknown>;
  encode(value: never): Buffer;
}
const codec = <T>(decode: (body: Uint8Array) => Decoded<T>, encode: (value: T) => Buffer): BodyCodec => ({ decode, encode }) as BodyCodec;

const requests = new Map<number, BodyCodec>([
  [R.HEART_BEAT, codec(decodeHeartbeat, encodeHeartbeat)],
  [R.LOCK_BATCH_MQ, codec(decodeLockBatch, encodeLockBatch)],
  [R.UNLOCK_BATCH_MQ, codec(decodeLockBatch, encodeLockBatch)],
  [R.CHECK_CLIENT_CONFIG, codec(decodeCheckClient, encodeCheckClient)],
  [R.UPDATE_AND_CREATE_TOPIC_LIST, codec(decodeTopicConfigList, encodeTopicConfigList)],
  [R.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, codec(decodeSubscriptionGroup, encodeSubscriptionGroup)],
  [R.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST, codec(decodeSubscriptionGroupList, encodeSubscriptionGroupList)],
  [R.RESET_CONSUMER_CLIENT_OFFSET, codec(decodeOffsetTable, encodeOffsetTable)],
  [R.QUERY_ASSIGNMENT, codec(decodeAssignmentQuery, encodeAssignmentQuery)],
  [R.SET_MESSAGE_REQUEST_MODE, codec(decodeRequestMode, encodeRequestMode)],
  [R.BATCH_ACK_MESSAGE, codec(decodeBatchAck, (acks) => encodeBatchAck('broker-a', acks))],
]);

const answers = new Map<number, BodyCodec>([
  [R.QUERY_ASSIGNMENT, codec(decodeAssignments, encodeAssignments)],
  [R.GET_CONSUMER_LIST_BY_GROUP, codec(decodeConsumerIds, encodeConsumerIds)],
  [R.LOCK_BATCH_MQ, codec(decodeLockedQueues, encodeLockedQueues)],
  [R.GET_TOPIC_STATS_INFO, codec(decodeTopicStats, encodeTopicStats)],
  [R.GET_CONSUME_STATS, codec(decodeConsumeStats, encodeConsumeStats)],
  [R.GET_CONSUMER_CONNECTION_LIST, codec(decodeConsumerConnections, encodeConsumerConnections)],
  [R.GET_PRODUCER_CONNECTION_LIST, codec(decodeProducerConnections, encodeProducerConnections)],
  [R.GET_ALL_TOPIC_CONFIG, codec(decodeTopicConfigTable, encodeTopicConfigTable)],
  [R.GET_TOPIC_CONFIG, codec(decodeTopicConfig, encodeTopicConfig)],
  [R.GET_ALL_SUBSCRIPTIONGROUP_CONFIG, codec(decodeSubscriptionGroupTable, encodeSubscriptionGroupTable)],
  [R.INVOKE_BROKER_TO_RESET_OFFSET, codec(decodeOffsetTable, encodeOffsetTable)],
  [R.GET_CONSUMER_STATUS_FROM_CLIENT, codec(decodeConsumerStatus, encodeConsumerStatus)],
  [R.INVOKE_BROKER_TO_GET_CONSUMER_STATUS, codec(decodeConsumerStatus, encodeConsumerStatus)],
]);

/** Members that clients leave out, or that say nothing here, with the values that they then have. */
const silent: Record<string, unknown> = {
  expressionType: 'TAG',
  heartbeatFingerprint: 0,
  withoutSub: false,
  onlyThisBroker: false,
  consumerTable: {},
};

/** The same whatever the order of members, and with what was left out filled in. */
function normal(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(normal);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, item]): [string, unknown] => {
    if (name === 'codeSet' && Array.isArray(item)) return [name, item.map(Number)];
    if (name.startsWith('{')) return [JSON.stringify(normal(JSON.parse(name))), normal(item)];
    return [name, item === '' && name in silent ? silent[name] : normal(item)];
  });
  return Object.fromEntries(
    entries
      .filter(([name, item]) => !(name in silent) || JSON.stringify(item) !== JSON.stringify(silent[name]))
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

for (const client of goldenClients()) {
  test(`bodies: those of ${client} decode, and encode to the same members`, (t) => {
    const frames = goldenFrames(client);
    const asked = new Map(frames.filter((f) => (f.flag & 1) === 0).map((f) => [`${f.conn}/${f.n}`, f.code]));
    for (const line of frames) {
      const isAnswer = (line.flag & 1) !== 0;
      const code = isAnswer ? (asked.get(`${line.conn}/${line.pair}`) ?? 0) : line.code;
      const body = cut(Buffer.from(line.b64, 'base64')).body;
      const command = isAnswer ? answers.get(code) : requests.get(code);
      if (command === undefined || body.length === 0) continue;
      const decoded = command.decode(body);
      if (!decoded.ok) {
        t.fail(`${code} ${body.toString()}: ${decoded.fault}`);
        return;
      }
      const written = command.encode(decoded.value as never);
      t.deepEqual(command.decode(written), decoded);
      const wanted = normal(parseLenient(body.toString())) as Record<string, unknown>;
      const seen = normal(parseLenient(written.toString())) as Record<string, unknown>;
      // The C++ form of a table and the queue mappings of static topics are written in our own way.
      if (Array.isArray(wanted['offsetTable'])) continue;
      delete wanted['topicQueueMappingDetailMap'];
      delete wanted['topicQueueMappingInfoMap'];
      delete seen['topicQueueMappingDetailMap'];
      delete seen['topicQueueMappingInfoMap'];
      delete wanted['topicQueueMappingDetail'];
      t.deepEqual(seen, wanted, body.toString());
    }
    t.pass();
  });
}

const unwrap = <T>(decoded: Decoded<T>): T => {
  if (!decoded.ok) throw new Error(decoded.fault);
  return decoded.value;
};

test('heartbeat: versions in nanoseconds and codes as text come through exactly', (t) => {
  const text =
    '{"clientID":"ip@1","producerDataSet":[],"consumerDataSet":[{"groupName":"G","subscriptionDataSet":[{"topic":"T","subString":"TagA","tagsSet":["TagA"],"codeSet":["2598919"],"subVersion":1796036932062919262}]}]}';
  const beat = unwrap(decodeHeartbeat(Buffer.from(text)));
  const subscription = beat.consumers[0]?.subscriptions[0];
  t.is(subscription?.version, '1796036932062919262');
  t.deepEqual(subscription?.codes, [2598919]);
  t.is(subscription?.type, 'TAG');
  t.true(encodeHeartbeat(beat).toString().includes('"subVersion":1796036932062919262,'));
  t.deepEqual(decodeHeartbeat(encodeHeartbeat(beat)), { ok: true, value: beat });
});

test('heartbeat: what makes no sense is refused with a reason', (t) => {
  const cases: [string, RegExp][] = [
    ['', /./],
    ['{oops', /./],
    ['{}', /no clientID/],
    ['[]', /no clientID/],
    ['{"clientID":"c","producerDataSet":[{}]}', /producer without groupName/],
    ['{"clientID":"c","consumerDataSet":[{}]}', /consumer without groupName/],
    ['{"clientID":"c","consumerDataSet":[7]}', /consumer without groupName/],
    ['{"clientID":"c","consumerDataSet":[{"groupName":"G","subscriptionDataSet":[{}]}]}', /no topic group=G/],
    ['{"clientID":"c","consumerDataSet":[{"groupName":"G","subscriptionDataSet":[{"topic":"T","subVersion":"x"}]}]}', /subVersion=x/],
  ];
  for (const [text, wanted] of cases) {
    const decoded = decodeHeartbeat(Buffer.from(text));
    t.regex(decoded.ok ? '' : decoded.fault, wanted, text);
  }
});

test('offset tables: keys are whole queues, in the order that Go wants; the C++ form is a list', (t) => {
  const table = [[{ topic: 'T', brokerName: 'b', queueId: 0 }, 12] as const, [{ topic: 'T', brokerName: 'b', queueId: 1 }, 13] as const];
  const map = '{"offsetTable":{{"brokerName":"b","queueId":0,"topic":"T"}:12,{"brokerName":"b","queueId":1,"topic":"T"}:13}}';
  t.is(encodeOffsetTable(table).toString(), map);
  t.deepEqual(
    unwrap(decodeOffsetTable(Buffer.from(map))),
    table.map(([queue, offset]) => [queue, offset]),
  );
  const list = encodeOffsetList(table);
  t.is(
    list.toString(),
    '{"offsetTable":[{"brokerName":"b","offset":12,"queueId":0,"topic":"T"},{"brokerName":"b","offset":13,"queueId":1,"topic":"T"}]}',
  );
  t.deepEqual(
    unwrap(decodeOffsetTable(list)),
    table.map(([queue, offset]) => [queue, offset]),
  );
  t.deepEqual(unwrap(decodeOffsetTable(Buffer.from('{"offsetTable":[[{"brokerName":"b","queueId":0,"topic":"T"},12]]}'))), [
    [{ topic: 'T', brokerName: 'b', queueId: 0 }, 12],
  ]);
});

test('consumer status: one client has its table, the broker has one per client', (t) => {
  const table = [[{ topic: 'T', brokerName: 'b', queueId: 0 }, 12] as [{ topic: string; brokerName: string; queueId: number }, number]];
  const status = { messageQueueTable: [], consumerTable: new Map([['ip@1', table]]) };
  const body = encodeConsumerStatus(status);
  t.is(body.toString(), '{"consumerTable":{"ip@1":{{"brokerName":"b","queueId":0,"topic":"T"}:12}},"messageQueueTable":{}}');
  t.deepEqual(unwrap(decodeConsumerStatus(body)), status);
});

test('batch ack: a bit per offset, under short and long names', (t) => {
  const ack = {
    group: 'G',
    topic: 'T',
    retry: '1',
    startOffset: 100,
    queueId: 2,
    reviveQueueId: 3,
    popTimeMs: 4,
    invisibleTimeMs: 5,
    offsets: [100, 107, 108, 131],
  };
  const body = encodeBatchAck('b', [ack]);
  t.true(body.toString().includes('"b":"gQEAgA=="'), body.toString());
  t.deepEqual(unwrap(decodeBatchAck(body)), [ack]);
  const long =
    '{"acks":[{"consumerGroup":"G","topic":"T","retry":"1","startOffset":100,"queueId":2,"reviveQueueId":3,"popTime":4,"invisibleTime":5,"bitSet":"gQEAgA=="}]}';
  t.deepEqual(unwrap(decodeBatchAck(Buffer.from(long))), [ack]);
  t.deepEqual(unwrap(decodeBatchAck(Buffer.from('{}'))), []);
  t.false(decodeBatchAck(Buffer.from('{"acks":[7]}')).ok);
});

test('assignments: none is not the same as an empty list', (t) => {
  t.is(encodeAssignments(null).toString(), '{}');
  t.is(unwrap(decodeAssignments(encodeAssignments(null))), null);
  t.deepEqual(unwrap(decodeAssignments(encodeAssignments([]))), []);
  t.false(decodeRequestMode(Buffer.from('{"topic":"T","consumerGroup":"G","mode":"PUSH"}')).ok);
});
