// One measurement: a broker of its own with a fresh store, one cell of the load generator, and what came of it as one line.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GuardedBroker } from './bench-broker.mjs';
import { generatorArgs } from './bench-cells.mjs';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const generator = resolve(root, '../shared/perf/loadgen.mjs');
const RUN_LIMIT_MS = 600_000;

let generating = null;

/** A folder for all that a run leaves behind, gone with it, however it ends. */
export async function inTemporaryFolder(run) {
  if (!existsSync(generator)) throw new Error('the load generator is not there: ../shared/perf beside the project');
  const folder = mkdtempSync(join(tmpdir(), 'ringmq-measure-'));
  const putAway = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.on(signal, () => {
      GuardedBroker.killAll();
      generating?.kill('SIGKILL');
      putAway();
      process.exit(130);
    });
  }
  try {
    return await run(folder);
  } finally {
    putAway();
  }
}

/** Runs the generator; resolves with its JSON line, or with what was wrong. */
function generate(args) {
  return new Promise((done) => {
    const child = spawn(process.execPath, [generator, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    generating = child;
    let text = '';
    child.stdout.on('data', (part) => {
      text += part;
    });
    const timer = setTimeout(() => child.kill('SIGKILL'), RUN_LIMIT_MS);
    child.on('close', (status) => {
      clearTimeout(timer);
      generating = null;
      try {
        done({ ...JSON.parse(text.trim().split('\n').pop()), status });
      } catch {
        done({ status: status ?? 1, failure: `the generator gave no result status=${status}` });
      }
    });
  });
}

async function run(folder, dist, sets, cell, times) {
  const broker = new GuardedBroker(dist, mkdtempSync(join(folder, 'store-')), sets);
  try {
    await broker.start();
    const where = ['--broker', broker.address, '--namesrv', broker.namesrv, '--pid', String(broker.pid)];
    return await generate([...generatorArgs(cell, times), ...where]);
  } catch (error) {
    return { status: 1, failure: error.message };
  } finally {
    await broker.stop();
    rmSync(broker.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** A void line has messages that were lost, changed or not answered, or no figure at all. */
export async function measure(folder, dist, sets, cell, times) {
  const result = await run(folder, dist, sets, cell, times);
  // A consumer that falls behind is no throughput.
  const perSecond = result.outPerSec === undefined ? result.msgsPerSec : Math.min(result.msgsPerSec, result.outPerSec);
  return {
    perSecond,
    p99Us: result.latencyUs?.p99,
    cpuPerMillion: result.brokerCpu?.perM,
    rssPeakMiB: result.rssMiB?.peak,
    void: result.status !== 0 || result.failure !== undefined || result.verify?.ok === false || !(perSecond > 0),
    failure: result.failure?.split('\n')[0],
  };
}

export function lineText(line) {
  const end = line.void ? `, VOID ${line.failure ?? ''}` : '';
  return `${line.perSecond ?? '-'} msg/s, p99 ${line.p99Us ?? '-'} us, broker ${line.cpuPerMillion ?? '-'} s/M${end}`;
}
