// Consume queues: a unit appended for every record, and a pull's look-up of 32 units, from memory and from the files.
import { readI32, readI64 } from '../src/base/bytes.ts';
import type { ConsumeQueue } from '../src/store/consume-queue.ts';
import { ConsumeQueues } from '../src/store/consume-queues.ts';
import { MemoryFiles } from '../src/store/files/memory-files.ts';
import { UNIT_SIZE } from '../src/store/queue-unit.ts';
import { type Cell, expect, timed, type Work } from './cell.ts';

const QUEUE_FILE_SIZE = 6_000_000;
const RECORD_SIZE = 1_200;
const PULLED = 32;

function openQueues(count: number): ConsumeQueue[] {
  const files = new MemoryFiles();
  files.makeFolder('/store/consumequeue');
  const queues = new ConsumeQueues(files, '/store/consumequeue', QUEUE_FILE_SIZE);
  return Array.from({ length: count }, (_, key) => queues.open(key, `topic-${key >> 3}`, key & 7));
}

function appending(queueCount: number): Work {
  const queues = openQueues(queueCount);
  let done = 0;
  const unit = new Uint8Array(UNIT_SIZE);
  return {
    pass: (count) => {
      for (let i = 0; i < count; i++, done++) {
        const queue = queues[done % queueCount] as ConsumeQueue;
        queue.append(queue.offsetMax, done * RECORD_SIZE, RECORD_SIZE, done);
      }
    },
    check: (count) => {
      let total = 0;
      for (const queue of queues) total += queue.offsetMax;
      expect('units', total, count);
      const last = queues[(count - 1) % queueCount] as ConsumeQueue;
      expect('units read', last.readUnits(last.offsetMax - 1, 1, unit, 0), 1);
      expect('position in the last unit', readI64(unit, 0), (count - 1) * RECORD_SIZE);
      expect('size in the last unit', readI32(unit, 8), RECORD_SIZE);
      expect('tags code in the last unit', readI32(unit, 16), count - 1);
    },
  };
}

/** @param behindEnd how far before the queue's end the units lie. */
function lookingUp(behindEnd: number): Work {
  const queue = openQueues(1)[0] as ConsumeQueue;
  const size = 100_000;
  for (let i = 0; i < size; i++) queue.append(i, i * RECORD_SIZE, RECORD_SIZE, i);
  const units = new Uint8Array(PULLED * UNIT_SIZE);
  const from = size - behindEnd;
  let found = 0;
  return {
    pass: (count) => {
      for (let i = 0; i < count; i++) found += queue.readUnits(from, PULLED, units, 0);
    },
    check: (count) => {
      expect('units found', found, count * PULLED);
      for (let i = 0; i < PULLED; i++) expect('position in a unit', readI64(units, i * UNIT_SIZE), (from + i) * RECORD_SIZE);
    },
  };
}

export function queueCells(): Cell[] {
  return [
    timed('consume queue', 'append, 8 queues', 1_000_000, () => appending(8)),
    timed('consume queue', 'append, 1,000 queues', 1_000_000, () => appending(1_000)),
    timed('consume queue', 'look-up of 32 newest', 500_000, () => lookingUp(PULLED)),
    timed('consume queue', 'look-up of 32 in files', 200_000, () => lookingUp(50_000)),
  ];
}
