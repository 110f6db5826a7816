// What a stop leaves: a clean one keeps the rules of the format, and after any crash log and queues agree.

import test from 'ava';
import fc from 'fast-check';
import { markRunning, markStopped } from '../../src/store/abort-marker.ts';
import { isUnit, readUnitPosition, UNIT_SIZE } from '../../src/store/queue-unit.ts';
import { CQ_SIZE, SEGMENT, World } from './world.ts';

/** The rules for handing a store over to Apache's broker. */
test('recovery: what a clean stop leaves keeps the rules of the format', (t) => {
  const world = new World().fill(237);
  world.dispatch();
  world.log.files.close(world.log.position);
  const unit = new Uint8Array(CQ_SIZE);
  const logFiles = world.files.list('/store/commitlog');
  t.is(logFiles.length, Math.ceil(world.log.position / SEGMENT));
  for (const topic of world.files.list('/store/consumequeue')) {
    for (const queueId of world.files.list(`/store/consumequeue/${topic}`)) {
      const names = world.files.list(`/store/consumequeue/${topic}/${queueId}`);
      const expected = world.log.records.filter((record) => record.topic === topic && record.queueId === Number(queueId));
      let index = 0;
      for (const name of names) {
        const fd = world.files.open(`/store/consumequeue/${topic}/${queueId}/${name}`, 'read');
        t.is(world.files.read(fd, unit, 0, CQ_SIZE, 0), CQ_SIZE);
        t.is(world.files.stat(`/store/consumequeue/${topic}/${queueId}/${name}`)?.sizeBytes, CQ_SIZE);
        t.true(isUnit(unit, 0), 'no file without a unit');
        for (let at = 0; at < CQ_SIZE; at += UNIT_SIZE) {
          if (index < expected.length) t.is(readUnitPosition(unit, at), expected[index++]?.position ?? -1);
          else t.true(unit.subarray(at, at + UNIT_SIZE).every((byte) => byte === 0));
        }
        world.files.close(fd);
      }
      t.is(index, expected.length);
    }
  }
  for (const record of world.log.records) t.true((record.position % SEGMENT) + record.size + 8 <= SEGMENT);
});

test('recovery: whatever a crash leaves, log and queues agree after it', (t) => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 120 }),
      fc.nat(120),
      fc.nat(119),
      fc.constantFrom('none', 'zero', 'flip', 'short'),
      fc.nat(3),
      fc.boolean(),
      (count, dispatched, hit, damage, lostFiles, flushed) => {
        const world = new World().fill(count);
        world.dispatch(dispatched, flushed);
        markRunning(world.files, '/store', 1);
        const record = world.log.records[hit % count];
        if (record === undefined) return;
        const fd = world.log.files.segments.fdFor(record.position);
        const at = record.position % SEGMENT;
        if (damage === 'zero') world.files.write(fd, new Uint8Array(record.size), 0, record.size, at);
        if (damage === 'flip') world.files.write(fd, Uint8Array.from([255]), 0, 1, at + record.size - 1 - (record.size > 100 ? 10 : 0));
        if (damage === 'short') world.files.write(fd, new Uint8Array(record.size - 20), 0, record.size - 20, at + 20);
        for (let i = 0; i < lostFiles; i++) {
          const folder = `/store/consumequeue/T${i}/${i % 2}`;
          const name = world.files.list(folder).at(-1);
          if (name !== undefined) world.files.remove(`${folder}/${name}`);
        }
        const found = world.recover(t);
        if (damage === 'none') t.is(found.positionMax, world.log.position);
        if (damage === 'zero') t.is(found.positionMax, record.position);
        // The next start, clean or not, changes nothing any more.
        t.is(world.recover(t).positionMax, found.positionMax);
        markStopped(world.files, '/store');
        t.is(world.recover(t).dispatchFrom, found.positionMax);
      },
    ),
    { numRuns: 150 },
  );
});
