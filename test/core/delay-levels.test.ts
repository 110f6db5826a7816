// Delay levels: the setting read, and which list holds for what was stored before it was changed.
import test from 'ava';
import {
  continueDelayLists as continued,
  DELAY_LIST_COUNT_MAX,
  DelayHistory,
  type DelayList,
  parseDelayLevels,
} from '../../src/core/delay-levels.ts';

const NEVER = Number.POSITIVE_INFINITY;

function list(levels: string, ...begins: readonly (readonly [level: number, offset: number])[]): DelayList {
  return { levels, begins: new Map(begins) };
}

function continueDelayLists(...given: Parameters<typeof continued>): readonly DelayList[] {
  return continued(...given).lists;
}

test('delay levels: every unit counts, blanks may be many', (t) => {
  t.deepEqual(parseDelayLevels('  1s 5m   2h\t3d '), [1_000, 300_000, 7_200_000, 259_200_000]);
});

test('delay levels: one list holds for all offsets', (t) => {
  const history = new DelayHistory([list('1s 5s')]);
  t.is(history.levelMax, 2);
  t.is(history.levelCount, 2);
  t.is(history.delayMsOf(2, 0), 5_000);
  t.is(history.delayMsOf(2, 1e9), 5_000);
  t.is(history.delayMsOf(9, 0), 5_000);
  t.deepEqual(history.spansOf(1), [{ from: 0, to: NEVER, delayMs: 1_000 }]);
});

test('delay levels: a message keeps the delay of the list it was stored under (BR-34)', (t) => {
  const history = new DelayHistory([list('1s 5s 10s'), list('1s 2s', [1, 4], [2, 7], [3, 5])]);
  t.deepEqual([history.levelMax, history.levelCount], [2, 3]);
  t.is(history.delayMsOf(2, 6), 5_000);
  t.is(history.delayMsOf(2, 7), 2_000);
  t.deepEqual(history.spansOf(1), [{ from: 0, to: NEVER, delayMs: 1_000 }]);
  t.deepEqual(history.spansOf(2), [
    { from: 0, to: 7, delayMs: 5_000 },
    { from: 7, to: NEVER, delayMs: 2_000 },
  ]);
  t.deepEqual(history.spansOf(3), [
    { from: 0, to: 5, delayMs: 10_000 },
    { from: 5, to: NEVER, delayMs: 2_000 },
  ]);
});

test('delay levels: a list under which nothing was stored leaves no part', (t) => {
  const history = new DelayHistory([list('1s'), list('2s', [1, 3]), list('3s', [1, 3])]);
  t.deepEqual(history.spansOf(1), [
    { from: 0, to: 3, delayMs: 1_000 },
    { from: 3, to: NEVER, delayMs: 3_000 },
  ]);
});

test('delay levels: the first start keeps the list, the same list again changes nothing', (t) => {
  const first = continueDelayLists(
    [],
    '1s',
    () => 9,
    () => 0,
  );
  t.deepEqual(first, [list('1s')]);
  t.deepEqual(
    continueDelayLists(
      first,
      '1s',
      () => 12,
      () => 3,
    ),
    first,
  );
});

test('delay levels: a changed list begins at the end of each queue, and goes with the last message before it', (t) => {
  const changed = continueDelayLists(
    [list('1s 5s')],
    '2s',
    (level) => level * 10,
    () => 0,
  );
  t.deepEqual(changed, [list('1s 5s'), list('2s', [1, 10], [2, 20])]);
  t.deepEqual(
    continueDelayLists(
      changed,
      '2s',
      () => 30,
      (level) => (level === 1 ? 10 : 19),
    ),
    changed,
  );
  t.deepEqual(
    continueDelayLists(
      changed,
      '2s',
      () => 30,
      (level) => level * 10,
    ),
    [list('2s', [1, 10], [2, 20])],
  );
});

test('delay levels: where the log lost its end, lists begin there', (t) => {
  const stored = [list('1s'), list('2s', [1, 10])];
  t.deepEqual(
    continueDelayLists(
      stored,
      '2s',
      () => 6,
      () => 2,
    ),
    [list('1s'), list('2s', [1, 6])],
  );
});

test('delay levels: only so many lists are kept, and which one was given up for that is told', (t) => {
  let lists: readonly DelayList[] = [];
  const forgotten: string[] = [];
  for (let i = 1; i <= DELAY_LIST_COUNT_MAX + 5; i++) {
    const change = continued(
      lists,
      `${i}s`,
      () => i,
      () => 0,
    );
    lists = change.lists;
    forgotten.push(...change.forgotten.map(({ levels }) => levels));
  }
  t.is(lists.length, DELAY_LIST_COUNT_MAX);
  t.deepEqual(forgotten, ['1s', '2s', '3s', '4s', '5s']);
  t.is(lists.at(-1)?.levels, `${DELAY_LIST_COUNT_MAX + 5}s`);
});
