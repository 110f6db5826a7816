// Compares ways to share the threads among the actors (setting actorThreads) in one interleaved run on this machine.
//
//   npm run bench:placement -- [--cells CELL,CELL…] [--plans NAME,NAME…] [--repeats 5] [--seconds 10] [--warmup 5] [--quick] [--dist DIR] [--out FILE]
//
// A plan's name says how many threads the hot path (ingress, commit log, dispatch) has; two of them differ in who stays together.
import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { commitOf } from './bench-broker.mjs';
import { generatorArgs } from './bench-cells.mjs';
import { inTemporaryFolder, lineText, measure, root } from './bench-measure.mjs';
import { median } from './bench-verdict.mjs';

const rest = 'meta=coordinator,indexer,name-server;disk=flusher';
const plans = {
  all: ['actorThreads=inline'],
  1: [`actorThreads=io=ingress,commit-log,dispatch;${rest}`],
  '2-log': [`actorThreads=io=ingress,dispatch;log=commit-log;${rest}`],
  '2-front': ['actorThreads=io=ingress,commit-log;behind=dispatch,indexer;meta=coordinator,name-server;disk=flusher'],
  '2-behind': [`actorThreads=io=ingress;log=commit-log,dispatch;${rest}`],
  3: [`actorThreads=io=ingress;log=commit-log;queues=dispatch;${rest}`],
  4: [`actorThreads=io=ingress;log=commit-log;queues=dispatch;${rest}`, 'ingressCount=2'],
  auto: ['actorThreads=auto'],
};

const { values } = parseArgs({
  options: {
    cells: { type: 'string', default: 'send-1k-1x64,send-1k-64x1,send-1k-64x16,prodcons-1k-max,catchup-hot-1k' },
    plans: { type: 'string', default: '1,2-log,2-front,2-behind,3,4' },
    repeats: { type: 'string' },
    seconds: { type: 'string' },
    warmup: { type: 'string' },
    backlog: { type: 'string' },
    quick: { type: 'boolean', default: false },
    dist: { type: 'string', default: 'dist' },
    out: { type: 'string' },
  },
});
const repeats = Number(values.repeats ?? (values.quick ? 2 : 5));
const times = {
  seconds: values.seconds ?? (values.quick ? '2' : '10'),
  warmup: values.warmup ?? (values.quick ? '1' : '5'),
  backlog: values.backlog ?? (values.quick ? '50000' : '400000'),
};
const number = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

function cellText(lines) {
  const sound = lines.filter((line) => !line.void);
  if (sound.length < lines.length || sound.length === 0) return `void ${lines.length - sound.length} of ${lines.length}`;
  const of = (field) => sound.map((line) => line[field]).filter((value) => value !== undefined);
  const rates = of('perSecond');
  const p99 = of('p99Us').length === 0 ? '' : `, p99 ${number.format(median(of('p99Us')))} µs`;
  const span = `${number.format(Math.min(...rates))}–${number.format(Math.max(...rates))}`;
  return `${number.format(median(rates))} (${span}), ${median(of('cpuPerMillion')).toFixed(1)} µs CPU${p99}`;
}

async function run(folder) {
  const commit = commitOf(root);
  const cells = values.cells.split(',');
  const names = values.plans.split(',');
  for (const cell of cells) generatorArgs(cell, times);
  for (const name of names)
    if (plans[name] === undefined) throw new Error(`no such plan: ${name}; allowed: ${Object.keys(plans).join(', ')}`);
  const lines = [];
  for (let repeat = 0; repeat < repeats; repeat++) {
    for (const cell of cells) {
      for (const name of repeat % 2 === 0 ? names : [...names].reverse()) {
        const result = await measure(folder, resolve(root, values.dist), plans[name], cell, times);
        const line = { bench: 'placement', case: cell, system: name, repeat, ...result, commit, node: process.version };
        lines.push(line);
        if (values.out !== undefined) appendFileSync(values.out, `${JSON.stringify(line)}\n`);
        process.stderr.write(`${cell} #${repeat + 1} plan ${name}: ${lineText(line)}\n`);
      }
    }
  }
  const rows = names.map((name) => {
    const texts = cells.map((cell) => cellText(lines.filter((line) => line.case === cell && line.system === name)));
    return `| ${[name, ...texts].join(' | ')} |`;
  });
  process.stdout.write(`| plan | ${cells.join(' | ')} |\n|---|${cells.map(() => '---').join('|')}|\n${rows.join('\n')}\n`);
  process.stdout.write(`\n${commit}, Node ${process.version}; msg/s as median (min–max) of ${repeats} interleaved repeats.\n`);
  return lines.every((line) => !line.void);
}

async function main() {
  if (values.out !== undefined) mkdirSync(dirname(resolve(values.out)), { recursive: true });
  process.exitCode = (await inTemporaryFolder(run)) ? 0 : 1;
}

main().catch((error) => {
  process.stderr.write(`bench:placement: ${error.message}\n`);
  process.exitCode = 2;
});
