// What a broker costs that nobody uses: bounds that only something badly wrong would break, and the figures for the reader.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import test from 'ava';
import { runBroker } from './program.ts';

const SETTLE_MS = 1_500;
const WATCH_MS = 3_000;

/** By the scheduler's own clock, of all threads. */
function cpuMs(pid: number): number {
  const folder = `/proc/${pid}/task`;
  const ns = readdirSync(folder).map((thread) => Number(readFileSync(`${folder}/${thread}/schedstat`, 'utf8').split(' ')[0]));
  return ns.reduce((sum, each) => sum + each, 0) / 1e6;
}

test('idle: an unused broker uses little of a core and little memory', async (t) => {
  if (process.platform !== 'linux') {
    t.log('needs /proc: skipped');
    t.pass();
    return;
  }
  const program = await runBroker(t);
  await pause(SETTLE_MS);
  const before = cpuMs(program.pid);
  await pause(WATCH_MS);
  const share = (100 * (cpuMs(program.pid) - before)) / WATCH_MS;
  const mib = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${program.pid}/status`, 'utf8'))?.[1]) / 1024;
  t.log(`${share.toFixed(2)} % of a core over ${WATCH_MS / 1_000} s, ${Math.round(mib)} MiB resident`);
  t.true(share < 20, `share=${share} %`);
  t.true(mib < 300, `resident=${mib} MiB`);
});
