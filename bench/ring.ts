// Measures the ring between two threads against ringbuf.js and postMessage: records per second, and the time to wake an idle thread.
//
//   node bench/ring.js [--short]        one JSON line per repeat, then one per cell with its median
//
// In the ring and in ringbuf.js the sender writes every word of a record; the ring's receiver looks at the first and the last in place,
// that of ringbuf.js has to pop a copy. ringbuf.js gets a length prefix and our doorbell, since it has neither. Ways are interleaved.
import { MessageChannel, Worker } from 'node:worker_threads';
import { doorbellMemorySize } from '../src/runtime/doorbell.ts';
import { ringMemorySize } from '../src/runtime/ring.ts';
import type { BenchTask, Way } from './ring-worker.ts';

const ringCapacity = 1 << 20;
const isShort = process.argv.includes('--short');
const repeats = isShort ? 1 : 5;
const scale = isShort ? 0.2 : 1;

interface Cell {
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

async function measure(cell: Cell): Promise<Record<string, number>> {
  const { port1, port2 } = new MessageChannel();
  const shared = {
    ...cell,
    // ringbuf.js: its capacity in elements and one more, behind two positions.
    memory: new SharedArrayBuffer(cell.way === 'ringbuf.js' ? 8 + ringCapacity + 4 : ringMemorySize(ringCapacity)),
    bells: new SharedArrayBuffer(doorbellMemorySize(1)),
    flags: new SharedArrayBuffer(12),
  };
  const wakes = cell.batchCount === 0;
  const far = run(wakes ? 'echo' : 'receive', { ...shared, port: port2 });
  const near = run(wakes ? 'ping' : 'send', { ...shared, port: port1 });
  const [farResult, nearResult] = await Promise.all([far, near]);
  return { ...farResult, ...nearResult };
}

function print(row: unknown): void {
  process.stdout.write(`${JSON.stringify(row)}\n`);
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[values.length >> 1] as number;
}

const cells: Cell[] = [];
for (const sizeBytes of [64, 1024]) {
  for (const batchCount of [1, 32]) {
    const many = (sizeBytes === 64 ? 6_000_000 : 1_500_000) * scale;
    const few = 100_000 * scale * (batchCount === 1 ? 1 : 4);
    cells.push({ way: 'ring', sizeBytes, batchCount, count: many });
    cells.push({ way: 'ring-reactive', sizeBytes, batchCount, count: many });
    cells.push({ way: 'ringbuf.js', sizeBytes, batchCount, count: many / 2 });
    cells.push({ way: 'postMessage', sizeBytes, batchCount, count: few });
  }
}
for (const way of ['ring', 'ring-reactive', 'postMessage'] as const) cells.push({ way, sizeBytes: 8, batchCount: 0, count: 2000 * scale });

const results = new Map<Cell, Record<string, number>[]>(cells.map((cell) => [cell, []]));
for (let repeat = 0; repeat < repeats; repeat++) {
  for (const cell of repeat % 2 === 0 ? cells : [...cells].reverse()) {
    const result = await measure(cell);
    results.get(cell)?.push(result);
    print({ bench: 'ring', repeat, ...cell, ...result });
  }
}
for (const [cell, rows] of results) {
  const medians: Record<string, number> = {};
  for (const name of Object.keys(rows[0] ?? {})) medians[name] = Math.round(median(rows.map((row) => row[name] as number)));
  print({ bench: 'ring', median: repeats, ...cell, ...medians, node: process.version });
}
