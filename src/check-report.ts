// A check's report as lines for people: what was looked at, each finding with its meaning, and the sentence that sums it up.
import type { CheckReport, Finding, FindingKind } from './store/check/check-store.ts';
import { findingMeanings } from './store/check/findings.ts';

const titles = { damage: 'DAMAGE', repairable: 'repaired by the next start', note: 'note' } as const;

export function checkReportLines(root: string, report: CheckReport): string[] {
  const { totals, findings } = report;
  const lines = [
    `store ${root}, ${report.cleanlyStopped ? 'cleanly stopped' : 'not cleanly stopped'}`,
    `log ${totals.positionMin} to ${totals.positionMax}: ${totals.recordCount} records; ${totals.queueCount} queues; ` +
      `${totals.indexFileCount} index files: ${totals.indexEntryCount} entries`,
  ];
  let kind: FindingKind | null = null;
  for (const finding of [...findings].sort(byKind)) {
    if (finding.kind !== kind) lines.push('', `${titles[finding.severity]}  ${finding.kind}: ${findingMeanings[finding.kind]}`);
    kind = finding.kind;
    lines.push(`  ${findingText(finding)}`);
  }
  lines.push('', verdictOn(report));
  return lines;
}

/** Sorting keeps the order of equals, and so that of the places. */
function byKind(a: Finding, b: Finding): number {
  const [first, second] = [severityRank(a), severityRank(b)];
  if (first !== second) return first - second;
  return a.kind === b.kind ? 0 : a.kind < b.kind ? -1 : 1;
}

function severityRank({ severity }: Finding): number {
  return Object.keys(titles).indexOf(severity);
}

function findingText({ path, where, seen, expected, count }: Finding): string {
  const place = where === '' ? path : `${path} ${where}`;
  return `${place}: ${seen}${expected === '' ? '' : `, not ${expected}`}${count > 1 ? ` (first of ${count})` : ''}`;
}

function verdictOn({ counts, findings }: CheckReport): string {
  const { damage, repairable, note } = counts;
  const unlisted = damage + repairable + note - findings.length;
  const sum = `${damage} damaged, ${repairable} repaired by the next start, ${note} notes${unlisted > 0 ? `, ${unlisted} not listed` : ''}`;
  if (damage > 0) return `The store is damaged: ${sum}.`;
  return repairable > 0 ? `The store is sound but for its end, which the next start repairs: ${sum}.` : `The store is sound: ${sum}.`;
}
