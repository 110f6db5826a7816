// The house rules as a test over the whole project: each line of a failure names a place and the rule that it breaks.
import test from 'ava';
import * as imports from './tidy/imports.ts';
import * as shape from './tidy/shape.ts';
import { describe, projectRoot, projectSources, type Rule } from './tidy/source.ts';
import * as texts from './tidy/text.ts';

const sources = projectSources(projectRoot());

const rules: readonly (readonly [string, Rule])[] = [
  ['each layer imports only what lies below it', imports.layering],
  ['layers that decide do not act', imports.purity],
  ['each package has one door', imports.oneDoorPerPackage],
  ['files, sockets and threads are opened at their doors', imports.platformModules],
  ['src imports only what is installed with it', imports.shippedPackages],
  ['imports name their file in full', imports.extensions],
  ['every file is reached', imports.orphans],
  ['files are short', shape.fileLength],
  ['functions are short', shape.functionLength],
  ['no any', shape.noAny],
  ['no non-null claims', shape.noNonNull],
  ['types can be erased', shape.erasable],
  ['file names say something', shape.fileNames],
  ['nothing is called Impl', shape.noImpl],
  ['clock, chance, timers, console and exit stay in their places', shape.callsInPlace],
  ['every file opens with what it is for', shape.opening],
  ['no path of one machine', texts.noHostPaths],
  ['no registry is named', texts.noRegistryHosts],
  ['the lock file names no addresses', texts.lockWithoutAddresses],
  ['no loose end without an issue', texts.looseEnds],
];

test('tidy: the files are found', (t) => {
  t.true(sources.some((source) => source.path === 'src/base/clock.ts'));
  t.true(sources.some((source) => source.path === 'package-lock.json'));
});

for (const [title, rule] of rules) {
  test(`tidy: ${title}`, (t) => {
    const reports = rule(sources).map(describe);
    if (reports.length > 0) t.fail(reports.join('\n'));
    else t.pass();
  });
}
