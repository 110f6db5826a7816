// What retention decides: by table, by the hour, by the disks, and by times that cannot all be believed.
import test from 'ava';
import fc from 'fast-check';
import {
  believableTimes,
  DiskReasons,
  isExpired,
  judgeRetention,
  packDiskState,
  type RetentionSettings,
  refusalText,
  retentionText,
  unpackDiskState,
} from '../../src/core/retention.ts';

const HOUR_MS = 3_600_000;
const NOW_MS = 1_700_000_000_000;

const defaults: RetentionSettings = {
  fileReservedTime: 72,
  deleteWhen: '04',
  diskMaxUsedSpaceRatio: 75,
  diskSpaceCleanForciblyRatio: 85,
  diskSpaceWarningLevelRatio: 90,
  cleanFileForciblyEnable: false,
  deleteUnconsumed: false,
};

interface Row {
  readonly log: number | null;
  readonly queues?: number | null;
  readonly hour?: number;
  readonly more?: Partial<RetentionSettings>;
  readonly refuses?: number;
  readonly runs?: boolean;
  readonly ignoresAge?: boolean;
  readonly keepsUnread?: boolean;
}

const forced = { cleanFileForciblyEnable: true };
const rows: Readonly<Record<string, Row>> = {
  'half full, another hour': { log: 50 },
  'half full, the hour': { log: 50, hour: 4, runs: true },
  'one of several hours': { log: 50, hour: 16, more: { deleteWhen: '04;16;' }, runs: true },
  'at the ratio': { log: 75 },
  'above the ratio': { log: 76, runs: true, keepsUnread: false },
  'the queues’ disk above the ratio': { log: 10, queues: 76, runs: true, keepsUnread: false },
  'at the forced ratio': { log: 85, more: forced, runs: true, keepsUnread: false },
  'above the forced ratio, not switched on': { log: 86, runs: true, keepsUnread: false },
  'above the forced ratio, switched on': { log: 86, more: forced, runs: true, ignoresAge: true, keepsUnread: false },
  'the queues’ disk above it': { log: 10, queues: 86, more: forced, runs: true, ignoresAge: true, keepsUnread: false },
  'at the warning level': { log: 90, runs: true, keepsUnread: false },
  'above the warning level': { log: 91, refuses: DiskReasons.log, runs: true, keepsUnread: false },
  'the queues’ disk above the warning level': { log: 10, queues: 91, refuses: DiskReasons.queues, runs: true, keepsUnread: false },
  both: { log: 91, queues: 91, refuses: DiskReasons.log | DiskReasons.queues, runs: true, keepsUnread: false },
  'a warning level below the ratio': { log: 60, more: { diskSpaceWarningLevelRatio: 50 }, refuses: 1, runs: true, keepsUnread: false },
  'unread messages may go': { log: 50, hour: 4, more: { deleteUnconsumed: true }, runs: true, keepsUnread: false },
  'unknown, another hour (BR-59)': { log: null, more: forced },
  'unknown, the hour (BR-59)': { log: null, hour: 4, more: forced, runs: true },
  'one unknown, the other full (BR-59)': { log: null, queues: 91, refuses: DiskReasons.queues, runs: true, keepsUnread: false },
};

for (const [title, row] of Object.entries(rows)) {
  test(`retention: ${title}`, (t) => {
    const use = { logPercent: row.log, queuePercent: row.queues === undefined ? row.log : row.queues };
    const all = row.queues === undefined && row.refuses === DiskReasons.log ? DiskReasons.log | DiskReasons.queues : (row.refuses ?? 0);
    t.deepEqual(judgeRetention({ ...defaults, ...row.more }, use, row.hour ?? 5), {
      refuses: all,
      runs: row.runs ?? false,
      ignoresAge: row.ignoresAge ?? false,
      keepsUnread: row.keepsUnread ?? row.more?.deleteUnconsumed !== true,
    });
  });
}

test('retention: a fuller disk never refuses, deletes or forces less', (t) => {
  const percent = fc.option(fc.integer({ min: 0, max: 100 }));
  const settings = fc.record({
    ...Object.fromEntries(
      (['diskMaxUsedSpaceRatio', 'diskSpaceCleanForciblyRatio', 'diskSpaceWarningLevelRatio'] as const).map((name) => [
        name,
        fc.integer({ min: 1, max: 99 }),
      ]),
    ),
    cleanFileForciblyEnable: fc.boolean(),
    deleteUnconsumed: fc.boolean(),
  });
  fc.assert(
    fc.property(
      settings,
      percent,
      percent,
      fc.integer({ min: 0, max: 23 }),
      fc.integer({ min: 0, max: 50 }),
      (some, log, queues, hour, more) => {
        const given = { ...defaults, ...some } as RetentionSettings;
        const now = judgeRetention(given, { logPercent: log, queuePercent: queues }, hour);
        const fuller = judgeRetention(given, { logPercent: log === null ? null : log + more, queuePercent: queues }, hour);
        t.is(fuller.refuses & now.refuses, now.refuses);
        t.true(fuller.runs || !now.runs);
        t.true(fuller.ignoresAge || !now.ignoresAge);
        t.true(now.keepsUnread || !fuller.keepsUnread);
        t.false(now.ignoresAge && !given.cleanFileForciblyEnable);
      },
    ),
  );
});

test('retention: a file goes when its time is over, to the millisecond', (t) => {
  t.false(isExpired(defaults, NOW_MS - 72 * HOUR_MS + 1, NOW_MS));
  t.true(isExpired(defaults, NOW_MS - 72 * HOUR_MS, NOW_MS));
  t.true(isExpired({ ...defaults, fileReservedTime: 0 }, NOW_MS, NOW_MS));
});

test('retention: times that cannot be are corrected: not older than the file before, not in the future (BR-62)', (t) => {
  const day = 24 * HOUR_MS;
  const future = NOW_MS + 25 * 365 * day;
  const old = NOW_MS - 3 * day;
  t.deepEqual(believableTimes([old, old + 1, NOW_MS], NOW_MS), [old, old + 1, NOW_MS]);
  t.deepEqual(believableTimes([old, 0, NOW_MS], NOW_MS), [old, old, NOW_MS], 'a clock that was back in 1970');
  t.deepEqual(believableTimes([old, future, future, NOW_MS - day, NOW_MS], NOW_MS), [
    old,
    NOW_MS - day,
    NOW_MS - day,
    NOW_MS - day,
    NOW_MS,
  ]);
  t.deepEqual(believableTimes([future, future], NOW_MS), [NOW_MS, NOW_MS]);
  t.deepEqual(believableTimes([], NOW_MS), []);
});

test('retention: believable times rise, lie in the past, and right ones stay as they are', (t) => {
  const times = fc.array(fc.integer({ min: -1_000, max: 1_000 }), { maxLength: 12 });
  fc.assert(
    fc.property(times, (distances) => {
      const mtimes = distances.map((distance) => NOW_MS + distance);
      const believed = believableTimes(mtimes, NOW_MS);
      believed.forEach((time, i) => {
        t.true(time <= NOW_MS);
        if (i > 0) t.true(time >= (believed[i - 1] as number));
        if ((mtimes[i] as number) <= NOW_MS) t.true(time >= (mtimes[i] as number), 'never taken for older than it says');
      });
      const right = mtimes.filter((mtime) => mtime <= NOW_MS).sort((a, b) => a - b);
      t.deepEqual(believableTimes(right, NOW_MS), right);
    }),
  );
});

test('retention: the state of the disks fits into one number', (t) => {
  const percent = fc.option(fc.integer({ min: 0, max: 100 }));
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 3 }), percent, percent, (refuses, logPercent, queuePercent) => {
      const packed = packDiskState({ refuses, logPercent, queuePercent });
      t.true(Number.isSafeInteger(packed));
      t.deepEqual(unpackDiskState(packed), { refuses, logPercent, queuePercent });
    }),
  );
  t.deepEqual(unpackDiskState(0), { refuses: 0, logPercent: null, queuePercent: null });
});

test('retention: a refusal names all reasons, what was seen, what is allowed and what to do (BR-61)', (t) => {
  const both = refusalText({ refuses: 3, logPercent: 93, queuePercent: 95 }, defaults);
  t.regex(both, /commit log is full used=93%, .*consume queues is full used=95% allowed=90% \(diskSpaceWarningLevelRatio\)/);
  t.notRegex(refusalText({ refuses: 2, logPercent: 50, queuePercent: 95 }, defaults), /commit log/);
});

test('retention: the policy is one sentence', (t) => {
  t.is(
    retentionText(defaults),
    'keeps messages 72 h, deletes older ones at 04:00 or above 75 % disk; never deletes younger ones; refuses writes above 90 %; unread messages are kept below 75 %',
  );
  t.regex(
    retentionText({ ...defaults, deleteWhen: '4;16;', cleanFileForciblyEnable: true, deleteUnconsumed: true }),
    /at 04:00 and 16:00 or above 75 % disk; deletes younger ones too above 85 % disk; .*unread messages go like all others$/,
  );
  const everyHour = Array.from({ length: 24 }, (_, hour) => hour).join(';');
  t.regex(retentionText({ ...defaults, deleteWhen: everyHour }), /deletes older ones at any hour or above/);
});
