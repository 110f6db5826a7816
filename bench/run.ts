// Runs the benchmarks of the parts: npm run bench -- [--only REGEX] [--repeats 5] [--out FILE] [--smoke]
//
// A JSON line per case, then their table. The cases of a family take turns, forwards and backwards, so that a change of the machine's
// speed meets all of them. --smoke runs everything with tiny counts and prints no figures: it only shows that all counts are right.
import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { answerCells } from './answers.ts';
import { appendCells } from './append.ts';
import type { Cell, Running } from './cell.ts';
import { frameCells } from './frame.ts';
import { headerCells } from './header.ts';
import { indexCells } from './key-index.ts';
import { type BenchLine, lineOf, placeOf, tableOf } from './line.ts';
import { pullCells } from './pull.ts';
import { queueCells } from './queue.ts';
import { recordCells } from './record.ts';
import { ringCells } from './ring.ts';

const SMOKE_SCALE = 0.002;

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    repeats: { type: 'string' },
    out: { type: 'string' },
    smoke: { type: 'boolean', default: false },
  },
});
const families = [frameCells, headerCells, recordCells, appendCells, queueCells, indexCells, pullCells, answerCells, ringCells];
const only = new RegExp(values.only);
const repeats = Number(values.repeats ?? (values.smoke ? 1 : 5));
const place = placeOf(dirname(fileURLToPath(import.meta.url)));

async function measureFamily(cells: readonly Cell[]): Promise<Map<Cell, Map<string, number[]>>> {
  const results = new Map<Cell, Map<string, number[]>>(cells.map((cell) => [cell, new Map()]));
  const open: [Cell, Running][] = cells.map((cell) => [cell, cell.open(values.smoke ? SMOKE_SCALE : 1)]);
  try {
    for (let repeat = 0; repeat < repeats; repeat++) {
      for (const [cell, running] of repeat % 2 === 0 ? open : [...open].reverse()) {
        const measured = await running.measure();
        for (const [name, value] of Object.entries(typeof measured === 'number' ? { '': measured } : measured)) {
          const byName = results.get(cell) ?? new Map<string, number[]>();
          byName.set(name, [...(byName.get(name) ?? []), value]);
        }
      }
    }
  } finally {
    for (const [, running] of open) running.close?.();
  }
  return results;
}

const lines: BenchLine[] = [];
let cellCount = 0;
if (values.out !== undefined) mkdirSync(dirname(resolve(values.out)), { recursive: true });
for (const family of families) {
  const cells = family().filter((cell) => only.test(`${cell.bench} ${cell.case}`));
  cellCount += cells.length;
  for (const [cell, byName] of await measureFamily(cells)) {
    if (values.smoke) continue;
    for (const [name, measured] of byName) {
      const line = lineOf(cell.bench, `${cell.case}${name === '' ? '' : ` ${name}`}`, cell.unit, measured, place);
      lines.push(line);
      process.stdout.write(`${JSON.stringify(line)}\n`);
      if (values.out !== undefined) appendFileSync(values.out, `${JSON.stringify(line)}\n`);
    }
  }
}
if (values.smoke) process.stdout.write(`smoke: ${cellCount} cases ran, all counts are right\n`);
else process.stdout.write(`\n${tableOf(lines)}\n`);
