// Power failures: whatever was synced is there after them, the checkpoint never vouches for more, and queues equal a full rebuild.

import test from 'ava';
import fc from 'fast-check';
import { silentLog } from '../../src/base/log.ts';
import { SeededRandom } from '../../src/base/random.ts';
import { markRunning } from '../../src/store/abort-marker.ts';
import { Checkpoint } from '../../src/store/checkpoint.ts';
import { OffsetsFile } from '../../src/store/offsets-file.ts';
import { CrashFiles } from './files/crash-files.ts';
import { World } from './world.ts';

const steps = fc.array(
  fc.record({ kind: fc.constantFrom('append', 'append', 'dispatch', 'flush', 'syncLog', 'syncQueues'), count: fc.nat(40) }),
  {
    maxLength: 30,
  },
);

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
      world.files = files.crash(new SeededRandom(seed));
      const found = world.recover(t);
      t.true(found.positionMax >= synced);
      t.is(world.recover(t).positionMax, found.positionMax);
    }),
    { numRuns: 200 },
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
