// Regression guard: measures the working tree against a commit in one interleaved run, and fails where it became slower.
//
//   npm run bench:guard -- --base COMMIT [--cells CELL,CELL…] [--repeats 5] [--seconds 10] [--warmup 5] [--backlog 400000] [--quick] [--out FILE]
//
// Both are built into a temporary folder, so that nothing that happens in the working tree meanwhile counts. Each measurement has a
// broker and a store of its own; every acknowledged message of a send or batch cell is read back. Nothing is left behind.
// Exit code 1: a cell's median throughput is more than 10 % below the base's, or its median p99 more than 15 % above, or a run was void.
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { commitOf, GuardedBroker } from './bench-broker.mjs';
import { buildCommit, buildWorkingTree } from './bench-builds.mjs';
import { generatorArgs } from './bench-cells.mjs';
import { judge, table } from './bench-verdict.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const generator = resolve(root, '../shared/perf/loadgen.mjs');
const RUN_LIMIT_MS = 600_000;
const headline = 'send-1k-1x64,send-json-1k-1x64,send-1k-64x1,batch-128x16-4x8,catchup-hot-1k,prodcons-1k-max';

const { values } = parseArgs({
  options: {
    base: { type: 'string' },
    cells: { type: 'string', default: headline },
    repeats: { type: 'string' },
    seconds: { type: 'string' },
    warmup: { type: 'string' },
    backlog: { type: 'string' },
    set: { type: 'string', multiple: true, default: [] },
    quick: { type: 'boolean', default: false },
    out: { type: 'string' },
  },
});
const repeats = Number(values.repeats ?? (values.quick ? 2 : 5));
const times = {
  seconds: values.seconds ?? (values.quick ? '2' : '10'),
  warmup: values.warmup ?? (values.quick ? '1' : '5'),
  backlog: values.backlog ?? (values.quick ? '50000' : '400000'),
};

function say(text) {
  process.stderr.write(`${text}\n`);
}

let generating = null;

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
      const last = text.trim().split('\n').pop();
      try {
        done({ ...JSON.parse(last), status });
      } catch {
        done({ status: status ?? 1, failure: `the generator gave no result status=${status}` });
      }
    });
  });
}

async function measure(folder, build, cell) {
  const broker = new GuardedBroker(build.dist, mkdtempSync(join(folder, 'store-')), values.set);
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

function lineOf(build, cell, repeat, result) {
  const latency = result.latencyUs?.p99;
  // A consumer that falls behind is no throughput.
  const perSecond = result.outPerSec === undefined ? result.msgsPerSec : Math.min(result.msgsPerSec, result.outPerSec);
  const isVoid = result.status !== 0 || result.failure !== undefined || result.verify?.ok === false || !(perSecond > 0);
  return {
    bench: 'guard',
    case: cell,
    system: build.name,
    repeat,
    perSecond,
    p99Us: latency,
    cpuPerMillion: result.brokerCpu?.perM,
    void: isVoid,
    failure: result.failure?.split('\n')[0],
    commit: build.commit,
    node: process.version,
  };
}

async function run(folder) {
  const cells = values.cells.split(',');
  for (const cell of cells) generatorArgs(cell, times);
  say(`building ${values.base} and the working tree`);
  const base = { name: 'base', ...(await buildCommit(root, values.base, join(folder, 'base'))) };
  const work = { name: 'work', commit: commitOf(root), ...(await buildWorkingTree(root, join(folder, 'work'))) };
  const lines = [];
  for (let repeat = 0; repeat < repeats; repeat++) {
    for (const cell of cells) {
      for (const build of repeat % 2 === 0 ? [base, work] : [work, base]) {
        const line = lineOf(build, cell, repeat, await measure(folder, build, cell));
        lines.push(line);
        if (values.out !== undefined) appendFileSync(values.out, `${JSON.stringify(line)}\n`);
        say(
          `${cell} #${repeat + 1} ${build.name}: ${line.perSecond ?? '-'} msg/s, p99 ${line.p99Us ?? '-'} us${line.void ? `, VOID ${line.failure ?? ''}` : ''}`,
        );
      }
    }
  }
  const verdicts = cells.map((cell) => judge(cell, lines));
  process.stdout.write(`${table(verdicts, base.commit, work.commit, repeats)}\n`);
  return verdicts.every((verdict) => verdict.ok);
}

async function main() {
  if (values.base === undefined) throw new Error('--base COMMIT is needed, such as --base HEAD or --base HEAD~5');
  if (!existsSync(generator)) throw new Error('the load generator is not there: ../shared/perf beside the project');
  if (values.out !== undefined) mkdirSync(dirname(resolve(values.out)), { recursive: true });
  const folder = mkdtempSync(join(tmpdir(), 'ringmq-guard-'));
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
    process.exitCode = (await run(folder)) ? 0 : 1;
  } finally {
    putAway();
  }
}

main().catch((error) => {
  say(`bench:guard: ${error.message}`);
  process.exitCode = 2;
});
