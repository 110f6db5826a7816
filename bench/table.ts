// Prints the Markdown table of benchmark lines from files: node build/bench/table.js FILE…
import { readFileSync } from 'node:fs';
import { parseLines, tableOf } from './line.ts';

const files = process.argv.slice(2);
if (files.length === 0) {
  process.stderr.write('usage: table.js FILE…\n');
  process.exitCode = 2;
} else {
  process.stdout.write(`${tableOf(files.flatMap((file) => parseLines(readFileSync(file, 'utf8'))))}\n`);
}
