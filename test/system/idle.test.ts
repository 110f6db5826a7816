// What a broker costs that nobody uses: bounds that only something badly wrong would break, and the figures for the reader.
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import test from 'ava';
import { runBroker } from './program.ts';

const SETTLE_MS = 1_500;
const WATCH_MS = 3_000;
const TICKS_PER_SECOND = 100;

function cpuTicks(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return Number(fields[11]) + Number(fields[12]);
}

test('idle: an unused broker uses little of a core and little memory', async (t) => {
  if (process.platform !== 'linux') {
    t.log('needs /proc: skipped');
    t.pass();
    return;
  }
  const program = await runBroker(t);
  await pause(SETTLE_MS);
  const before = cpuTicks(program.pid);
  await pause(WATCH_MS);
  const share = (100 * (cpuTicks(program.pid) - before)) / TICKS_PER_SECOND / (WATCH_MS / 1_000);
  const mib = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${program.pid}/status`, 'utf8'))?.[1]) / 1024;
  t.log(`${share.toFixed(2)} % of a core over ${WATCH_MS / 1_000} s, ${Math.round(mib)} MiB resident`);
  t.true(share < 20, `share=${share} %`);
  t.true(mib < 300, `resident=${mib} MiB`);
});
