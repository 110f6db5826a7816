// The benchmarks of the parts run, and all their counts are right; how fast they are is not looked at.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';
import { lineOf, parseLines, tableOf } from '../../bench/line.ts';

test('bench: every case runs with tiny counts, and what comes out is what went in', async (t) => {
  t.timeout(110_000);
  const program = fileURLToPath(new URL('../../bench/run.js', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [program, '--smoke']);
  const cases = Number(/^smoke: (\d+) cases ran, all counts are right$/m.exec(stdout)?.[1]);
  t.true(cases >= 35, stdout);
});

test('bench: lines become a table with a column for each commit', (t) => {
  const place = { node: 'v1', cpu: '2 x C' };
  const lines = [
    lineOf('append', 'a', 'ns', [30, 10, 20], { ...place, commit: 'one' }),
    lineOf('append', 'a', 'ns', [1, 3], { ...place, commit: 'two' }),
    lineOf('ring', 'b', 'per s', [1_200_000], { ...place, commit: 'two' }),
  ];
  const text = `noise\n${lines.map((line) => JSON.stringify(line)).join('\n')}\n{"bench":"guard","case":"x"}\n{broken\n`;
  t.deepEqual(parseLines(text), lines);
  t.deepEqual(tableOf(parseLines(text)).split('\n').slice(0, 4), [
    '| part | case | unit | one, Node v1 | two, Node v1 |',
    '|---|---|---|--:|--:|',
    '| append | a | ns | 20 (10–30) | 2 (1–3) |',
    '| ring | b | per s | – | 1,200,000 (1,200,000–1,200,000) |',
  ]);
});
