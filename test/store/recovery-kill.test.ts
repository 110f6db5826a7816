// A process that is killed loses nothing that it has written: a start in the same place trusts that, one elsewhere does not.
import test from 'ava';
import fc from 'fast-check';
import { isMarkedRunning, markRunning, markStopped, WrittenMark, writtenBelow } from '../../src/store/abort-marker.ts';
import { MemoryFiles } from '../../src/store/files/memory-files.ts';
import { segmentName } from '../../src/store/segment-row.ts';
import { SEGMENT, World } from './world.ts';

test('recovery: after a kill in the same place only what was in no file yet is read again', (t) => {
  const world = new World().fill(300);
  // The mark may lag behind what is in files, as it is moved now and then.
  world.dispatch(260);
  const [marked, next] = [250, 260].map((i) => world.log.records[i]?.position ?? -1) as [number, number];
  markRunning(world.files, '/store', 1, 'here', marked);
  const found = world.recover(t, { place: 'here', verifySizeBytes: 2_000 });
  t.like(found, { abnormal: true, written: true, dispatchFrom: next, positionMax: world.log.position });
  const elsewhere = world.recover(t, { place: 'there' });
  t.like(elsewhere, { abnormal: true, written: false, dispatchFrom: 0, synced: 0 });
  // Which of the log is on the disk is another question, that only the checkpoint answers.
  t.is(found.synced, 0);
});

test('recovery: a mark of another place, of another broker, or a damaged one is no mark', (t) => {
  const files = new MemoryFiles();
  files.makeFolder('/store');
  t.is(writtenBelow(files, '/store', 'here'), -1);
  markRunning(files, '/store', 4_711, 'here', 2 ** 40);
  t.is(writtenBelow(files, '/store', 'here'), 2 ** 40);
  t.is(writtenBelow(files, '/store', 'there'), -1);
  t.is(writtenBelow(files, '/store', ''), -1);
  const size = files.stat('/store/abort')?.sizeBytes ?? 0;
  const fd = files.open('/store/abort', 'write');
  for (let at = 5; at < size; at++) {
    const before = new Uint8Array(1);
    files.read(fd, before, 0, 1, at);
    files.write(fd, Uint8Array.from([before[0] === 0x31 ? 0x32 : 0x31]), 0, 1, at);
    t.is(writtenBelow(files, '/store', 'here'), -1, `byte ${at}`);
    files.write(fd, before, 0, 1, at);
  }
  t.is(writtenBelow(files, '/store', 'here'), 2 ** 40);
  // What Apache's broker writes there.
  files.truncate(fd, 0);
  files.write(fd, Buffer.from('12345'), 0, 5, 0);
  t.is(writtenBelow(files, '/store', 'here'), -1);
  const mark = new WrittenMark(files, '/store');
  t.is(mark.open(), -1);
  mark.set(5);
  mark.withdraw();
  t.is(files.stat('/store/abort')?.sizeBytes, 5);
});

test('abort marker: the mark moves in place, and can be withdrawn', (t) => {
  const files = new MemoryFiles();
  files.makeFolder('/store');
  markRunning(files, '/store', 4_711, 'here', 17);
  const size = files.stat('/store/abort')?.sizeBytes;
  const mark = new WrittenMark(files, '/store');
  t.is(mark.open(), 17);
  mark.set(2 ** 33);
  t.is(writtenBelow(files, '/store', 'here'), 2 ** 33);
  mark.withdraw();
  t.is(writtenBelow(files, '/store', 'here'), -1);
  mark.set(5);
  t.is(writtenBelow(files, '/store', 'here'), -1);
  t.true(isMarkedRunning(files, '/store'));
  t.is(files.stat('/store/abort')?.sizeBytes, size);
  t.is(files.openCount, 0);
  markStopped(files, '/store');
  t.false(isMarkedRunning(files, '/store'));
});

const steps = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('append'), count: fc.nat(40) }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('dispatch'), count: fc.nat(60) }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('flush'), count: fc.integer({ min: 1, max: 4 }) }) },
  ),
  { minLength: 5, maxLength: 40 },
);

test('recovery: whenever it is killed, no unit below the oldest unwritten one is missing', (t) => {
  fc.assert(
    fc.property(steps, (sequence) => {
      const world = new World();
      for (const { kind, count } of sequence) {
        if (kind === 'append') world.fill(count);
        else if (kind === 'dispatch') world.dispatch(count, false);
        else world.queues.flushSome(count);
      }
      const next = world.log.records[world.dispatched]?.position ?? world.log.position;
      const written = Math.min(next, world.queues.unwrittenFrom());
      markRunning(world.files, '/store', 1, 'here', written);
      // The units that were in memory only are gone with the process: recovery opens the files anew.
      const found = world.recover(t, { place: 'here', verifySizeBytes: 500 });
      t.true(found.dispatchFrom >= written, `from ${found.dispatchFrom}, written ${written}`);
      t.is(found.positionMax, world.log.position);
    }),
    { numRuns: 200 },
  );
});

test('recovery: after a kill a queue that was made anew gets nothing of its former life again', (t) => {
  const world = new World().fill(60);
  const from = world.log.position;
  for (let i = 0; i < 5; i++) world.log.append('T1', 0, {});
  for (let i = 0; i < 3; i++) world.log.append('Anew', 0, { queueOffset: i });
  for (let i = 0; i < 2; i++) world.log.append('Anew', 0, { queueOffset: i });
  world.dispatch();
  // One queue lags behind, so that the log is followed from in front of the former life, whose third message seems to come next.
  world.queues.get(world.keys.get('T1/0') ?? -1)?.cutTo(2);
  world.queues.flushAll();
  markRunning(world.files, '/store', 1, 'here', from);
  const found = world.recover(t, { place: 'here', verifySizeBytes: 2_000 });
  t.true(found.dispatchFrom < (world.log.records.at(-5)?.position ?? 0));
});

test('recovery: a batch that a kill tore in the midst of its write is cut, also in the same place', (t) => {
  const world = new World().fill(120);
  world.dispatch(100);
  const torn = world.log.records[110] ?? { position: 0 };
  markRunning(world.files, '/store', 1, 'here', world.log.records[100]?.position ?? 0);
  tear(world, 110);
  const found = world.recover(t, { place: 'here', verifySizeBytes: 2_000 });
  t.is(found.positionMax, torn.position);
  t.true(found.warnings.some((warning) => /was cut behind its last good record/.test(warning)));
});

test('recovery: two kills in a row with torn tails and a lost queue file leave no unit that points nowhere (BR-54)', (t) => {
  for (const place of ['here', '']) {
    const world = new World().fill(150);
    world.dispatch(140);
    markRunning(world.files, '/store', 1, place, world.log.records[140]?.position ?? 0);
    tear(world, 145);
    const first = world.recover(t, { place, verifySizeBytes: 2_000 });
    t.is(first.positionMax, world.log.records[145]?.position ?? -1);
    const again = world.restart(first, 145);
    again.log.append('T0', 0, { storeTimeMs: 9_000 });
    again.log.append('T1', 1, { storeTimeMs: 9_001 });
    again.log.append('T0', 0, { storeTimeMs: 9_002 });
    again.dispatch();
    markRunning(again.files, '/store', 1, place, again.log.position);
    tear(again, again.log.records.length - 1);
    const folder = '/store/consumequeue/T1/1';
    again.files.remove(`${folder}/${again.files.list(folder).at(-1)}`);
    const second = again.recover(t, { place, verifySizeBytes: 2_000 });
    t.is(second.positionMax, again.log.records.at(-1)?.position ?? -1);
    markStopped(again.files, '/store');
    t.is(again.recover(t).dispatchFrom, second.positionMax);
  }
});

/** Half of a record is all that came of it, and nothing came after it. */
function tear(world: World, index: number): void {
  const { position, size } = world.log.records[index] ?? { position: 0, size: 0 };
  const at = position + (size >> 1);
  const fd = world.files.open(`/store/commitlog/${segmentName(at - (at % SEGMENT))}`, 'write');
  world.files.truncate(fd, at % SEGMENT);
  world.files.truncate(fd, SEGMENT);
  world.files.close(fd);
  for (const name of world.files.list('/store/commitlog')) if (Number(name) > at) world.files.remove(`/store/commitlog/${name}`);
}
