// Topics and groups as tables: what start and file make of them, attributes, automatic creation.
import test from 'ava';
import { autoTopic } from '../../src/core/auto-topic.ts';
import { groupConfig } from '../../src/core/group-config.ts';
import { GroupTable } from '../../src/core/group-table.ts';
import { ReservedTopics, startTopics } from '../../src/core/start-topics.ts';
import { alterAttributes } from '../../src/core/topic-attributes.ts';
import { topicConfig, topicConfigFault } from '../../src/core/topic-config.ts';
import { TopicTable } from '../../src/core/topic-table.ts';

const options = {
  brokerName: 'b',
  clusterName: 'c',
  autoCreateTopicEnable: true,
  clusterTopicEnable: true,
  brokerTopicEnable: true,
  traceTopicEnable: false,
  traceTopicName: 'RMQ_SYS_TRACE_TOPIC',
  timerWheelEnable: true,
  defaultTopicQueueNums: 8,
};

test('start topics: switches decide which there are and what may be done with them', (t) => {
  const names = (more: Partial<typeof options>): Map<string, number> =>
    new Map(startTopics({ ...options, ...more }).map((config) => [config.topicName, config.perm]));
  t.is(names({}).get('c'), 7);
  t.is(names({ clusterTopicEnable: false }).get('c'), 1);
  t.is(names({ brokerTopicEnable: false }).get('b'), 1);
  t.false(names({ autoCreateTopicEnable: false }).has('TBW102'));
  t.false(names({ timerWheelEnable: false }).has('rmq_sys_wheel_timer'));
  t.true(names({ traceTopicEnable: true }).has('RMQ_SYS_TRACE_TOPIC'));
  const reserved = new ReservedTopics(startTopics(options));
  t.deepEqual(
    ['b', 'c', 'c_REPLY_TOPIC', 'rmq_sys_any', 'CHECKPOINT_TOPIC', 'mine'].map((name) => reserved.has(name)),
    [true, true, true, true, true, false],
  );
});

test('topic table: the file wins over the start topics, and the stamp tells of every difference', (t) => {
  const start = [topicConfig('A', 1, 6), topicConfig('B', 1, 6)];
  const version = { stateVersion: 1, counter: 7, timestamp: 5 };
  const table = new TopicTable(0);
  t.true(table.load(start, { dataVersion: version, topics: [topicConfig('A', 4, 6)] }, true, 99));
  t.is(table.get('A')?.readQueueNums, 4);
  t.deepEqual(table.version, { stateVersion: 1, counter: 8, timestamp: 99 });
  const same = new TopicTable(0);
  t.false(same.load(start, { dataVersion: version, topics: [...table.all()] }, true, 99));
  t.deepEqual(same.version, version);
  t.false(same.put(topicConfig('A', 4, 6), 100));
  t.true(same.put({ ...topicConfig('A', 4, 6), attributes: { 'message.type': 'FIFO' } }, 100));
  t.is(same.version.counter, 8);
  t.true(same.remove('A', 101));
  t.false(same.remove('A', 101));
  t.is(same.version.counter, 9);
});

test('topic config: numbers that make no topic', (t) => {
  t.is(topicConfigFault(topicConfig('T', 0, 0)), null);
  for (const bad of [{ readQueueNums: -1 }, { writeQueueNums: -1 }, { perm: 8 }, { perm: -1 }, { topicFilterType: 'X' }]) {
    t.not(topicConfigFault(topicConfig('T', 1, 6, bad)), null, JSON.stringify(bad));
  }
});

test('automatic topics: the template gives permission and limit', (t) => {
  const wish = { topic: 'T', defaultTopic: 'TBW102', queueCount: 4, unit: false };
  const template = topicConfig('TBW102', 8, 7, { topicFilterType: 'MULTI_TAG' });
  t.like(autoTopic(wish, template, 1), { readQueueNums: 4, writeQueueNums: 4, perm: 6, topicFilterType: 'MULTI_TAG', topicSysFlag: 0 });
  t.like(autoTopic({ ...wish, queueCount: 99 }, template, 1), { writeQueueNums: 8 });
  t.like(autoTopic({ ...wish, queueCount: -3 }, template, 1), { writeQueueNums: 0 });
  t.is(autoTopic(wish, { ...template, perm: 6 }, 1), null);
  t.is(autoTopic(wish, undefined, 1), null);
  t.like(autoTopic({ ...wish, topic: '%RETRY%G', unit: true }, undefined, 2), { readQueueNums: 2, perm: 6, topicSysFlag: 2 });
  t.like(autoTopic({ ...wish, topic: '%DLQ%G' }, undefined, 2), { readQueueNums: 1, perm: 6 });
  t.like(autoTopic({ ...wish, topic: '%DLQ%G' }, { ...template, perm: 6 }, 2), { readQueueNums: 1, perm: 6 });
  t.like(autoTopic({ ...wish, topic: '%DLQ%G' }, template, 2), { readQueueNums: 4, perm: 6 }, 'its sender has chosen one of four queues');
});

test('attributes: only known names, values and changes', (t) => {
  const alter = (current: Record<string, string> | null, ...changes: [string, string | null][]): unknown => {
    const result = alterAttributes(current, new Map(changes));
    return result.ok ? result.value : 'fault';
  };
  t.deepEqual(alter(null, ['queue.type', 'BatchCQ'], ['reserve.time', '60']), { 'queue.type': 'BatchCQ', 'reserve.time': '60' });
  t.is(alter(null, ['queue.type', 'Other']), 'fault');
  t.is(alter(null, ['reserve.time', 'long']), 'fault');
  t.is(alter(null, ['queue.type', null]), 'fault');
  t.is(alter({}, ['unknown', '1']), 'fault');
  t.is(alter({}, ['__proto__', '1']), 'fault');
  t.is(alter({ 'queue.type': 'SimpleCQ' }, ['queue.type', 'BatchCQ']), 'fault');
  t.deepEqual(alter({ 'queue.type': 'SimpleCQ' }, ['queue.type', 'SimpleCQ']), { 'queue.type': 'SimpleCQ' });
  t.deepEqual(alter({ 'message.type': 'FIFO' }, ['message.type', null]), {});
  t.is(alter({}, ['message.type', null]), 'fault');
});

test('group table: built-in groups, the file over them, and topics that may not be read', (t) => {
  const table = new GroupTable(0);
  const forbidden = new Map([['G', new Map([['T', 4]])]]);
  table.load({ dataVersion: null, groups: [{ ...groupConfig('TOOLS_CONSUMER'), retryMaxTimes: 3 }, groupConfig('G')], forbidden });
  t.is(table.get('TOOLS_CONSUMER')?.retryMaxTimes, 3);
  t.is(table.size, 9);
  t.false(table.readable('G', 'T'));
  t.true(table.readable('G', 'U'));
  t.false(table.setReadable('G', 'T', false, 1), 'as before');
  table.setReadable('G', 'U', false, 1);
  table.setReadable('G', 'T', true, 1);
  t.deepEqual(table.forbiddenTopics('G'), ['U']);
  table.remove('G', 1);
  t.is(table.forbidden.size, 0);
});
