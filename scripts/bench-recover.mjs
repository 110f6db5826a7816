// Measures what durability costs: starts after a kill and with many queues, and messages for each flush of the disk.
//
//   npm run bench:recover -- [CELL…] [--systems ringmq,apache-lean] [--repeats 3] [--messages 900000] [--queues 10000] [--seconds 10]
//                            [--dist DIR] [--set NAME=VALUE]… [--port 22000] [--out FILE] [--quick]
//
//   recover-kill-1g    1 GiB of messages of 1 KiB, load on top, kill -9, start: what it took beyond a start with an empty store
//   recover-power-1g   the same, and the start is made to believe that the machine had stopped (ringmq only)
//   start-10k-queues   every one of the queues written; start after a stop in good order, and after kill -9
//   sync-1k-1x64, sync-1k-64x16   SYNC_FLUSH: messages a second, and for each flush of the device
//
// JSON lines go to stdout (and --out), the table follows. Systems take turns in A B B A order, each with a fresh store.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { flushCount, generate } from './bench-peer.mjs';
import { Rounds } from './bench-rounds.mjs';
import { median } from './bench-verdict.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    systems: { type: 'string', default: 'ringmq,apache-lean' },
    repeats: { type: 'string' },
    messages: { type: 'string' },
    queues: { type: 'string' },
    seconds: { type: 'string' },
    dist: { type: 'string', default: 'dist' },
    set: { type: 'string', multiple: true, default: [] },
    port: { type: 'string', default: '22000' },
    out: { type: 'string' },
    quick: { type: 'boolean', default: false },
  },
});
const repeats = Number(values.repeats ?? (values.quick ? 1 : 3));
const messages = Number(values.messages ?? (values.quick ? 90_000 : 900_000));
const queueCount = Number(values.queues ?? (values.quick ? 1_000 : 10_000));
const seconds = Number(values.seconds ?? (values.quick ? 2 : 10));
const QUEUES_PER_TOPIC = 8;
const KILL_AFTER_MS = 2_000;

const rounds = new Rounds('recover', values, repeats);

/** A log of the wanted size, load on top of it, and a kill in the midst of that load. */
async function fillAndKill(peer, state) {
  const fill = await generate(['catchup', '--backlog', String(messages), '--seconds', '1', ...peer.where]);
  if (!(fill.fill?.messages >= messages)) throw new Error(`filling the log failed: ${JSON.stringify(fill)}`);
  const args = [
    'send',
    '--conns',
    '4',
    '--inflight',
    '64',
    '--warmup',
    '0',
    '--seconds',
    '30',
    '--expect-kill',
    '--save',
    state,
    ...peer.where,
  ];
  let killed = Promise.resolve();
  const sent = await generate(args, '# sending', () => {
    killed = new Promise((done) => {
      setTimeout(() => done(peer.end(true)), KILL_AFTER_MS);
    });
  });
  await killed;
  return sent.acknowledged;
}

async function recover(folder, system, forgetsPlace) {
  const peer = rounds.newPeer(folder, system);
  const state = join(folder, 'state');
  const emptyMs = await peer.start();
  const acknowledged = await fillAndKill(peer, state);
  if (forgetsPlace) {
    const marker = join(peer.store, 'abort');
    writeFileSync(marker, readFileSync(marker, 'latin1').split('\n', 1)[0]);
  }
  const startMs = await peer.start();
  const logGib = peer.logGib();
  const { verify, failure } = await generate(['verify', '--load', state, ...peer.where]);
  rmSync(state, { force: true });
  const secondsPerGib = Math.max(0, startMs - emptyMs) / 1_000 / logGib;
  return { emptyMs, startMs, logGib, secondsPerGib, acknowledged, void: verify?.ok !== true, failure };
}

async function startWithQueues(folder, system) {
  const peer = rounds.newPeer(folder, system);
  const emptyMs = await peer.start();
  const topics = Math.ceil(queueCount / QUEUES_PER_TOPIC);
  const load = [
    'send',
    '--topics',
    String(topics),
    '--queues',
    String(QUEUES_PER_TOPIC),
    '--topic',
    'perf_many',
    '--conns',
    '4',
    '--inflight',
    '64',
  ];
  const sent = await generate([...load, '--warmup', '0', '--seconds', String(Math.max(5, seconds)), ...peer.where]);
  await peer.end(false);
  const startMs = await peer.start();
  await generate([...load, '--no-create', '--warmup', '0', '--seconds', '3', ...peer.where]);
  await peer.end(true);
  const killedStartMs = await peer.start();
  return {
    emptyMs,
    startMs,
    killedStartMs,
    queues: topics * QUEUES_PER_TOPIC,
    acknowledged: sent.acknowledged,
    void: !(sent.acknowledged > 0),
  };
}

async function syncs(folder, system, connections, inFlight) {
  const peer = rounds.newPeer(folder, system, true);
  await peer.start();
  const before = flushCount(folder);
  const shape = ['--size', '1024', '--conns', String(connections), '--inflight', String(inFlight)];
  const span = ['--warmup', String(seconds / 2), '--seconds', String(seconds), '--verify', '--pid', peer.pids.join(',')];
  const sent = await generate(['send', ...shape, ...span, ...peer.where]);
  const flushes = flushCount(folder) - before;
  return {
    perSecond: sent.msgsPerSec,
    perFlush: flushes > 0 ? sent.acknowledged / flushes : undefined,
    p99Us: sent.latencyUs?.p99,
    cpuPerMillion: sent.brokerCpu?.perM,
    void: sent.status !== 0 || sent.verify?.ok !== true,
    failure: sent.failure,
  };
}

const cells = {
  'recover-kill-1g': (folder, system) => recover(folder, system, false),
  'recover-power-1g': (folder, system) => (system === 'ringmq' ? recover(folder, system, true) : null),
  'start-10k-queues': startWithQueues,
  'sync-1k-1x64': (folder, system) => syncs(folder, system, 1, 64),
  'sync-1k-64x16': (folder, system) => syncs(folder, system, 64, 16),
};

const columns = {
  recover: ['secondsPerGib', 'startMs', 'emptyMs', 'logGib'],
  start: ['startMs', 'killedStartMs', 'emptyMs', 'queues'],
  sync: ['perSecond', 'perFlush', 'p99Us', 'cpuPerMillion'],
};

function spanText(numbers) {
  if (numbers.length === 0) return '–';
  const text = (value) => (value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toFixed(2));
  return `${text(median(numbers))} (${text(Math.min(...numbers))}–${text(Math.max(...numbers))})`;
}

function table(lines) {
  return Object.entries(columns).flatMap(([kind, names]) => {
    const mine = lines.filter((line) => line.case.startsWith(`${kind}-`));
    if (mine.length === 0) return [];
    const rows = [...new Set(mine.map((line) => `${line.case}\t${line.system}`))].map((key) => {
      const [cell, system] = key.split('\t');
      const sound = mine.filter((line) => line.case === cell && line.system === system && !line.void);
      const of = (name) => sound.map((line) => line[name]).filter((value) => Number.isFinite(value));
      return `| ${[cell, system, ...names.map((name) => spanText(of(name)))].join(' | ')} |`;
    });
    return ['', `| cell | system | ${names.join(' | ')} |`, `|---|---|${names.map(() => '--:').join('|')}|`, ...rows];
  });
}

const wanted = positionals.length === 0 ? Object.keys(cells) : positionals;
for (const cell of wanted)
  if (cells[cell] === undefined) throw new Error(`no such cell: ${cell}; allowed: ${Object.keys(cells).join(', ')}`);
rounds.main(Object.fromEntries(wanted.map((cell) => [cell, cells[cell]])), table);
