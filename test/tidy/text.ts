// Rules on plain text, whatever the kind of file: nothing of the machine it was written on, no loose ends.
import type { Rule, Source, Violation } from './source.ts';

function judgeLines(sources: readonly Source[], rule: string, judge: (line: string) => string | undefined): Violation[] {
  return sources.flatMap((source) =>
    source.text.split('\n').flatMap((line, index) => {
      const text = judge(line);
      return text === undefined ? [] : [{ path: source.path, line: index + 1, rule, text }];
    }),
  );
}

// Put together from parts, so that this file does not find itself.
const homes = ['home', 'root', 'Users', 'work', 'mnt'].join('|');
const hostPath = new RegExp(`(^|[\\s"'\`(=:,])/(${homes})/[\\w.-]`);
const registryHost = new RegExp(
  [
    'registry\\.npm',
    'npmjs\\.(org|com)',
    'npmmirror',
    'repo[\\d.]*\\.maven',
    'proxy\\.golang',
    'artifactory',
    'nexus\\.',
    'pypi\\.org',
  ].join('|'),
);
const own = /^test\/tidy\/(text|rules\.test)\.ts$/;

export const noHostPaths: Rule = (sources) =>
  judgeLines(
    sources.filter((source) => !own.test(source.path)),
    'host path',
    (line) => (hostPath.test(line) ? `${hostPath.exec(line)?.[0].trim()}… exists on one machine only` : undefined),
  );

export const noRegistryHosts: Rule = (sources) =>
  judgeLines(
    sources.filter((source) => !own.test(source.path)),
    'registry',
    (line) => (registryHost.test(line) ? `${registryHost.exec(line)?.[0]}: which registry serves is the machine's business` : undefined),
  );

export const lockWithoutAddresses: Rule = (sources) =>
  judgeLines(
    sources.filter((source) => /(^|\/)package-lock\.json$/.test(source.path)),
    'lock file',
    (line) => (/"resolved":/.test(line) ? 'an address of a registry is recorded' : undefined),
  );

const looseEnd = /\b(TODO|FIXME|XXX|HACK)\b/;

export const looseEnds: Rule = (sources) =>
  judgeLines(
    sources.filter((source) => /\.(ts|mjs|sh)$|^\.ci\/run$/.test(source.path) && !own.test(source.path)),
    'loose end',
    (line) => (looseEnd.test(line) && !/#\d+/.test(line) ? `${looseEnd.exec(line)?.[0]} without the number of its issue` : undefined),
  );
