// Compares RingMQ with its peers in one interleaved run: a thin front to ../shared/perf/compare.sh that knows how our broker is started.
//
//   npm run bench:compare -- [CELL…] [--systems ringmq,apache-lean] [--repeats 5] [--quick] [--out FILE] [--set NAME=VALUE]… [--dist DIR] [-- FLAG…]
//
// JSON lines go to bench/results (or --out), the Markdown tables to stdout. What follows `--` is handed to compare.sh as it is.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { brokerCommand, commitOf } from './bench-broker.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const compare = resolve(root, '../shared/perf/compare.sh');
const defaultCells = [
  'send-1k-1x64',
  'send-json-1k-1x64',
  'send-1k-64x1',
  'send-1k-64x16',
  'batch-128x16-4x8',
  'prodcons-1k-max',
  'catchup-hot-1k',
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    systems: { type: 'string', default: 'ringmq,apache-lean' },
    repeats: { type: 'string', default: '5' },
    quick: { type: 'boolean', default: false },
    out: { type: 'string' },
    set: { type: 'string', multiple: true, default: [] },
    dist: { type: 'string', default: 'dist' },
  },
});

function fail(text) {
  process.stderr.write(`bench:compare: ${text}\n`);
  process.exit(2);
}

if (!existsSync(compare)) fail('the measuring tools are not there: ../shared/perf beside the project');
if (!existsSync(resolve(root, values.dist, 'main.js'))) fail(`${values.dist}/main.js is not there: npm run build`);
const split = positionals.findIndex((each) => each.startsWith('-'));
const cells = split < 0 ? positionals : positionals.slice(0, split);
const further = split < 0 ? [] : positionals.slice(split);

const stamp = new Date().toISOString().replace(/[:.]/g, '-');
const out = resolve(values.out ?? join(root, 'bench/results', `compare-${stamp}.jsonl`));
mkdirSync(dirname(out), { recursive: true });
const args = [
  ['--systems', values.systems],
  ['--cells', (cells.length === 0 ? defaultCells : cells).join(',')],
  ['--repeats', values.repeats],
  ['--out', out],
  ['--commit', commitOf(root)],
  ['--ringmq-start', brokerCommand(values.dist, values.set)],
  values.quick ? ['--quick'] : [],
  further,
].flat();

process.stderr.write(`lines: ${out}\nringmq: ${brokerCommand(values.dist, values.set)}\n`);
// A process group of its own, so that a Ctrl-C reaches it once, by us, and it can put away what it started.
const child = spawn(compare, args, { cwd: root, stdio: 'inherit', detached: true, env: { ...process.env, RINGMQ_NODE: process.execPath } });
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('close', (status) => {
  if (existsSync(out)) {
    const kernel = execFileSync('uname', ['-sr'], { encoding: 'utf8' }).trim();
    process.stderr.write(`Node ${process.version}, ${kernel}; the table again: ${compare} --table --out ${out}\n`);
  }
  process.exitCode = status ?? 1;
});
