// Power failures: whatever was synced is there after them, the checkpoint never vouches for more, and queues equal a full rebuild; the checker agrees.

import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { silentLog } from '../../src/base/log.ts';
import { SeededRandom } from '../../src/base/random.ts';
import { markRunning } from '../../src/store/abort-marker.ts';
import { checkStore, type Finding } from '../../src/store/check/check-store.ts';
import { Checkpoint } from '../../src/store/checkpoint.ts';
import type { Files } from '../../src/store/files/files.ts';
import { LogReader } from '../../src/store/log-reader.ts';
import { OffsetsFile } from '../../src/store/offsets-file.ts';
import { CrashFiles } from './files/crash-files.ts';
import { SEGMENT, World, worldSettings } from './world.ts';

const step = (kind: 'append' | 'dispatch' | 'flush' | 'syncLog' | 'syncQueues', weight: number, count: number) => ({
  weight,
  arbitrary: fc.record({ kind: fc.constant(kind), count: fc.nat(count) }),
});
const steps = fc.array(
  fc.oneof(step('append', 4, 60), step('dispatch', 4, 90), step('flush', 4, 0), step('syncLog', 2, 0), step('syncQueues', 1, 0)),
  {
    minLength: 10,
    maxLength: 40,
  },
);

/** What the checker has to say beyond notes. */
function faults(files: Files, severities: readonly string[]): Finding[] {
  const settings = { ...worldSettings, maxHashSlotNum: 7, maxIndexNum: 20, messageDelayLevel: '1s' };
  return checkStore(files, settings).findings.filter(({ severity }) => severities.includes(severity));
}

/** Every record up to the end is what was written. */
function sameLog(t: ExecutionContext, live: Files, durable: Files, end: number): void {
  const bytes = [live, durable].map((files) => {
    const reader = new LogReader(files, '/store/commitlog', SEGMENT);
    const log = Buffer.alloc(end);
    for (let at = 0; at < end; at += SEGMENT) reader.read(at, Math.min(SEGMENT, end - at), log, at);
    reader.close();
    return log;
  });
  t.is(Buffer.compare(bytes[0] as Buffer, bytes[1] as Buffer), 0);
}

test('power failure: synced records live, and queues agree with the log', (t) => {
  fc.assert(
    fc.property(steps, fc.nat(), (sequence, seed) => {
      const files = new CrashFiles();
      const world = new World(0, files);
      const checkpoint = new Checkpoint(files, '/store');
      markRunning(files, '/store', 1);
      let synced = 0;
      for (const { kind, count } of sequence) {
        if (kind === 'append') {
          // Far apart, so that the checkpoint's three seconds are a few records only.
          for (let i = 0; i < count; i++)
            world.log.append(`T${i % 3}`, i % 2, { storeTimeMs: world.log.records.length * 700 + 1, properties: { A: 'b' } });
        } else if (kind === 'dispatch') {
          world.dispatch(count, false);
        } else if (kind === 'flush') {
          world.queues.flushAll();
        } else if (kind === 'syncLog' && world.log.position > synced) {
          world.log.files.segments.sync(synced, world.log.position);
          synced = world.log.position;
          checkpoint.setLogTime(world.log.records.at(-1)?.storeTimeMs ?? 0);
          checkpoint.sync();
        } else if (kind === 'syncQueues') {
          world.queues.flushAll();
          world.queues.syncAll();
          const last = world.log.records[world.dispatched - 1];
          if (last !== undefined) checkpoint.setQueueTime(last.storeTimeMs, last.position);
          checkpoint.sync();
        }
      }
      const durable = files.crash(new SeededRandom(seed));
      world.files = durable;
      if (synced > 0) t.deepEqual(faults(durable, ['damage']), []);
      const found = world.recover(t);
      t.true(found.positionMax >= synced);
      sameLog(t, files, durable, found.positionMax);
      t.is(world.recover(t).positionMax, found.positionMax);
      if (synced > 0) t.deepEqual(faults(durable, ['damage', 'repairable']), []);
    }),
    { numRuns: 250 },
  );
});

test('power failure: a state that was saved is never lost', (t) => {
  for (let seed = 0; seed < 50; seed++) {
    const files = new CrashFiles();
    const file = new OffsetsFile(files, '/config', silentLog);
    for (let offset = 1; offset <= 3; offset++) file.save({ dataVersion: null, rows: new Map([['T@g', new Map([[0, offset]])]]) });
    const after = files.crash(new SeededRandom(seed));
    t.is(new OffsetsFile(after, '/config', silentLog).load()?.rows.get('T@g')?.get(0), 3);
  }
});
