// The table of figures: its limit, what goes with topics and groups, and what goes by itself.
import test from 'ava';
import { StatNames, StatTable } from '../../src/core/stat-table.ts';

test('stat table: figures by name and key', (t) => {
  const table = new StatTable(10);
  table.add(StatNames.topicPutNums, 'T', 3, 3);
  table.sample(10_000);
  t.is(table.get('TOPIC_PUT_NUMS', 'T')?.minute.sum, 3);
  t.is(table.get('TOPIC_PUT_NUMS', 'U'), undefined);
  t.is(table.get('NO_SUCH_STATS', 'T'), undefined);
});

test('stat table: beyond its limit new keys are not counted until others have gone', (t) => {
  const table = new StatTable(2);
  table.add(StatNames.topicPutNums, 'A', 1, 1);
  table.add(StatNames.topicPutNums, 'B', 1, 1);
  table.add(StatNames.topicPutNums, 'C', 1, 1);
  t.is(table.count, 2);
  t.is(table.refusedCount, 1);
  table.add(StatNames.topicPutNums, 'A', 1, 1);
  t.is(table.get('TOPIC_PUT_NUMS', 'A')?.value, 2, 'known keys count on');
  table.topicRemoved('A');
  table.add(StatNames.topicPutNums, 'C', 1, 1);
  t.is(table.get('TOPIC_PUT_NUMS', 'C')?.value, 1);
});

test('stat table: with a topic or a group all its figures go, and no others (BR-12)', (t) => {
  const table = new StatTable(100);
  table.add(StatNames.topicPutNums, 'T', 1, 1);
  table.add(StatNames.queuePutNums, 'T@0', 1, 1);
  table.add(StatNames.groupGetNums, 'T@G', 1, 1);
  table.add(StatNames.queueGetNums, 'T@0@G', 1, 1);
  table.add(StatNames.groupGetNums, 'U@G', 1, 1);
  table.add(StatNames.groupGetNums, 'U@T', 1, 1);
  table.add(StatNames.brokerPutNums, 'T', 1, 1);
  table.topicRemoved('T');
  t.is(table.count, 3);
  t.is(table.get('GROUP_GET_NUMS', 'U@T')?.value, 1, 'a group of that name');
  t.is(table.get('BROKER_PUT_NUMS', 'T')?.value, 1, 'a cluster of that name');
  table.groupRemoved('G');
  t.is(table.get('GROUP_GET_NUMS', 'U@G'), undefined);
  t.is(table.count, 2);
});

test('stat table: what has not grown for a day goes by itself', (t) => {
  const table = new StatTable(100);
  table.add(StatNames.topicPutNums, 'T', 1, 1);
  for (let nowMs = 10_000; nowMs < 26 * 3_600_000; nowMs += 10_000) table.sample(nowMs);
  t.is(table.count, 0);
});
