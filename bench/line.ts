// One result as a line of JSON, and the lines of a run as a Markdown table.
import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';

export interface BenchLine {
  readonly bench: string;
  readonly case: string;
  readonly unit: string;
  /** Median of the repeats. */
  readonly value: number;
  readonly min: number;
  readonly max: number;
  readonly repeats: number;
  readonly commit: string;
  readonly node: string;
  readonly cpu: string;
}

export type Place = Pick<BenchLine, 'commit' | 'node' | 'cpu'>;

export function placeOf(folder: string): Place {
  const cores = cpus();
  return { commit: commitOf(folder), node: process.version, cpu: `${cores.length} x ${cores[0]?.model.trim() ?? 'unknown'}` };
}

/** With a plus where the working tree differs; - where there is no git. */
function commitOf(folder: string): string {
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'safe.directory=*', ...args], { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  try {
    const clean = git('status', '--porcelain', '--untracked-files=no', '--', 'src', 'bench') === '';
    return `${git('rev-parse', '--short', 'HEAD')}${clean ? '' : '+'}`;
  } catch {
    return '-';
  }
}

export function lineOf(bench: string, name: string, unit: string, values: readonly number[], place: Place): BenchLine {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const median = sorted.length % 2 === 1 ? (sorted[middle] as number) : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
  const [value, min, max] = [median, sorted[0] as number, sorted.at(-1) as number].map((number) => Number(number.toPrecision(4)));
  return { bench, case: name, unit, value: value as number, min: min as number, max: max as number, repeats: sorted.length, ...place };
}

/** Lines of other tools and what is no JSON are passed over. */
export function parseLines(text: string): BenchLine[] {
  return text.split('\n').flatMap((line) => {
    if (!line.startsWith('{')) return [];
    try {
      const parsed = JSON.parse(line) as Partial<BenchLine>;
      return typeof parsed.bench === 'string' && typeof parsed.value === 'number' ? [parsed as BenchLine] : [];
    } catch {
      return [];
    }
  });
}

/** A row per case, a column per commit, in the order in which they came. The last line of a case and commit counts. */
export function tableOf(lines: readonly BenchLine[]): string {
  const columns = [...new Set(lines.map((line) => `${line.commit}, Node ${line.node}`))];
  const rows = new Map<string, Map<string, BenchLine>>();
  for (const line of lines) {
    const key = `${line.bench} | ${line.case} | ${line.unit}`;
    rows.set(key, (rows.get(key) ?? new Map<string, BenchLine>()).set(`${line.commit}, Node ${line.node}`, line));
  }
  const cells = [...rows].map(([key, byColumn]) => `| ${key} | ${columns.map((column) => cellOf(byColumn.get(column))).join(' | ')} |`);
  const head = `| part | case | unit | ${columns.join(' | ')} |`;
  const machines = [...new Set(lines.map((line) => line.cpu))].join('; ');
  const repeats = [...new Set(lines.map((line) => line.repeats))].join(', ');
  return [
    head,
    `|---|---|---|${columns.map(() => '--:').join('|')}|`,
    ...cells,
    '',
    `${machines}; median (min–max) of ${repeats} repeats.`,
  ].join('\n');
}

function cellOf(line: BenchLine | undefined): string {
  return line === undefined ? '–' : `${text(line.value)} (${text(line.min)}–${text(line.max)})`;
}

function text(value: number): string {
  return value.toLocaleString('en-US', { maximumSignificantDigits: 3 });
}
