// The ring between two threads: ten million records with canaries, through rings of many sizes.

import test, { type ExecutionContext } from 'ava';
import { Arena, allocateRegion } from '../../src/base/arena.ts';
import { doorbellMemorySize } from '../../src/runtime/doorbell.ts';
import { ringMemorySize } from '../../src/runtime/ring.ts';
import type { RingTask } from './ring-worker.ts';
import { runWorker } from './threads.ts';

interface Verdict {
  readonly failure: string;
  readonly refusals: number;
  readonly count: number;
}

async function twoThreads(t: ExecutionContext, capacity: number, startPosition: number, count: number, batchCount: number): Promise<void> {
  const memory = allocateRegion(ringMemorySize(capacity));
  const words = new Int32Array(Arena.of(memory.memory).buffer, memory.at);
  words[0] = startPosition;
  words[32] = startPosition;
  const bells = new SharedArrayBuffer(doorbellMemorySize(1));
  const task = { memory, bells, seed: capacity + batchCount, count, batchCount };
  const verifier = runWorker<Verdict>(t, './ring-worker.js', import.meta.url, { ...task, role: 'verify' } satisfies RingTask);
  const writer = runWorker<{ fullCount: number }>(t, './ring-worker.js', import.meta.url, { ...task, role: 'write' } satisfies RingTask);
  const verdict = await verifier;
  t.is(verdict.failure, '');
  t.is(verdict.count, count);
  t.true(verdict.refusals > 0);
  t.log(`${count} records, writer found it full ${(await writer).fullCount} times, reader refused ${verdict.refusals}`);
}

test.serial('ring: two threads, batches of 32 through 64 KiB, positions wrap', (t) => twoThreads(t, 1 << 16, -(1 << 20), 7_000_000, 32));
test.serial('ring: two threads, batches of 7 through 4 KiB', (t) => twoThreads(t, 1 << 12, 0x7fff_0000, 2_000_000, 7));
test.serial('ring: two threads, batches of 256 through 1 MiB', (t) => twoThreads(t, 1 << 20, 0, 1_000_000, 256));
test.serial('ring: two threads, every record published through 256 bytes', (t) => twoThreads(t, 256, 248, 150_000, 1));
