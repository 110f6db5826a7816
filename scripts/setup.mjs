// Installs the dependencies where they are missing, and builds with --build: so that one command works in a fresh clone.
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';

function run(command, args) {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit' });
  if (error !== undefined) console.error(`${command}: ${error.message}`);
  if (status !== 0) process.exit(status ?? 1);
}

const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
const stamp = 'node_modules/.package-lock.json';
if (!existsSync(stamp) || statSync('package-lock.json').mtimeMs > statSync(stamp).mtimeMs + 1000) {
  run(npm, ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
}
if (process.argv.includes('--build')) run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json']);
