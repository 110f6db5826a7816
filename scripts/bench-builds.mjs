// Builds a commit, or the working tree as it is now, into a folder apart: nothing of the checkout changes.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { git } from './bench-broker.mjs';

const parts = ['package.json', 'package-lock.json', 'tsconfig.base.json', 'tsconfig.json', 'src', '.npmrc'];
const ARCHIVE_SIZE_MAX = 1 << 28;

function run(folder, command, args) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: folder, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed\n${stdout}${stderr}`);
}

/** The dependencies of the checkout where they are the same; else its own, installed anew. */
function giveModules(root, folder) {
  const lock = (where) => readFileSync(join(where, 'package-lock.json'), 'utf8');
  if (lock(root) === lock(folder)) symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  else run(folder, 'npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
}

function compile(root, folder) {
  giveModules(root, folder);
  run(folder, process.execPath, [join(folder, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.json']);
  return join(folder, 'dist');
}

export async function buildCommit(root, name, folder) {
  const commit = git(root, 'rev-parse', '--short', '--verify', `${name}^{commit}`);
  mkdirSync(folder, { recursive: true });
  const archive = execFileSync('git', ['-c', 'safe.directory=*', 'archive', commit], { cwd: root, maxBuffer: ARCHIVE_SIZE_MAX });
  execFileSync('tar', ['-xf', '-'], { cwd: folder, input: archive });
  return { commit, dist: compile(root, folder) };
}

export async function buildWorkingTree(root, folder) {
  mkdirSync(folder, { recursive: true });
  for (const part of parts) if (existsSync(join(root, part))) cpSync(join(root, part), join(folder, part), { recursive: true });
  return { dist: compile(root, folder) };
}
