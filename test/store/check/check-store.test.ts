// The whole check: golden stores of Apache's broker, before and after our recovery, and stores made and damaged at random.
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { silentLog } from '../../../src/base/log.ts';
import { markStopped } from '../../../src/store/abort-marker.ts';
import { type CheckReport, checkStore } from '../../../src/store/check/check-store.ts';
import { RecordFacts } from '../../../src/store/check/record-facts.ts';
import type { Files } from '../../../src/store/files/files.ts';
import { NodeFiles } from '../../../src/store/files/node-files.ts';
import { IndexFiles } from '../../../src/store/index-files.ts';
import { LogWalker } from '../../../src/store/log-walker.ts';
import { UNIT_SIZE } from '../../../src/store/queue-unit.ts';
import { type RecoveredStore, recoverStore } from '../../../src/store/recovery.ts';
import { goldenStores } from '../../message/golden-store.ts';
import { followLog } from '../following.ts';
import { goldenSizes, settingsOf, unpackGoldenStore } from '../golden.ts';
import { lines, MadeStore, ReadOnlyFiles, type Sent } from './made-store.ts';

const delays = '1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h';

function checkGolden(root: string): CheckReport {
  return checkStore(new ReadOnlyFiles(new NodeFiles()), { ...settingsOf(root), ...goldenSizes, messageDelayLevel: delays });
}

const kinds = (report: CheckReport, severity: string): string[] => [
  ...new Set(report.findings.filter((finding) => finding.severity === severity).map(({ kind }) => kind)),
];

/** Those that Apache's broker stopped cleanly, or its store classes recovered: what is left of them to say is no damage. */
const soundStores: Readonly<Record<string, readonly string[]>> = {
  clean: [],
  exotic: ['batchQueues'],
  // Its recovery drops the newest index file and does not make all of it again.
  'crash-recovered': ['keyMissing'],
  'plain-crash-recovered': [],
  'torn-zero-tail-recovered': ['bytesBehindEnd'],
  'torn-bad-body-recovered': ['bytesBehindEnd'],
  'torn-garbage-recovered': ['bytesBehindEnd'],
  'torn-early-garbage-recovered': ['bytesBehindEnd', 'checkpointAhead'],
};

for (const [name, notes] of Object.entries(soundStores)) {
  test(`check: the golden store ${name} is sound`, (t) => {
    const stores = goldenStores(t);
    if (stores === null) return;
    const report = checkGolden(unpackGoldenStore(t, stores, name));
    t.true(report.cleanlyStopped);
    t.deepEqual(kinds(report, 'damage'), []);
    t.deepEqual(kinds(report, 'note'), notes);
  });
}

/** The index is opened as after an unclean stop and gets what it lacks, as the indexer does it. */
function followIndex(files: Files, root: string, found: RecoveredStore): void {
  const opening = { abnormal: found.abnormal, syncedTimeMs: found.checkpoint.indexMs, logPositionMax: found.positionMax };
  const index = IndexFiles.open(files, `${root}/index`, goldenSizes.maxHashSlotNum, goldenSizes.maxIndexNum, opening);
  const walker = new LogWalker(files, `${root}/commitlog`, goldenSizes.mappedFileSizeCommitLog);
  const facts = new RecordFacts();
  walker.seek(index.fileCount > 0 ? Math.min(found.dispatchFrom, index.newestPosition) : found.positionMin);
  while (walker.next(found.positionMax)) {
    facts.read(walker.bytes, walker.at, walker.size, walker.position);
    for (let i = 0; i < facts.keyCount; i++) index.insertHashed(facts.keys[i] as number, walker.position, facts.storeTimeMs);
  }
  walker.close();
  index.close();
}

function recoverFully(t: ExecutionContext, root: string): void {
  const files = new NodeFiles();
  const settings = settingsOf(root);
  const found = recoverStore(files, settings, silentLog);
  followLog(t, files, settings, found);
  followIndex(files, root, found);
  markStopped(files, root);
}

for (const name of ['crash', 'plain-crash', 'torn-zero-tail', 'torn-bad-body', 'torn-garbage', 'torn-early-garbage']) {
  test(`check: the golden store ${name} needs nothing but a start, and nothing after it`, (t) => {
    const stores = goldenStores(t);
    if (stores === null) return;
    const root = unpackGoldenStore(t, stores, name);
    const before = checkGolden(root);
    t.false(before.cleanlyStopped);
    t.deepEqual(kinds(before, 'damage'), []);
    t.is(
      before.findings.some(({ kind }) => kind === 'logTorn'),
      name.startsWith('torn'),
    );
    recoverFully(t, root);
    const after = checkGolden(root);
    t.true(after.cleanlyStopped);
    t.deepEqual([...kinds(after, 'damage'), ...kinds(after, 'repairable')], []);
  });
}

const sends = fc.array(
  fc.record({
    topic: fc.nat(2),
    queueId: fc.nat(1),
    bodySize: fc.integer({ min: 1, max: 900 }),
    tag: fc.nat(3),
    keys: fc.nat(3),
    pauseMs: fc.nat(3_000),
  }),
  { minLength: 5, maxLength: 90 },
);

function made(
  sequence: readonly { topic: number; queueId: number; bodySize: number; tag: number; keys: number; pauseMs: number }[],
): MadeStore {
  const store = new MadeStore();
  let storeTimeMs = 1_000;
  sequence.forEach(({ topic, queueId, bodySize, tag, keys, pauseMs }, i) => {
    storeTimeMs += pauseMs;
    const properties: Record<string, string> = { UNIQ_KEY: `U${i}` };
    if (tag > 0) properties['TAGS'] = `Tag${tag}`;
    if (keys > 0) properties['KEYS'] = Array.from({ length: keys }, (_, key) => `k${key}-${i % 7}`).join(' ');
    store.send(`T${topic}`, queueId, { bodySize, storeTimeMs, properties });
    if (i % 13 === 0) store.dispatch();
  });
  store.dispatch().stop();
  store.saveOffsets({});
  return store;
}

/** Each damages the store where the numbers lead it. */
const damages: Readonly<Record<string, (store: MadeStore, sent: Sent, within: number) => void>> = {
  body: (store, sent, within) => store.flip(sent.position + 88 + (within % bodySizeOf(store, sent))),
  // Size, magic, checksum, queue, offset, position; the flag between them means nothing to the store.
  head: (store, sent, within) => store.flip(sent.position + ([0, 4, 8, 12, 20, 28][within % 6] as number) + (within % 4)),
  unit: (store, sent, within) => {
    const unit = store.unitBytes(sent.topic, sent.queueId, sent.queueOffset);
    unit[within % UNIT_SIZE] = (unit[within % UNIT_SIZE] as number) ^ 0x55;
    store.pokeUnitBytes(sent.topic, sent.queueId, sent.queueOffset, unit);
  },
  noUnit: (store, sent) => store.pokeUnitBytes(sent.topic, sent.queueId, sent.queueOffset, new Uint8Array(UNIT_SIZE)),
  zeros: (store, sent) => store.pokeLog(sent.position, new Uint8Array(sent.size)),
  queueFile: (store, sent) => {
    const folder = `/store/consumequeue/${sent.topic}/${sent.queueId}`;
    store.files.remove(`${folder}/${store.files.list(folder)[0]}`);
  },
  indexEntry: (store, _, within) => {
    const path = store.indexPath(within % store.files.list('/store/index').length);
    // Of the first entry only the seconds may be any.
    const at = 40 + 7 * 4 + 20 + (within % 12);
    const [byte = 0] = store.peek(path, at, 1);
    store.poke(path, at, Uint8Array.from([byte ^ 0x55]));
  },
  indexHeader: (store, _, within) => {
    const path = store.indexPath(within % store.files.list('/store/index').length);
    const [byte = 0] = store.peek(path, within % 40, 1);
    store.poke(path, within % 40, Uint8Array.from([byte ^ 0x55]));
  },
};

function bodySizeOf(store: MadeStore, sent: Sent): number {
  const bytes = store.peek(
    `/store/commitlog/${String(sent.position - (sent.position % 4_096)).padStart(20, '0')}`,
    (sent.position % 4_096) + 84,
    4,
  );
  return Buffer.from(bytes).readInt32BE(0);
}

test('check: whatever was sent, a store that was stopped cleanly has no finding', (t) => {
  fc.assert(
    fc.property(sends, (sequence) => {
      t.deepEqual(lines(made(sequence).check()), []);
    }),
    { numRuns: 60 },
  );
});

for (const [name, damage] of Object.entries(damages)) {
  test(`check: damage at random is never passed over: ${name}`, (t) => {
    fc.assert(
      fc.property(sends, fc.nat(), fc.nat(), (sequence, hit, within) => {
        const store = made(sequence);
        damage(store, store.sent[hit % store.sent.length] as Sent, within);
        t.true(store.check().findings.length > 0);
      }),
      { numRuns: 60 },
    );
  });
}
