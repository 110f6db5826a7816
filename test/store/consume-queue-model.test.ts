// Consume queues against a plain array, and look-up by time against a slow search.

import test from 'ava';
import fc from 'fast-check';
import { UNIT_SIZE } from '../../src/store/consume-queue.ts';
import { ConsumeQueues } from '../../src/store/consume-queues.ts';
import type { Files } from '../../src/store/files/files.ts';
import { MemoryFiles } from '../../src/store/files/memory-files.ts';
import { readUnitPosition, readUnitSize } from '../../src/store/queue-unit.ts';

const PER_FILE = 50;

function open(files: Files): { queues: ConsumeQueues; queue: ReturnType<ConsumeQueues['open']> } {
  const queues = new ConsumeQueues(files, '/cq', PER_FILE * UNIT_SIZE, 3);
  return { queues, queue: queues.open(0, 'T', 2) };
}

interface Model {
  min: number;
  units: Map<number, number>;
  max: number;
  position: number;
}

const operation = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('append' as const), count: fc.integer({ min: 1, max: 90 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('flush' as const), count: fc.constant(0) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('reopen' as const), count: fc.constant(0) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cut' as const), count: fc.nat(120) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('expire' as const), count: fc.nat(120) }) },
);

test('consume queue: behaves as a plain array', (t) => {
  fc.assert(
    fc.property(fc.nat(130), fc.array(operation, { maxLength: 25 }), fc.nat(), (first, operations, probe) => {
      const files = new MemoryFiles();
      let { queues, queue } = open(files);
      const model: Model = { min: first, units: new Map(), max: first, position: 50 };
      let begun = false;
      let logMin = 0;
      for (const { kind, count } of operations) {
        if (kind === 'append') {
          for (let i = 0; i < count; i++) {
            if (queue.append(model.max, model.position, 10, 7) !== 'appended') return false;
            model.units.set(model.max++, model.position);
            model.position += 10;
          }
          begun = true;
        } else if (kind === 'flush') {
          queues.flushAll();
        } else if (kind === 'reopen') {
          queues.flushAll();
          queues.close();
          ({ queues, queue } = open(files));
          queue.correctMin(logMin);
        } else if (kind === 'cut' && begun && model.max - count > model.min) {
          queue.truncateTo(model.units.get(model.max - count) ?? model.position);
          for (let i = 0; i < count; i++) model.units.delete(--model.max);
        } else if (kind === 'expire' && begun && model.min + count < model.max) {
          model.min += count;
          logMin = model.units.get(model.min) ?? 0;
          queue.correctMin(logMin);
        }
        if (!begun) continue;
        if (queue.offsetMin !== model.min || queue.offsetMax !== model.max) return false;
        const length = model.max - model.min;
        const from = model.min + (length === 0 ? 0 : probe % length);
        const bytes = new Uint8Array((length + 1) * UNIT_SIZE);
        const read = queue.readUnits(from, length + 1, bytes, 0);
        if (read !== model.max - from) return false;
        for (let i = 0; i < read; i++) {
          if (readUnitPosition(bytes, i * UNIT_SIZE) !== model.units.get(from + i) || readUnitSize(bytes, i * UNIT_SIZE) !== 10)
            return false;
        }
      }
      return true;
    }),
    { numRuns: 300 },
  );
  t.pass();
});

test('consume queue: by time, ties and gaps over a file border', (t) => {
  const { queue } = open(new MemoryFiles());
  const times = [10, 10, 10, 12, 12];
  t.is(
    queue.firstAtOrAfter(5, () => 0),
    0,
  );
  t.is(
    queue.lastAtOrBefore(5, () => 0),
    0,
  );
  for (let i = 0; i < times.length; i++) queue.append(PER_FILE - 2 + i, i, 1, 0);
  const first = (timeMs: number) => queue.firstAtOrAfter(timeMs, (position) => times[position] ?? -1) - queue.offsetMin;
  const last = (timeMs: number) => queue.lastAtOrBefore(timeMs, (position) => times[position] ?? -1) - queue.offsetMin;
  t.deepEqual([9, 10, 11, 12, 13].map(first), [0, 0, 3, 3, 5]);
  t.deepEqual([9, 10, 11, 12, 13].map(last), [0, 2, 2, 4, 4]);
});

test('consume queue: by time, equal to a slow search, within [min, max] while records vanish', (t) => {
  fc.assert(
    fc.property(fc.array(fc.nat(5), { maxLength: 200 }), fc.nat(600), fc.nat(200), (steps, askedMs, gone) => {
      const { queue } = open(new MemoryFiles());
      let nowMs = 0;
      const times = steps.map((step, i) => {
        nowMs += step;
        queue.append(i, i, 1, 0);
        return nowMs;
      });
      const timeOf = (position: number) => (position < gone ? -1 : (times[position] ?? -1));
      const slowFirst = times.findIndex((timeMs, i) => i >= gone && timeMs >= askedMs);
      const slowLast = times.findLastIndex((timeMs, i) => i < gone || timeMs <= askedMs);
      const first = queue.firstAtOrAfter(askedMs, timeOf);
      const last = queue.lastAtOrBefore(askedMs, timeOf);
      return first === (slowFirst < 0 ? times.length : slowFirst) && last === (times.length === 0 ? 0 : Math.max(0, slowLast));
    }),
  );
  t.pass();
});
