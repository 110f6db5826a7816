// The checker and the log: each kind of damage is planted in a sound store and found, just that and at its place.
import test from 'ava';
import { markRunning } from '../../../src/store/abort-marker.ts';
import { Checkpoint } from '../../../src/store/checkpoint.ts';
import { segmentName } from '../../../src/store/segment-row.ts';
import { makeRecord } from '../records.ts';
import { lines, logPath, MadeStore, madeSettings, SEGMENT, type Sent, sound } from './made-store.ts';

const last = (store: MadeStore): Sent => store.sent.at(-1) as Sent;

test('check log: a sound store has no finding', (t) => {
  const store = sound();
  const report = store.check();
  t.deepEqual(report.findings, []);
  t.deepEqual(report.counts, { damage: 0, repairable: 0, note: 0 });
  t.true(report.cleanlyStopped);
  t.deepEqual(report.totals, {
    positionMin: 0,
    positionMax: store.log.position,
    recordCount: 72,
    queueCount: 6,
    indexFileCount: store.files.list('/store/index').length,
    indexEntryCount: 72 * 3,
  });
});

test('check log: an altered byte of a body in the middle is one finding, and the log goes on behind it', (t) => {
  const store = sound();
  const hit = store.sent[20] as Sent;
  store.flip(hit.position + 90);
  const report = store.check();
  t.deepEqual(lines(report), [`damage recordDamaged position=${hit.position}`]);
  t.is(report.findings[0]?.seen, `badBodyCrc; the next sound record lies at ${store.sent[21]?.position}`);
  t.is(report.totals.recordCount, 71);
});

test('check log: an altered byte of the last record is damage after a clean stop', (t) => {
  const store = sound();
  store.flip(last(store).position + 90);
  t.deepEqual(lines(store.check()), [`damage recordDamaged position=${last(store).position}`]);
});

test('check log: a page of zeros in the middle is damage', (t) => {
  const store = sound();
  const [from, to] = [store.sent[30] as Sent, store.sent[32] as Sent];
  for (const { position, size } of [from, store.sent[31] as Sent]) store.pokeLog(position, new Uint8Array(size));
  const report = store.check();
  t.deepEqual(lines(report), [`damage recordDamaged position=${from.position}`]);
  t.regex(report.findings[0]?.seen ?? '', new RegExp(`^nothing; the next sound record lies at ${to.position}$`));
});

test('check log: a record that says it lies elsewhere', (t) => {
  const store = sound();
  const hit = store.sent[11] as Sent;
  store.flip(hit.position + 34);
  t.deepEqual(lines(store.check()), [`damage recordPosition position=${hit.position}`]);
});

test('check log: a file is missing in the middle, cut, or does not belong there', (t) => {
  const missing = sound();
  missing.files.remove(logPath(SEGMENT));
  t.deepEqual(lines(missing.check()), [`damage fileMissing position=${SEGMENT}`]);
  const cut = sound();
  const fd = cut.files.open(logPath(SEGMENT), 'write');
  cut.files.truncate(fd, SEGMENT - 1);
  cut.files.close(fd);
  t.deepEqual(lines(cut.check()), ['damage fileSize']);
  const alien = sound();
  alien.files.close(alien.files.open('/store/commitlog/README', 'create'));
  t.deepEqual(lines(alien.check()), ['damage alienFile']);
});

test('check log: a file that was only begun is removed by the next start', (t) => {
  const store = sound();
  const end = store.files.list('/store/commitlog').length * SEGMENT;
  store.files.close(store.files.open(`/store/commitlog/${segmentName(end)}`, 'create'));
  t.deepEqual(lines(store.check()), [`repairable fileEmpty position=${end}`]);
});

test('check log: the last file is gone although queues know its messages', (t) => {
  const store = sound();
  store.files.remove(logPath(store.log.position));
  const found = lines(store.check());
  t.true(found.some((line) => line.startsWith('damage unitBeyondLog')));
  t.true(found.some((line) => line.startsWith('damage checkpointAhead')));
  t.true(found.some((line) => line.startsWith('repairable indexBeyondLog')));
});

test('check log: no log at all but queues', (t) => {
  const store = sound();
  store.files.remove('/store/commitlog');
  t.true(lines(store.check()).includes('damage logMissing'));
});

test('check log: files before the first one are no gap', (t) => {
  const store = new MadeStore().fill().dispatch();
  store.log.files.segments.deleteFirst();
  store.log.files.segments.deleteFirst();
  store.stop();
  store.saveOffsets({ 'T0@g': { 0: 0 } });
  t.deepEqual(lines(store.check()), ['note offsetBelow T0@g queueId=0']);
  t.is(store.check().totals.positionMin, 2 * SEGMENT);
});

test('check log: a torn end is repaired by the next start', (t) => {
  const store = new MadeStore().fill().dispatch(60);
  const torn = last(store);
  store.pokeLog(torn.position + torn.size - 30, new Uint8Array(30));
  markRunning(store.files, '/store', 1);
  const report = store.check();
  t.false(report.cleanlyStopped);
  const found = lines(report);
  t.deepEqual(
    found.filter((line) => !line.includes('unitMissing')),
    [
      `repairable logTorn position=${torn.position}`,
      `repairable indexLags position=${store.sent[60]?.position} x11`,
      'note notCleanlyStopped',
    ],
  );
  t.is(found.filter((line) => line.startsWith('repairable unitMissing')).length, 6);
});

test('check log: old bytes behind the end count for nothing where no queue knows them', (t) => {
  const store = sound();
  store.pokeLog(store.log.position + 10, Buffer.from('rubbish'));
  t.deepEqual(lines(store.check()), [`note bytesBehindEnd position=${store.log.position}`]);
});

test('check log: what another broker left behind its cut is no damage', (t) => {
  const store = new MadeStore().fill(60).dispatch();
  const cut = last(store);
  store.fill(12).dispatch().stop();
  const behind = store.sent[60] as Sent;
  store.flip(behind.position + 90);
  for (const name of store.files.list('/store/index')) store.files.remove(`/store/index/${name}`);
  const checkpoint = new Checkpoint(store.files, '/store');
  checkpoint.load();
  checkpoint.setLogTime(cut.storeTimeMs);
  checkpoint.setQueueTime(cut.storeTimeMs, cut.position);
  t.true(lines(store.check()).includes(`damage recordDamaged position=${behind.position}`));
  checkpoint.setConfirmedPosition(cut.position);
  checkpoint.close();
  const found = lines(store.check());
  t.deepEqual(
    found.filter((line) => !line.startsWith('repairable unitBeyondLog')),
    [`note bytesBehindEnd position=${behind.position}`, 'note offsetAbove T0@g queueId=1'],
  );
});

test('check log: a blank that does not reach to the end of its file', (t) => {
  const store = sound();
  const first = store.sent.find(({ position }) => position >= SEGMENT) as Sent;
  const before = store.sent[store.sent.indexOf(first) - 1] as Sent;
  const blank = before.position + before.size;
  store.pokeI32(logPath(blank), blank, SEGMENT - blank - 1);
  t.deepEqual(lines(store.check()), [`damage blankSize position=${blank}`]);
});

test('check log: a clock that was set back is a note', (t) => {
  const store = new MadeStore().fill(5);
  store.send('T0', 0, { storeTimeMs: 10 });
  store.fill(2).dispatch().stop();
  const [line, ...rest] = lines(store.check());
  t.is(line, `note storeTimeBack position=${store.sent[5]?.position}`);
  t.deepEqual(rest, ['note offsetAbove T0@g queueId=0 x2']);
});

test('check log: a folder without a store, or other sizes than are set, is refused', (t) => {
  const store = sound();
  const refused = (more: object): string => {
    const error = t.throws(() => store.checkWith({ ...madeSettings, ...more }), { code: 'store' });
    return error?.message ?? '';
  };
  t.regex(refused({ storePathRootDir: '/nowhere', storePathCommitLog: '/nowhere/commitlog' }), /no store in this folder/);
  t.regex(refused({ mappedFileSizeCommitLog: 8_192 }), /mappedFileSizeCommitLog.*sizeBytes=4096 sizeBytesSet=8192/);
  t.regex(refused({ mappedFileSizeConsumeQueue: 400 }), /mappedFileSizeConsumeQueue.*sizeBytes=200 sizeBytesSet=400/);
  t.regex(refused({ maxIndexNum: 21 }), /maxHashSlotNum and maxIndexNum.*sizeBytes=468 sizeBytesSet=488/);
});

test('check log: foreign records behind a torn end are told with their place', (t) => {
  const store = new MadeStore().fill(10).dispatch();
  markRunning(store.files, '/store', 1);
  const end = store.log.position;
  const position = end + 50;
  store.pokeLog(end, Buffer.from('rubbish'));
  store.pokeLog(position, makeRecord(position, { topic: 'T0', queueId: 0, queueOffset: 99 }));
  const report = store.check();
  t.is(report.findings.find(({ kind }) => kind === 'logTorn')?.seen, `tooFewBytes; a sound record lies behind it at ${position}`);
  t.is(report.counts.damage, 0);
});
