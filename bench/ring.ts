// The ring between two threads against ringbuf.js and postMessage: records per second, and the time to wake an idle thread.
//
// In the ring and in ringbuf.js the sender writes every word of a record; the ring's receiver looks at the first and the last in place,
// that of ringbuf.js has to pop a copy. ringbuf.js gets a length prefix and our doorbell, since it has neither.
import { MessageChannel, Worker } from 'node:worker_threads';
import { allocateRegion } from '../src/base/arena.ts';
import { doorbellMemorySize } from '../src/runtime/doorbell.ts';
import { ringMemorySize } from '../src/runtime/ring.ts';
import { type Cell, expect } from './cell.ts';
import type { BenchTask, Way } from './ring-worker.ts';

const ringCapacity = 1 << 20;
const COUNT_MIN = 4_096;
const PING_COUNT_MIN = 20;

interface Shape {
  readonly way: Way;
  readonly sizeBytes: number;
  /** Records per publish, notify or message; 0 for a cell that measures wake-ups. */
  readonly batchCount: number;
  readonly count: number;
}

function run(role: BenchTask['role'], task: Omit<BenchTask, 'role'>): Promise<Record<string, number>> {
  const worker = new Worker(new URL('./ring-worker.js', import.meta.url), { workerData: { ...task, role }, transferList: [task.port] });
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}

async function measure(shape: Shape): Promise<Record<string, number>> {
  const { port1, port2 } = new MessageChannel();
  const shared = {
    ...shape,
    // ringbuf.js: its capacity in elements and one more, behind two positions.
    elements: new SharedArrayBuffer(8 + ringCapacity + 4),
    memory: allocateRegion(ringMemorySize(ringCapacity)),
    bells: new SharedArrayBuffer(doorbellMemorySize(1)),
    flags: new SharedArrayBuffer(12),
  };
  const wakes = shape.batchCount === 0;
  const far = run(wakes ? 'echo' : 'receive', { ...shared, port: port2 });
  const near = run(wakes ? 'ping' : 'send', { ...shared, port: port1 });
  const [{ received, ...farResult }, nearResult] = await Promise.all([far, near]);
  expect(`records received by ${shape.way}`, received ?? 0, shape.count);
  return { ...farResult, ...nearResult };
}

function throughput(way: Way, sizeBytes: number, batchCount: number, count: number): Cell {
  return {
    bench: 'ring',
    case: `${way}, ${sizeBytes} B, ${batchCount === 1 ? 'each published' : `published every ${batchCount}`}`,
    unit: 'per s',
    open: (scale) => {
      const scaled = Math.max(COUNT_MIN, Math.round((count * scale) / batchCount) * batchCount);
      return { measure: async () => (await measure({ way, sizeBytes, batchCount, count: scaled }))['perSecond'] ?? 0 };
    },
  };
}

function wakeUp(way: Way, name: string): Cell {
  return {
    bench: 'wake-up',
    case: name,
    unit: 'us',
    open: (scale) => {
      const count = Math.max(PING_COUNT_MIN, Math.round(1_000 * scale));
      return {
        measure: async () => {
          const { p50Us = 0, p99Us = 0 } = await measure({ way, sizeBytes: 8, batchCount: 0, count });
          return { p50: p50Us, p99: p99Us };
        },
      };
    },
  };
}

export function ringCells(): Cell[] {
  const cells: Cell[] = [];
  for (const sizeBytes of [64, 1024]) {
    for (const batchCount of [1, 32]) {
      const many = sizeBytes === 64 ? 2_000_000 : 800_000;
      cells.push(throughput('ring', sizeBytes, batchCount, many));
      cells.push(throughput('ring-reactive', sizeBytes, batchCount, many));
      cells.push(throughput('ringbuf.js', sizeBytes, batchCount, many / 2));
      cells.push(throughput('postMessage', sizeBytes, batchCount, batchCount === 1 ? 60_000 : 240_000));
    }
  }
  cells.push(wakeUp('ring', 'there and back, blocking thread'));
  cells.push(wakeUp('ring-reactive', 'there and back, thread with an event loop'));
  cells.push(wakeUp('postMessage', 'there and back, postMessage'));
  return cells;
}
