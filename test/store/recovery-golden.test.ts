// Recovery of the golden stores: it must end where Apache's recovery ended, with every unit where the records say.
import test, { type ExecutionContext } from 'ava';
import { silentLog } from '../../src/base/log.ts';
import { NodeFiles } from '../../src/store/files/node-files.ts';
import { recoverStore } from '../../src/store/recovery.ts';
import { type GoldenRecord, goldenStores, readGoldenIndex, readGoldenRecords } from '../message/golden-store.ts';
import { followLog, unitsOf } from './following.ts';
import { settingsOf, unpackGoldenStore } from './golden.ts';

interface Recovered {
  readonly apacheRecoveredTo?: { readonly maxPhyOffset: number; readonly queues: Record<string, [number, number]> };
}

function expectedQueues(records: readonly GoldenRecord[], end: number): Map<string, { position: number; size: number }[]> {
  const queues = new Map<string, { position: number; size: number }[]>();
  for (const record of records) {
    const transaction = record.sysFlag & 0xc;
    if (record.physicalOffset >= end || transaction === 4 || transaction === 0xc || record.topic === 'GoldInner') continue;
    const name = `${record.topic}/${record.queueId}`;
    const units = queues.get(name) ?? [];
    units.push({ position: record.physicalOffset, size: record.size });
    queues.set(name, units);
  }
  return queues;
}

/** Records of a torn store are those of `plain-crash`, up to the tear. */
function check(t: ExecutionContext, stores: string, name: string, recordsOf: string): void {
  const root = unpackGoldenStore(t, stores, name);
  const index = readGoldenIndex(stores)[name] as ReturnType<typeof readGoldenIndex>[string] & Recovered;
  const files = new NodeFiles();
  const settings = settingsOf(root);
  const found = recoverStore(files, settings, silentLog);
  t.is(found.positionMax, index.logEnd);
  t.is(found.positionMin, 0);
  const expected = expectedQueues(readGoldenRecords(stores, recordsOf), index.logEnd);
  const bounds = Object.fromEntries(found.queues.map((queue) => [`${queue.topic}/${queue.queueId}`, [queue.offsetMin, queue.offsetNext]]));
  for (const [queue, [min, max]] of Object.entries(index.apacheRecoveredTo?.queues ?? {})) t.deepEqual(bounds[queue], [min, max], queue);
  const queues = followLog(t, files, settings, found);
  t.deepEqual([...queues.keys()].sort(), [...expected.keys()].sort());
  for (const [queue, units] of expected) {
    t.deepEqual(bounds[queue], [0, units.length], queue);
    t.deepEqual(unitsOf(queues.get(queue) as NonNullable<ReturnType<typeof queues.get>>), units, queue);
  }
  // A second start, whatever the marker says, finds nothing left to do.
  const again = recoverStore(files, { ...settings, verifySizeBytes: 0 }, silentLog);
  t.is(again.positionMax, found.positionMax);
  if (!found.abnormal) t.is(again.dispatchFrom, found.positionMax);
  t.deepEqual(
    again.queues.map(({ topic, queueId, offsetNext }) => `${topic}/${queueId}=${offsetNext}`).sort(),
    found.queues.map(({ topic, queueId, offsetNext }) => `${topic}/${queueId}=${offsetNext}`).sort(),
  );
}

const cases: readonly (readonly [string, string])[] = [
  ['clean', 'clean'],
  ['crash', 'crash'],
  ['crash-recovered', 'crash-recovered'],
  ['exotic', 'exotic'],
  ['plain-crash', 'plain-crash'],
  ['plain-crash-recovered', 'plain-crash'],
  ['torn-zero-tail', 'plain-crash'],
  ['torn-bad-body', 'plain-crash'],
  ['torn-garbage', 'plain-crash'],
  ['torn-early-garbage', 'plain-crash'],
  ['torn-early-garbage-recovered', 'plain-crash'],
];

for (const [name, recordsOf] of cases) {
  test(`recovery: golden store ${name}`, (t) => {
    const stores = goldenStores(t);
    if (stores !== null) check(t, stores, name, recordsOf);
  });
}

test('recovery: a clean golden store needs no dispatch, an unclean one is told', (t) => {
  const stores = goldenStores(t);
  if (stores === null) return;
  const clean = recoverStore(new NodeFiles(), settingsOf(unpackGoldenStore(t, stores, 'clean')), silentLog);
  t.false(clean.abnormal);
  t.is(clean.dispatchFrom, clean.positionMax);
  t.deepEqual(clean.warnings, []);
  t.is(clean.checkpoint.indexMs, 1_796_038_300_833);
  t.is(clean.storeTimeMsMax, Math.max(...readGoldenRecords(stores, 'clean').map((record) => record.storeTimestamp)));
  const crash = recoverStore(new NodeFiles(), settingsOf(unpackGoldenStore(t, stores, 'plain-crash')), silentLog);
  t.true(crash.abnormal);
  t.is(crash.dispatchFrom, 0);
});

test('recovery: batch queues are left as they are, with a warning', (t) => {
  const stores = goldenStores(t);
  if (stores === null) return;
  const root = unpackGoldenStore(t, stores, 'exotic');
  const found = recoverStore(new NodeFiles(), settingsOf(root), silentLog);
  t.true(found.warnings.some((warning) => /batch queues.*GoldInner/.test(warning)));
  t.is(new NodeFiles().list(`${root}/batchconsumequeue/GoldInner`).length, 2);
});
