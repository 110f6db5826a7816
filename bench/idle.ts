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
const TICKS_PER_SECOND = 100;
const seconds = Number(process.argv[2] ?? 20);

interface Usage {
  readonly ticks: number;
  readonly switches: number;
}

function usageOf(statFolder: string): Usage {
  const fields = readFileSync(join(statFolder, 'stat'), 'utf8').split(') ')[1]?.split(' ') ?? [];
  const switches = /^voluntary_ctxt_switches:\s+(\d+)/m.exec(readFileSync(join(statFolder, 'status'), 'utf8'))?.[1];
  return { ticks: Number(fields[11]) + Number(fields[12]), switches: Number(switches) };
}

function threadsOf(pid: number): Map<string, Usage> {
  const folder = `/proc/${pid}/task`;
  return new Map(readdirSync(folder).map((thread) => [thread, usageOf(join(folder, thread))]));
}

function shareText(ticks: number): string {
  return `${((100 * ticks) / TICKS_PER_SECOND / seconds).toFixed(2)} %`;
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
const before = usageOf(`/proc/${pid}`);
const threadsBefore = threadsOf(pid);
await pause(seconds * 1_000);
const after = usageOf(`/proc/${pid}`);
console.log(`${shareText(after.ticks - before.ticks)} of a core over ${seconds} s`);
for (const [thread, usage] of threadsOf(pid)) {
  const earlier = threadsBefore.get(thread) ?? { ticks: 0, switches: 0 };
  const wakes = (usage.switches - earlier.switches) / seconds;
  if (wakes >= 0.1) console.log(`  thread ${thread}: ${shareText(usage.ticks - earlier.ticks)}, ${wakes.toFixed(1)} wake-ups/s`);
}
for (const line of readFileSync(`/proc/${pid}/status`, 'utf8').split('\n'))
  if (/^(VmRSS|RssAnon|RssFile|Threads)/.test(line)) console.log(line);
child.kill();
await new Promise((resolve) => child.once('close', resolve));
rmSync(store, { recursive: true, force: true });
