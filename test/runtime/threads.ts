// Runs worker threads for a test: their results come back as messages, and none outlives the test or hangs it.
import { type MessagePort, parentPort, Worker, workerData } from 'node:worker_threads';
import type { ExecutionContext } from 'ava';
import { present } from '../../src/base/assert.ts';

/** Far above what any of these tests takes: only a lost wake-up gets here. */
const watchdogMs = 60_000;

/** Starts a worker file beside the test and settles with the first message it posts. */
export function runWorker<T>(t: ExecutionContext, file: string, importer: string, data: unknown): Promise<T> {
  const worker = new Worker(new URL(file, importer), { workerData: data });
  const watchdog = new AbortController();
  t.teardown(async () => {
    watchdog.abort();
    await worker.terminate();
  });
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`stalled: ${JSON.stringify(data, (_, v) => (v instanceof SharedArrayBuffer ? 0 : v))}`)),
      watchdogMs,
    );
    watchdog.signal.addEventListener('abort', () => clearTimeout(timer));
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('the worker ended without a result')));
  });
}

/** For the worker: its data, and the way back. */
export function workerTask<T>(): T {
  return workerData as T;
}

export function report(result: unknown): void {
  (present(parentPort) as MessagePort).postMessage(result);
}

const never = new Int32Array(new SharedArrayBuffer(4));

/** Lets the other threads run for a moment: two cores are few. */
export function yieldCore(): void {
  Atomics.wait(never, 0, 0, 0.05);
}
