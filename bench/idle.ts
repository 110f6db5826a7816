// What an unused broker costs: starts the built program and prints its share of a core and its resident memory. Linux only.
//
//   node build/bench/idle.js [seconds]
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const SETTLE_MS = 5_000;
const seconds = Number(process.argv[2] ?? 20);

interface Usage {
  readonly ms: number;
  readonly wakes: number;
}

/** By the scheduler's own clock: the ticks of `stat` are too coarse for threads that run for microseconds. */
function usageOf(folder: string): Usage {
  const onCpuNs = Number(readFileSync(join(folder, 'schedstat'), 'utf8').split(' ')[0]);
  const wakes = /^voluntary_ctxt_switches:\s+(\d+)/m.exec(readFileSync(join(folder, 'status'), 'utf8'))?.[1];
  return { ms: onCpuNs / 1e6, wakes: Number(wakes) };
}

function threadsOf(pid: number): Map<string, Usage> {
  const folder = `/proc/${pid}/task`;
  return new Map(readdirSync(folder).map((thread) => [thread, usageOf(join(folder, thread))]));
}

function shareText(ms: number): string {
  return `${((100 * ms) / (seconds * 1_000)).toFixed(2)} %`;
}

const store = mkdtempSync(join(tmpdir(), 'ringmq-idle-'));
const sets = ['listenPort=0', 'namesrvListenPort=0', `storePathRootDir=${store}`].flatMap((set) => ['--set', set]);
const child = spawn(process.execPath, [fileURLToPath(new URL('../src/main.js', import.meta.url)), ...sets], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const beganMs = performance.now();
await new Promise<void>((resolve) => {
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part;
    if (/^ready /m.test(text)) resolve();
  });
});
console.log(`ready after ${Math.round(performance.now() - beganMs)} ms`);
const pid = child.pid ?? 0;
await pause(SETTLE_MS);
const before = threadsOf(pid);
await pause(seconds * 1_000);
let totalMs = 0;
for (const [thread, usage] of threadsOf(pid)) {
  const earlier = before.get(thread) ?? { ms: 0, wakes: 0 };
  totalMs += usage.ms - earlier.ms;
  const wakes = (usage.wakes - earlier.wakes) / seconds;
  if (wakes >= 0.1) console.log(`  thread ${thread}: ${shareText(usage.ms - earlier.ms)}, ${wakes.toFixed(1)} wake-ups/s`);
}
console.log(`${shareText(totalMs)} of a core over ${seconds} s`);
for (const line of readFileSync(`/proc/${pid}/status`, 'utf8').split('\n'))
  if (/^(VmRSS|RssAnon|RssFile|Threads)/.test(line)) console.log(line);
child.kill();
await new Promise((resolve) => child.once('close', resolve));
rmSync(store, { recursive: true, force: true });
