// Measures delayed messages: how late they reach a consumer when many come due each second, beside Apache's broker in one run.
//
//   npm run bench:delay -- [--systems ringmq,apache-lean] [--repeats 3] [--messages 100000] [--warmup 20000] [--rate 10000] [--level 3]
//                          [--dist DIR] [--set NAME=VALUE]… [--port 23500] [--out FILE] [--quick]
//
// Cell delay-100k. Late is the time from a send to its arrival at the consumer, less the delay: what the way to the broker and back takes
// is in it; of the first messages (--warmup) it is not noted. JSON lines go to stdout (and --out), the table follows. Systems take turns in A B B A order, each with a fresh store.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { root } from './bench-measure.mjs';
import { Rounds } from './bench-rounds.mjs';
import { median } from './bench-verdict.mjs';

const library = (name) => import(pathToFileURL(resolve(root, '../shared/perf/lib', name)).href);

const { values } = parseArgs({
  options: {
    systems: { type: 'string', default: 'ringmq,apache-lean' },
    repeats: { type: 'string' },
    messages: { type: 'string' },
    warmup: { type: 'string' },
    rate: { type: 'string', default: '10000' },
    level: { type: 'string', default: '3' },
    dist: { type: 'string', default: 'dist' },
    set: { type: 'string', multiple: true, default: [] },
    port: { type: 'string', default: '23500' },
    out: { type: 'string' },
    quick: { type: 'boolean', default: false },
  },
});
const repeats = Number(values.repeats ?? (values.quick ? 1 : 3));
const warmup = Number(values.warmup ?? (values.quick ? 5_000 : 20_000));
const messages = warmup + Number(values.messages ?? (values.quick ? 10_000 : 100_000));
const rate = Number(values.rate);
const level = Number(values.level);
const LEVELS_MS = [1_000, 5_000, 10_000, 30_000, 60_000];
const delayMs = LEVELS_MS[level - 1];
const QUEUES = 8;
const CONNECTIONS = 4;
const BODY_SIZE = 1_024;
const TICK_MS = 2;
/** Brokers keep times in whole milliseconds, which are up to one before the send. */
const CLOCK_STEP_MS = 2;
const TOPIC = 'perf_delay';
/** What a system gets beyond the last due time. */
const PATIENCE_MS = 60_000;

const rounds = new Rounds('delay', values, repeats);

/** One open-loop producer a connection: what the clock says is due to be sent is sent, and late ticks are caught up. */
async function sendAll(wire, { Link, lengthFrames }, endpoint, now) {
  const state = { sent: 0, acknowledged: 0, refused: 0, lost: '' };
  const links = Array.from(
    { length: CONNECTIONS },
    () =>
      new Link({
        ...endpoint,
        parse: lengthFrames((bytes, start, end) => {
          if (wire.decode(bytes, start, end).code === 0) state.acknowledged++;
          else state.refused++;
        }),
        onClose: (why) => {
          state.lost = why;
        },
      }),
  );
  await Promise.all(links.map((link) => link.ready));
  const startMs = now();
  await new Promise((done) => {
    const timer = setInterval(() => {
      const due = Math.min(messages, Math.floor(((now() - startMs) * rate) / 1_000));
      while (state.sent < due) sendOne(wire, links[state.sent % CONNECTIONS], state.sent++, now());
      if (state.sent < messages && state.lost === '') return;
      clearInterval(timer);
      done();
    }, TICK_MS);
  });
  return { state, links };
}

function sendOne(wire, link, number, nowMs) {
  const body = Buffer.alloc(BODY_SIZE, 0x61);
  body.writeDoubleBE(nowMs, 0);
  body.writeInt32BE(number, 8);
  const properties = `UNIQ_KEY\u0001${number.toString(16).toUpperCase().padStart(32, '0')}\u0002WAIT\u0001true\u0002DELAY\u0001${level}\u0002`;
  const ext = { group: 'perf_delay', topic: TOPIC, queueId: number % QUEUES, born: Math.floor(nowMs), properties };
  link.write(wire.encode(wire.JSON_TYPE, wire.CODE.SEND_V2, number, wire.sendExt(ext), body));
}

async function measure(folder, system) {
  const [wire, links, { Puller, pullStats }, { Hist }] = await Promise.all(
    ['rocketmq.mjs', 'link.mjs', 'puller.mjs', 'hist.mjs'].map(library),
  );
  const peer = rounds.newPeer(folder, system);
  await peer.start();
  const endpoint = { host: '127.0.0.1', port: peer.brokerPort };
  const now = () => performance.timeOrigin + performance.now();
  const caller = new wire.Caller({ ...endpoint, type: wire.JSON_TYPE });
  await caller.ready;
  await caller.createTopic(TOPIC, QUEUES);
  caller.close();
  const late = new Hist();
  const seen = new Uint8Array(messages);
  let [arrived, repeated, early] = [0, 0, 0];
  const stats = pullStats();
  const queues = Array.from({ length: QUEUES }, (_, queueId) => ({ topic: TOPIC, queueId, offset: 0 }));
  const puller = new Puller(
    { ...endpoint, type: wire.JSON_TYPE, group: 'perf_delay', conns: CONNECTIONS, max: 32, suspendMs: 15_000 },
    queues,
    stats,
    (bytes, at) => {
      const { bodyAt } = wire.recordParts(bytes, at);
      const number = bytes.readInt32BE(bodyAt + 8);
      if (seen[number] === 1) repeated++;
      seen[number] = 1;
      arrived++;
      const lateMs = now() - bytes.readDoubleBE(bodyAt) - delayMs;
      if (lateMs < -CLOCK_STEP_MS) early++;
      if (number >= warmup) late.add(lateMs * 1_000);
    },
  );
  await puller.start();
  const { state, links: producers } = await sendAll(wire, links, endpoint, now);
  const limitMs = now() + delayMs + PATIENCE_MS;
  while (arrived < messages - state.refused && now() < limitMs) await new Promise((done) => setTimeout(done, 50));
  puller.stop();
  for (const link of producers) link.end();
  const { p50, p99, max } = late.summary() ?? {};
  const distinct = seen.reduce((sum, one) => sum + one, 0);
  const sound = state.acknowledged > 0 && distinct >= state.acknowledged && early === 0 && state.lost === '';
  return {
    messages,
    rate,
    delayMs,
    acknowledged: state.acknowledged,
    refused: state.refused,
    arrived,
    repeated,
    early,
    p50Us: p50,
    p99Us: p99,
    maxUs: max,
    void: !sound,
  };
}

function table(lines) {
  const names = ['p50Us', 'p99Us', 'maxUs', 'acknowledged'];
  const text = (numbers) => `${Math.round(median(numbers))} (${Math.min(...numbers)}–${Math.max(...numbers)})`;
  const rows = [...new Set(lines.map((line) => line.system))].map((system) => {
    const sound = lines.filter((line) => line.system === system && !line.void);
    if (sound.length === 0) return `| delay-100k | ${system} | – | – | – | – |`;
    return `| delay-100k | ${system} | ${names.map((name) => text(sound.map((line) => line[name]))).join(' | ')} |`;
  });
  return ['', '| cell | system | late p50 µs | late p99 µs | late max µs | acknowledged |', '|---|---|--:|--:|--:|--:|', ...rows];
}

if (!(delayMs > 0)) throw new Error(`--level ${values.level}: allowed 1 to ${LEVELS_MS.length}`);
rounds.main({ 'delay-100k': measure }, table);
