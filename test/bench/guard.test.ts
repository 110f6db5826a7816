// What the regression guard makes of measured lines, and what a cell is for the load generator.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import test from 'ava';
import { projectRoot } from '../tidy/source.ts';

interface Line {
  readonly case: string;
  readonly system: 'base' | 'work';
  readonly void: boolean;
  readonly perSecond?: number;
  readonly p99Us?: number;
}

interface Verdict {
  readonly ok: boolean;
  readonly reasons: readonly string[];
}

/** Scripts have no types, and are not part of the build. */
function script<T>(name: string): Promise<T> {
  return import(pathToFileURL(join(projectRoot(), 'scripts', name)).href) as Promise<T>;
}

function lines(rates: readonly number[], p99Us: readonly number[], system: Line['system']): Line[] {
  return rates.map((perSecond, i) => ({
    case: 'c',
    system,
    void: false,
    perSecond,
    ...(p99Us.length > 0 ? { p99Us: p99Us[i] ?? 0 } : {}),
  }));
}

test('guard: a cell is slower below 0.9 of the throughput or above 1.15 of the p99, by medians', async (t) => {
  const { judge, table } = await script<{
    judge: (cell: string, lines: readonly Line[]) => Verdict;
    table: (verdicts: readonly Verdict[], base: string, work: string, repeats: number) => string;
  }>('bench-verdict.mjs');
  const base = lines([100, 90, 1000], [10, 12, 500], 'base');
  const judged = (rates: readonly number[], p99Us: readonly number[], more: readonly Line[] = []): readonly string[] => {
    const verdict = judge('c', [...base, ...lines(rates, p99Us, 'work'), ...more]);
    t.is(verdict.ok, verdict.reasons.length === 0);
    return verdict.reasons;
  };
  t.deepEqual(judged([91, 1, 2000], [13, 1, 900]), []);
  t.deepEqual(judged([89, 1, 2000], [13, 1, 900]), ['throughput']);
  t.deepEqual(judged([91, 91, 91], [14, 14, 1]), ['p99']);
  t.deepEqual(judged([91, 91, 91], []), [], 'a cell without latencies');
  t.deepEqual(judged([91, 91], [13, 13], [{ case: 'c', system: 'work', void: true }]), ['1 void']);
  t.deepEqual(judge('none', base).reasons, ['throughput'], 'nothing measured is no success');
  const text = table([judge('c', [...base, ...lines([50, 50, 50], [9, 9, 9], 'work')])], 'b', 'w', 3);
  t.regex(text, /^\| c \| 100 \(90–1,000\) \| 50 \(50–50\) \| 0\.50× \| .* \| SLOWER: throughput \|$/m);
});

test('guard: cells have the names of the measuring plan', async (t) => {
  const { generatorArgs } = await script<{
    generatorArgs: (cell: string, times: { seconds: string; warmup: string; backlog: string }) => string[];
  }>('bench-cells.mjs');
  const times = { seconds: '3', warmup: '1', backlog: '5' };
  t.is(
    generatorArgs('send-json-1k-2x64', times).join(' '),
    'send --size 1024 --conns 2 --inflight 64 --header json --warmup 1 --seconds 3 --verify',
  );
  t.is(
    generatorArgs('batch-128x16-4x8', times).join(' '),
    'batch --size 128 --batch 16 --conns 4 --inflight 8 --warmup 1 --seconds 3 --verify',
  );
  t.is(generatorArgs('catchup-hot-1k', times).join(' '), 'catchup --backlog 5 --seconds 60');
  t.throws(() => generatorArgs('send-2k-1x1', times), { message: /^no such cell: send-2k-1x1; allowed: / });
});
