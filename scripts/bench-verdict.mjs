// Decides from the lines of a guarded run whether a cell became slower, and prints the decision as a table.

export const THROUGHPUT_RATIO_MIN = 0.9;
export const P99_RATIO_MAX = 1.15;

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Medians of both sides and what they mean; a void run decides the cell whatever the others say. */
export function judge(cell, lines) {
  const of = (system, field) =>
    lines
      .filter((line) => line.case === cell && line.system === system && !line.void && line[field] !== undefined)
      .map((line) => line[field]);
  const voids = lines.filter((line) => line.case === cell && line.void).length;
  const [base, work] = [of('base', 'perSecond'), of('work', 'perSecond')];
  const [baseP99, workP99] = [of('base', 'p99Us'), of('work', 'p99Us')];
  const cpu = [of('base', 'cpuPerMillion'), of('work', 'cpuPerMillion')];
  const throughput = median(work) / median(base);
  const p99 = baseP99.length > 0 && workP99.length > 0 ? median(workP99) / median(baseP99) : undefined;
  const reasons = [
    voids > 0 ? `${voids} void` : '',
    !(throughput >= THROUGHPUT_RATIO_MIN) ? 'throughput' : '',
    p99 !== undefined && p99 > P99_RATIO_MAX ? 'p99' : '',
  ].filter((reason) => reason !== '');
  return { cell, base, work, throughput, baseP99, workP99, p99, cpu, ok: reasons.length === 0, reasons };
}

const number = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

function span(values) {
  if (values.length === 0) return '–';
  return `${number.format(median(values))} (${number.format(Math.min(...values))}–${number.format(Math.max(...values))})`;
}

const ratio = (value) => (value === undefined || Number.isNaN(value) ? '–' : `${value.toFixed(2)}×`);

export function table(verdicts, base, work, repeats) {
  const rows = verdicts.map((v) => {
    const cpu = v.cpu.map((values) => (values.length === 0 ? '–' : median(values).toFixed(1))).join(' → ');
    const cells = [v.cell, span(v.base), span(v.work), ratio(v.throughput), span(v.baseP99), span(v.workP99), ratio(v.p99), cpu];
    return `| ${[...cells, v.ok ? 'ok' : `SLOWER: ${v.reasons.join(', ')}`].join(' | ')} |`;
  });
  return [
    `${base} against ${work}, ${repeats} interleaved repeats, medians (min–max); slower: below ${THROUGHPUT_RATIO_MIN}× or p99 above ${P99_RATIO_MAX}×`,
    '',
    `| cell | msg/s ${base} | msg/s ${work} | ÷ | p99 µs ${base} | p99 µs ${work} | ÷ | CPU s/M | |`,
    '|---|---|---|---|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}
