// Regression guard: measures the working tree against a commit in one interleaved run, and fails where it became slower.
//
//   npm run bench:guard -- --base COMMIT [--cells CELL,CELL…] [--repeats 5] [--seconds 10] [--warmup 5] [--backlog 400000] [--quick] [--out FILE]
//
// Both are built into a temporary folder, so that nothing that happens in the working tree meanwhile counts. Each measurement has a
// broker and a store of its own; every acknowledged message of a send or batch cell is read back. Nothing is left behind.
// Exit code 1: a cell's median throughput is more than 10 % below the base's, or its median p99 more than 15 % above, or a run was void.
import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { commitOf } from './bench-broker.mjs';
import { buildCommit, buildWorkingTree } from './bench-builds.mjs';
import { generatorArgs } from './bench-cells.mjs';
import { inTemporaryFolder, lineText, measure, root } from './bench-measure.mjs';
import { judge, table } from './bench-verdict.mjs';

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
        const result = await measure(folder, build.dist, values.set, cell, times);
        const line = { bench: 'guard', case: cell, system: build.name, repeat, ...result, commit: build.commit, node: process.version };
        lines.push(line);
        if (values.out !== undefined) appendFileSync(values.out, `${JSON.stringify(line)}\n`);
        say(`${cell} #${repeat + 1} ${build.name}: ${lineText(line)}`);
      }
    }
  }
  const verdicts = cells.map((cell) => judge(cell, lines));
  process.stdout.write(`${table(verdicts, `${base.commit} (base)`, `${work.commit} (work)`, repeats)}\n`);
  return verdicts.every((verdict) => verdict.ok);
}

async function main() {
  if (values.base === undefined) throw new Error('--base COMMIT is needed, such as --base HEAD or --base HEAD~5');
  if (values.out !== undefined) mkdirSync(dirname(resolve(values.out)), { recursive: true });
  process.exitCode = (await inTemporaryFolder(run)) ? 0 : 1;
}

main().catch((error) => {
  say(`bench:guard: ${error.message}`);
  process.exitCode = 2;
});
