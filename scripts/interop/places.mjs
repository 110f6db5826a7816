// Where things are: the project, the folder shared beside it, and the tools that stock clients and Apache's broker need.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const project = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
export const shared = join(project, '..', 'shared');
export const kits = join(shared, 'conformance');
export const loadgen = join(shared, 'perf', 'loadgen.mjs');
export const peer = join(shared, 'perf', 'peers', 'peer.sh');
export const main = process.env.RINGMQ_MAIN ?? join(project, 'dist', 'main.js');
export const check = join(dirname(main), 'check.js');

/** A folder that is gone when this process ends; KEEP=1 leaves it for a look at logs and stores. */
export function tempFolder(name) {
  const folder = mkdtempSync(join(tmpdir(), `ringmq-interop-${name}-`));
  process.on('exit', () => {
    if (process.env.KEEP !== '1') rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

const prints = (command, args, pattern) => {
  const { stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  return pattern.test(`${stdout ?? ''}${stderr ?? ''}`);
};

/** What is there of what the checks need, and what is missing, by name. */
export function prerequisites() {
  const found = [
    ['JDK 17', prints('javac', ['-version'], /javac (1[7-9]|[2-9]\d)/)],
    ['Maven', prints('mvn', ['-v'], /Apache Maven/)],
    ['Go', prints('go', ['version'], /go version/)],
  ];
  const missing = found.filter(([, there]) => !there).map(([name]) => name);
  const some = missing.length < found.length;
  if (!existsSync(kits)) missing.push('the folder ../shared');
  return { missing, some };
}
