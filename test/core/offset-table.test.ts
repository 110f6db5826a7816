// Committed offsets, join times, and the decision where a new group starts.
import test from 'ava';
import { JoinTable } from '../../src/core/join-table.ts';
import { OffsetTable } from '../../src/core/offset-table.ts';
import { CLIENT_DECIDES, startOffset } from '../../src/core/start-offset.ts';

test('offset table: rows by group and topic, a limit per row, and what is dirty', (t) => {
  const table = new OffsetTable(0, 2);
  t.is(table.get('G', 'T', 0), -1);
  t.true(table.put('G', 'T', 0, 5, 0));
  t.true(table.dirty);
  table.markSaved();
  t.true(table.put('G', 'T', 0, 5, 0));
  t.false(table.dirty, 'nothing new');
  t.true(table.put('G', 'T', 7, 1, 0));
  t.false(table.put('G', 'T', 8, 1, 0));
  t.true(table.put('G', 'T', 0, 0, 0), 'known queues go on');
  t.is(table.get('G', 'T', 0), 0);
});

test('offset table: topics and groups are dropped by their whole name', (t) => {
  const table = new OffsetTable(0, 10);
  for (const [group, topic] of [
    ['G', 'T'],
    ['G2', 'T'],
    ['G', 'T2'],
    ['G@kind', 'T'],
  ] as const)
    table.put(group, topic, 0, 1, 0);
  t.deepEqual(table.topicsOf('G'), ['T', 'T2']);
  t.deepEqual(table.groupsOf('T'), ['G', 'G2', 'G@kind']);
  t.true(table.dropTopic('T'));
  t.false(table.dropTopic('T'));
  t.deepEqual([...table.rows.keys()], ['T2@G']);
  t.true(table.dropGroup('G'));
  t.is(table.rows.size, 0);
});

test('offset table: the stamp moves once in 500 commits', (t) => {
  const table = new OffsetTable(0, 10);
  for (let i = 0; i < 499; i++) table.put('G', 'T', 0, i, i);
  t.is(table.version.counter, 0);
  table.put('G', 'T', 0, 500, 777);
  t.deepEqual(table.version, { stateVersion: 0, counter: 1, timestamp: 777 });
});

test('offset table: all offsets together have a limit, and what is dropped makes room and is no change any more', (t) => {
  const table = new OffsetTable(0, 10, 3);
  for (const queueId of [0, 1, 2]) t.true(table.put('G', 'T', queueId, 5, 0));
  t.false(table.put('G', 'T', 3, 5, 0));
  t.false(table.put('H', 'T', 0, 5, 0));
  t.true(table.put('G', 'T', 2, 6, 0), 'one that is there moves on');
  t.is(table.count, 3);
  table.dropTopic('T');
  t.is(table.count, 0);
  t.deepEqual(table.takeChanges(), []);
  t.true(table.put('H', 'T2', 0, 5, 0));
  t.deepEqual(table.takeChanges(), [{ key: 'T2@H', queueId: 0, offset: 5 }]);
  table.load({
    dataVersion: null,
    rows: new Map([
      [
        'T2@H',
        new Map([
          [0, 1],
          [1, 1],
        ]),
      ],
    ]),
  });
  t.is(table.count, 2);
});

test('join table: the first join counts, the mode is the last, a removed topic starts over', (t) => {
  const table = new JoinTable(10);
  t.true(table.note('G', 'T', 'LAST', 1, () => [5, 6]));
  t.false(table.note('G', 'T', 'LAST', 2, () => [9, 9]));
  t.true(table.note('G', 'T', 'FIRST', 3, () => [9, 9]));
  t.deepEqual(table.get('G', 'T'), { joinedAtMs: 1, ends: [5, 6], consumeFromWhere: 'FIRST' });
  table.note('G', 'T2', 'LAST', 1, () => [5]);
  table.dropTopic('T');
  t.deepEqual(table.get('G', 'T')?.ends, []);
  t.deepEqual(table.get('G', 'T2')?.ends, [5]);
  table.dropGroup('G');
  t.is(table.rows.size, 0);
});

test('join table: it stays within its limit; joins of topics that are gone go first', (t) => {
  const table = new JoinTable(3);
  table.note('A', 'T', 'LAST', 1, () => [1]);
  table.note('B', 'GONE', 'LAST', 1, () => []);
  table.note('C', 'T', 'LAST', 1, () => [1]);
  table.note('D', 'T', 'LAST', 1, () => [1]);
  t.deepEqual([...table.rows.keys()], ['T@A', 'T@C', 'T@D']);
  table.note('E', 'T', 'LAST', 1, () => [1]);
  t.deepEqual([...table.rows.keys()], ['T@C', 'T@D', 'T@E']);
});

test('join table: joins of topics that never were, that went, and that were loaded so, make room for others', (t) => {
  const table = new JoinTable(3);
  table.load(new Map([['NONE@A', { joinedAtMs: 1, ends: [], consumeFromWhere: 'LAST' }]]));
  table.note('B', 'T', 'LAST', 1, () => [1]);
  table.note('C', 'T2', 'LAST', 1, () => [1]);
  table.note('D', 'T', 'LAST', 1, () => [1]);
  t.deepEqual([...table.rows.keys()], ['T@B', 'T2@C', 'T@D']);
  table.dropTopic('T2');
  table.note('C', 'T2', 'FIRST', 2, () => [9]);
  for (let i = 0; i < 100; i++) table.note('E', `NONE${i}`, 'LAST', 1, () => []);
  t.deepEqual([...table.rows.keys()], ['T@B', 'T@D', 'NONE99@E']);
});

test('join table: joins of topics that are not there have a limit of their own', (t) => {
  const table = new JoinTable(10, 2);
  table.note('A', 'T', 'LAST', 1, () => [1]);
  for (let i = 0; i < 5; i++) table.note('E', `NONE${i}`, 'LAST', 1, () => []);
  t.deepEqual([...table.rows.keys()], ['T@A', 'NONE3@E', 'NONE4@E']);
});

test('start offset: the rules of both houses', (t) => {
  const join = (consumeFromWhere: string, ends: number[] = [7]) => ({ joinedAtMs: 0, ends, consumeFromWhere });
  const ask = (begin: number, end: number, joined: ReturnType<typeof join> | undefined, more = {}): number =>
    startOffset({ queueId: 0, begin, end, join: joined, ownRetryTopic: false, rule: 'ringmq', ...more });
  const last = join('CONSUME_FROM_LAST_OFFSET');
  t.is(ask(0, 0, undefined), 0, 'an empty queue, whoever asks');
  t.is(ask(0, 10, last), 7);
  t.is(ask(0, 10, join('CONSUME_FROM_LAST_OFFSET', [])), 0, 'a queue made after the joining');
  t.is(ask(9, 10, last), 9);
  t.is(ask(0, 5, last), 5);
  t.is(ask(2, 10, join('CONSUME_FROM_FIRST_OFFSET')), 2);
  t.is(ask(2, 10, join('CONSUME_FROM_TIMESTAMP')), -1);
  t.is(ask(2, 10, join(CLIENT_DECIDES)), -1);
  t.is(ask(0, 10, join(CLIENT_DECIDES, [0])), 0, 'all of it was stored since it joined');
  t.is(ask(7, 10, join(CLIENT_DECIDES)), 7);
  t.is(ask(0, 10, join(CLIENT_DECIDES, [])), 0);
  t.is(ask(0, 10, join(CLIENT_DECIDES, [1])), -1);
  t.is(ask(2, 10, undefined), -1);
  t.is(ask(0, 10, undefined), 0, 'a stranger gets what stock brokers answer');
  t.is(ask(2, 10, undefined, { ownRetryTopic: true }), 2);
  t.is(ask(0, 10, last, { rule: 'apache' }), 0);
  t.is(ask(1, 10, last, { rule: 'apache' }), -1);
  t.is(ask(0, 0, last, { rule: 'apache' }), -1);
});
