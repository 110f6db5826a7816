// Names of topics and groups at and beyond their limits, and the texts that clients get.
import test from 'ava';
import * as names from '../../src/message/names.ts';

const T = (size: number): string => 'T'.repeat(size);

const topics: [string | null | undefined, string | null][] = [
  [T(127), null],
  ['%RETRY%x', null],
  ['a|b%c-d_9', null],
  [`%RETRY%${T(248)}`, null],
  [`%DLQ%${T(250)}`, null],
  [null, 'The specified topic is blank.'],
  [undefined, 'The specified topic is blank.'],
  ['', 'The specified topic is blank.'],
  [' \t', 'The specified topic is blank.'],
  ['a b', 'The specified topic: a b, contains illegal characters, allowing only ^[%|a-zA-Z0-9_-]+$'],
  ['a.b', 'The specified topic: a.b, contains illegal characters, allowing only ^[%|a-zA-Z0-9_-]+$'],
  ['a+b', 'The specified topic: a+b, contains illegal characters, allowing only ^[%|a-zA-Z0-9_-]+$'],
  ['a/b', 'The specified topic: a/b, contains illegal characters, allowing only ^[%|a-zA-Z0-9_-]+$'],
  ['主题', 'The specified topic: 主题, contains illegal characters, allowing only ^[%|a-zA-Z0-9_-]+$'],
  ['a\n', 'The specified topic: a\n, contains illegal characters, allowing only ^[%|a-zA-Z0-9_-]+$'],
  [T(128), `The specified topic: ${T(128)}, is longer than topic max length: 127`],
  [`%RETRY%${T(249)}`, `The specified topic: %RETRY%${T(249)}, is longer than topic max length: 255`],
  [T(5000), `The specified topic: ${T(256)}..., is longer than topic max length: 127`],
];

for (const [topic, fault] of topics) {
  test(`names: topic ${JSON.stringify(String(topic).slice(0, 12))} of ${topic?.length ?? 0}: ${fault === null ? 'legal' : 'refused'}`, (t) => {
    t.is(names.topicFault(topic), fault);
  });
}

test('names: groups of up to 120 letters, whose retry topics are then legal for every client', (t) => {
  t.is(names.groupFault(T(120)), null);
  t.is(names.groupFault(T(121)), `The specified group: ${T(121)}, is longer than group max length: 120`);
  t.is(names.groupFault(''), 'The specified group is blank.');
  t.is(names.groupFault('g.x'), 'The specified group: g.x, contains illegal characters, allowing only ^[%|a-zA-Z0-9_-]+$');
  t.true(names.retryTopicOf(T(120)).length <= 127 && names.dlqTopicOf(T(120)).length <= 127);
});

test('names: retry and dead-letter topics', (t) => {
  t.is(names.retryTopicOf('g'), '%RETRY%g');
  t.is(names.dlqTopicOf('g'), '%DLQ%g');
  t.is(names.popRetryTopicOf('g', 't'), '%RETRY%g_t');
  t.is(names.popRetryTopicOf('g', 't', 2), '%RETRY%g+t');
  t.deepEqual(['%RETRY%g', '%DLQ%g', 'g', 'x%RETRY%'].map(names.isRetryTopic), [true, false, false, false]);
  t.deepEqual(['%RETRY%g', '%DLQ%g', 'g'].map(names.isDlqTopic), [false, true, false]);
  t.deepEqual(['%RETRY%g', '%DLQ%g', 'g'].map(names.groupOfRetryTopic), ['g', 'g', null]);
  t.true(names.isLmqTopic('%LMQ%a'));
});

test('names: system topics, and those that clients may not send to', (t) => {
  t.deepEqual(['TBW102', 'rmq_sys_wheel_timer', 'TopicTest'].map(names.isSystemTopic), [true, true, false]);
  t.deepEqual(['TBW102', 'SCHEDULE_TOPIC_XXXX', 'RMQ_SYS_TRANS_HALF_TOPIC', 'a'].map(names.isSendableTopic), [true, false, false, true]);
  t.is(names.notSendableText('SELF_TEST_TOPIC'), 'Sending message to topic[SELF_TEST_TOPIC] is forbidden.');
});
