// The checker and the state files: what cannot be read, offsets that lie outside of their queues, and a checkpoint that promises too much.
import test from 'ava';
import { silentLog } from '../../../src/base/log.ts';
import { Checkpoint } from '../../../src/store/checkpoint.ts';
import { DelayOffsetsFile } from '../../../src/store/delay-offsets-file.ts';
import { lines, sound } from './made-store.ts';

const OFFSETS = '/store/config/consumerOffset.json';
const brace = Buffer.from('{{{{');

test('check state: a torn file with a backup, without one, and a torn backup', (t) => {
  const store = sound();
  store.poke(OFFSETS, 5, brace);
  t.deepEqual(lines(store.check()), ['repairable stateTorn']);
  store.poke(`${OFFSETS}.bak`, 5, brace);
  t.deepEqual(lines(store.check()), ['damage stateTorn']);
  const backup = sound();
  backup.poke(`${OFFSETS}.bak`, 5, brace);
  t.deepEqual(lines(backup.check()), ['note stateBackup']);
});

test('check state: an empty file is torn, an empty backup says nothing', (t) => {
  const store = sound();
  for (const path of [OFFSETS, `${OFFSETS}.bak`]) {
    const fd = store.files.open(path, 'write');
    store.files.truncate(fd, 0);
    store.files.close(fd);
  }
  t.deepEqual(lines(store.check()), ['damage stateTorn']);
});

test('check state: a file without its table would be taken for an empty one', (t) => {
  const store = sound();
  const text = Buffer.from('{"offsets":{}}');
  const fd = store.files.open(OFFSETS, 'write');
  store.files.truncate(fd, 0);
  store.files.write(fd, text, 0, text.length, 0);
  store.files.close(fd);
  store.files.remove(`${OFFSETS}.bak`);
  t.deepEqual(lines(store.check()), ['damage stateTorn']);
});

test('check state: a file that is missing between two renames', (t) => {
  const store = sound();
  store.files.rename(OFFSETS, `${OFFSETS}.tmp`);
  t.deepEqual(lines(store.check()), ['repairable stateMissing']);
  store.files.remove(`${OFFSETS}.tmp`);
  t.deepEqual(lines(store.check()), ['repairable stateMissing']);
  store.files.remove(`${OFFSETS}.bak`);
  t.deepEqual(lines(store.check()), []);
});

test('check state: offsets above, below and at the edges', (t) => {
  const store = sound();
  store.saveOffsets({ 'T0@g': { 0: 0, 1: 12 } });
  t.deepEqual(lines(store.check()), []);
  store.saveOffsets({ 'T0@g': { 0: 13 } });
  const above = store.check();
  t.deepEqual(lines(above), ['note offsetAbove T0@g queueId=0']);
  t.is(above.findings[0]?.seen, 'offset=13');
  t.is(above.findings[0]?.expected, '0 to 12');
  store.saveOffsets({ 'T0@g': { 1: -1 } });
  t.deepEqual(lines(store.check()), ['damage offsetNegative T0@g queueId=1']);
  store.saveOffsets({ 'None@g': { 0: 0 }, 'None@h': { 0: 1 } });
  t.deepEqual(lines(store.check()), ['note offsetAbove None@h queueId=0']);
});

test('check state: progress of the delay levels is held against their queues', (t) => {
  const store = sound();
  new DelayOffsetsFile(store.files, '/store/config', silentLog).save({ dataVersion: null, offsets: new Map([[3, 4]]), later: new Map() });
  t.deepEqual(lines(store.check()), ['note offsetAbove level=3']);
});

test('check state: a topic with queues that is not configured', (t) => {
  const store = sound();
  const text = Buffer.from('{"topicConfigTable":{"T0":{},"T2":{}}}');
  const fd = store.files.open('/store/config/topics.json', 'write');
  store.files.truncate(fd, 0);
  store.files.write(fd, text, 0, text.length, 0);
  store.files.close(fd);
  t.deepEqual(lines(store.check()), ['note topicUnknown topic=T1']);
});

test('check state: a checkpoint ahead of the files (BR-55)', (t) => {
  const store = sound();
  const checkpoint = new Checkpoint(store.files, '/store');
  checkpoint.load();
  const newestMs = store.sent.at(-1)?.storeTimeMs ?? 0;
  checkpoint.setLogTime(newestMs + 1);
  t.deepEqual(lines(store.check()), ['damage checkpointAhead physicMs']);
  checkpoint.setLogTime(newestMs);
  checkpoint.setQueueTime(newestMs + 1, 0);
  t.deepEqual(lines(store.check()), ['note checkpointAhead logicsMs']);
  checkpoint.setQueueTime(newestMs, store.log.position + 1);
  t.deepEqual(lines(store.check()), ['note checkpointAhead logicsPosition']);
  checkpoint.setQueueTime(0, 0);
  checkpoint.setConfirmedPosition(store.log.position + 1);
  t.deepEqual(lines(store.check()), ['damage checkpointAhead confirmedPosition']);
  checkpoint.setConfirmedPosition(0);
  checkpoint.setIndexTime(newestMs + 1);
  t.deepEqual(lines(store.check()), ['note checkpointAhead indexMs']);
  checkpoint.close();
});
