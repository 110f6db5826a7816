// How measuring scripts start our broker, and how they name what they measured.
import { execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';

const START_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 30_000;

/** A shell command for compare.sh, which sets the PERF_ variables; RINGMQ_NODE is the Node to run it with. */
export function brokerCommand(dist, sets) {
  const own = [
    'listenPort=$PERF_BROKER_PORT',
    'namesrvListenPort=$PERF_NAMESRV_PORT',
    'storePathRootDir=$PERF_DIR/store',
    'flushDiskType=$PERF_FLUSH',
    'vipListenPort=-1',
  ];
  const flags = [...own.map((set) => `--set "${set}"`), ...sets.map((set) => `--set '${set.replaceAll("'", "'\\''")}'`)];
  return `exec "$RINGMQ_NODE" '${dist}/main.js' ${flags.join(' ')}`;
}

export function git(folder, ...args) {
  const options = { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] };
  return execFileSync('git', ['-c', 'safe.directory=*', ...args], options).trim();
}

/** Short id of the commit, with a plus where the working tree differs from it; - where there is no git. */
export function commitOf(folder) {
  try {
    const clean = git(folder, 'status', '--porcelain', '--untracked-files=no', '--', 'src') === '';
    return `${git(folder, 'rev-parse', '--short', 'HEAD')}${clean ? '' : '+'}`;
  } catch {
    return '-';
  }
}

/** One broker on free ports with a store of its own, killed at the latest with the script. */
export class GuardedBroker {
  static #alive = new Set();
  #child = null;
  #dist;
  #sets;
  folder;
  address = '';
  namesrv = '';

  constructor(dist, folder, sets) {
    this.#dist = dist;
    this.folder = folder;
    this.#sets = sets;
  }

  static killAll() {
    for (const child of GuardedBroker.#alive) child.kill('SIGKILL');
  }

  get pid() {
    return this.#child.pid;
  }

  start() {
    const own = [
      'listenPort=0',
      'namesrvListenPort=0',
      `storePathRootDir=${join(this.folder, 'store')}`,
      'vipListenPort=-1',
      'logLevel=warn',
    ];
    const flags = [...own, ...this.#sets].flatMap((set) => ['--set', set]);
    const child = spawn(process.execPath, [join(this.#dist, 'main.js'), ...flags], { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#child = child;
    GuardedBroker.#alive.add(child);
    child.on('close', () => GuardedBroker.#alive.delete(child));
    return new Promise((resolve, reject) => {
      let text = '';
      const timer = setTimeout(() => reject(new Error('the broker was not ready in time')), START_LIMIT_MS);
      const end = (settle, value) => {
        clearTimeout(timer);
        settle(value);
      };
      child.on('close', (status) => end(reject, new Error(`the broker ended status=${status}`)));
      child.stdout.setEncoding('utf8').on('data', (part) => {
        text += part;
        const ready = /^ready broker=(\S+) namesrv=(\S+)/m.exec(text);
        if (ready === null) return;
        [, this.address, this.namesrv] = ready;
        end(resolve);
      });
    });
  }

  async stop() {
    const child = this.#child;
    if (child === null || !GuardedBroker.#alive.has(child)) return;
    const closed = new Promise((resolve) => {
      child.once('close', resolve);
    });
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
    await closed;
    clearTimeout(timer);
  }
}
