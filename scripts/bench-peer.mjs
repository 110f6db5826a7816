// A broker under measurement, ours or a peer of ../shared/perf, that can be killed and started again over its store.
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { root } from './bench-measure.mjs';

const perf = resolve(root, '../shared/perf');
const RUN_LIMIT_MS = 900_000;
const END_LIMIT_MS = 120_000;
const BLOCK_SIZE = 512;
/** Of /sys/dev/block/…/stat: flushes of the device that have ended. */
const FLUSHES_FIELD = 15;

const children = new Set();

/** However a run ends, nothing of it goes on. */
export function endAll(peers) {
  for (const child of children) child.kill('SIGKILL');
  for (const peer of peers) peer.end(true);
}

/** One run of the load generator: its JSON line. @param whenMarked called once it says `mark`. */
export function generate(args, mark, whenMarked) {
  return new Promise((done) => {
    const child = spawn(process.execPath, [join(perf, 'loadgen.mjs'), ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    children.add(child);
    let [text, said] = ['', ''];
    child.stdout.on('data', (part) => {
      text += part;
    });
    child.stderr.on('data', (part) => {
      const before = said.includes(mark ?? '\n');
      said += part;
      if (mark !== undefined && !before && said.includes(mark)) whenMarked();
    });
    const timer = setTimeout(() => child.kill('SIGKILL'), RUN_LIMIT_MS);
    child.on('close', (status) => {
      clearTimeout(timer);
      children.delete(child);
      try {
        done({ ...JSON.parse(text.trim().split('\n').pop()), status });
      } catch {
        done({ status, failure: `the generator gave no result status=${status} ${said.trim().split('\n').pop()}` });
      }
    });
  });
}

export class Peer {
  #system;
  #folder;
  #port;
  #sync;
  #options;
  #child = null;

  /** @param options dist: folder of our build; sets: further settings of ours as NAME=VALUE */
  constructor(system, folder, port, sync, options) {
    this.#system = system === 'ringmq' || !sync ? system : `${system}-sync`;
    this.#folder = folder;
    this.#port = port;
    this.#sync = sync;
    this.#options = options;
    mkdirSync(folder, { recursive: true });
    if (!this.#isOurs) this.#script('init', this.#system, folder, String(port));
  }

  get brokerPort() {
    return this.#port + 11;
  }

  static prepare(system) {
    if (system === 'ringmq') return;
    const { status } = spawnSync('bash', [join(perf, 'peers/peer.sh'), 'prepare', system], { stdio: ['ignore', 'ignore', 'inherit'] });
    if (status !== 0) throw new Error(`${system} cannot be run here`);
  }

  get store() {
    return join(this.#folder, 'store');
  }

  get where() {
    return ['--broker', `127.0.0.1:${this.brokerPort}`, '--namesrv', `127.0.0.1:${this.#port}`];
  }

  get pids() {
    return this.#isOurs ? [this.#child.pid] : readFileSync(join(this.#folder, 'pids'), 'utf8').trim().split(/\s+/).map(Number);
  }

  /** Milliseconds from the spawn to the first acknowledged message. */
  async start() {
    let first;
    await new Promise((probing) => {
      first = generate(['first', ...this.where], '# probing', probing);
      first.then(probing);
    });
    const sinceMs = Date.now();
    if (this.#isOurs) this.#spawn();
    else this.#script('start', this.#system, this.#folder, String(this.#port));
    const { firstAckAt, failure } = await first;
    if (firstAckAt === undefined) throw new Error(`${this.#system} takes no message: ${failure ?? 'no answer in time'}`);
    return firstAckAt - sinceMs;
  }

  /** @param kill with SIGKILL; else in good order */
  async end(kill) {
    if (!this.#isOurs) {
      this.#script('stop', this.#system, this.#folder, ...(kill ? ['9'] : []));
      return;
    }
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const closed = new Promise((done) => {
      child.once('close', done);
    });
    child.kill(kill ? 'SIGKILL' : 'SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), END_LIMIT_MS);
    await closed;
    clearTimeout(timer);
  }

  /** What the log's files take on the disk: they are as long as set from the start. */
  logGib() {
    const folder = join(this.store, 'commitlog');
    let size = 0;
    for (const name of readdirSync(folder)) size += statSync(join(folder, name)).blocks * BLOCK_SIZE;
    return size / 2 ** 30;
  }

  get #isOurs() {
    return this.#system === 'ringmq';
  }

  #spawn() {
    const own = [
      `listenPort=${this.brokerPort}`,
      `namesrvListenPort=${this.#port}`,
      'vipListenPort=-1',
      `storePathRootDir=${this.store}`,
      `flushDiskType=${this.#sync ? 'SYNC_FLUSH' : 'ASYNC_FLUSH'}`,
      'logLevel=warn',
    ];
    const flags = [...own, ...this.#options.sets].flatMap((set) => ['--set', set]);
    const log = openSync(join(this.#folder, 'out'), 'a');
    this.#child = spawn(process.execPath, [join(this.#options.dist, 'main.js'), ...flags], { stdio: ['ignore', log, log] });
    closeSync(log);
  }

  #script(...args) {
    const { status } = spawnSync('bash', [join(perf, 'peers/peer.sh'), ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
    if (status !== 0) throw new Error(`peer.sh ${args.join(' ')} failed status=${status}`);
  }
}

/** Flushes of the device under a folder since the system started; undefined where the system does not tell. */
export function flushCount(folder) {
  const { dev } = statSync(folder);
  const device = `${(dev >> 8) & 0xfff}:${(dev & 0xff) | ((dev >> 12) & 0xfff00)}`;
  for (const path of [`/sys/dev/block/${device}/stat`, `/sys/dev/block/${device}/../stat`]) {
    if (!existsSync(path)) continue;
    const count = Number(readFileSync(path, 'utf8').trim().split(/\s+/)[FLUSHES_FIELD]);
    if (count > 0) return count;
  }
  return undefined;
}
