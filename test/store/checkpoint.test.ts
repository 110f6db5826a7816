// The checkpoint's bytes, its several writers, and the marker of a running broker.
import test from 'ava';
import { isMarkedRunning, markRunning, markStopped } from '../../src/store/abort-marker.ts';
import { Checkpoint, safeTimeMs } from '../../src/store/checkpoint.ts';
import { MemoryFiles } from '../../src/store/files/memory-files.ts';

function files(): MemoryFiles {
  const made = new MemoryFiles();
  made.makeFolder('/store');
  return made;
}

test('checkpoint: two writers keep out of each other’s fields', (t) => {
  const store = files();
  const flusher = new Checkpoint(store, '/store');
  const dispatch = new Checkpoint(store, '/store');
  flusher.load();
  dispatch.load();
  flusher.setLogTime(1_796_031_064_462);
  dispatch.setQueueTime(1_796_031_060_000, 2 ** 33 + 5);
  flusher.setLogTime(1_796_031_064_463);
  flusher.sync();
  flusher.close();
  dispatch.close();
  t.is(store.stat('/store/checkpoint')?.sizeBytes, 4_096);
  t.is(store.openCount, 0);
  const values = new Checkpoint(store, '/store').load();
  t.like(values, { physicMs: 1_796_031_064_463, logicsMs: 1_796_031_060_000, indexMs: 0, logicsPosition: 2 ** 33 + 5 });
  t.is(safeTimeMs(values), 1_796_031_057_000);
});

test('checkpoint: a missing or short file is all zeros', (t) => {
  const store = files();
  const checkpoint = new Checkpoint(store, '/store');
  t.is(safeTimeMs(checkpoint.load()), 0);
  const fd = store.open('/store/checkpoint', 'create');
  store.write(fd, Uint8Array.from([0, 0, 0, 0, 0, 0, 0, 9]), 0, 8, 0);
  t.like(checkpoint.load(), { physicMs: 9, logicsMs: 0, logicsPosition: 0 });
});

test('abort marker: it is there from the start to the stop', (t) => {
  const store = files();
  t.false(isMarkedRunning(store, '/store'));
  markRunning(store, '/store', 4_711);
  markRunning(store, '/store', 12);
  t.true(isMarkedRunning(store, '/store'));
  t.is(store.stat('/store/abort')?.sizeBytes, 2);
  markStopped(store, '/store');
  t.false(isMarkedRunning(store, '/store'));
});
