// The status command: its table and sentence from two looks, and the whole of it against a broker in this process.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { startBroker } from '../src/index.ts';
import { compareFigures, reportLines } from '../src/status-report.ts';
import { parseStatusLine, watchBroker } from '../src/status-watch.ts';
import { WireClient } from './system/wire-client.ts';

/** Two looks, a second apart, at a thread `io` with an event loop that two actors share, and a thread `disk` without one. */
function looks(figures: { ioActiveMs: number; logBusyMs: number; diskBusyMs: number; fillBytes: number }): Map<string, string>[] {
  const at = (clockMs: number, part: number): Map<string, string> =>
    new Map(
      Object.entries({
        'ringmq.clockMs': String(clockMs),
        'ringmq.thread.io.reactive': 'true',
        'ringmq.thread.io.activeMs': String(50 + figures.ioActiveMs * part),
        'ringmq.thread.io.measuredAtMs': String(clockMs - 20),
        'ringmq.thread.disk.reactive': 'false',
        'ringmq.actor.ingress-0.thread': 'io',
        'ringmq.actor.ingress-0.busyMs': String(7 + 10 * part),
        'ringmq.actor.ingress-0.requests': String(9 + 500 * part),
        'ringmq.actor.commit-log.thread': 'io',
        'ringmq.actor.commit-log.busyMs': String(5 + figures.logBusyMs * part),
        'ringmq.actor.commit-log.records': String(3 + 400 * part),
        'ringmq.actor.flusher.thread': 'disk',
        'ringmq.actor.flusher.busyMs': String(1 + figures.diskBusyMs * part),
        'ringmq.ring.ingress-0->commit-log.fillBytes': String(figures.fillBytes),
        'ringmq.ring.ingress-0->commit-log.capacityBytes': '1000',
      }),
    );
  return [at(1000, 0), at(2000, 1)];
}

function compare(figures: Parameters<typeof looks>[0]): NonNullable<ReturnType<typeof compareFigures>> {
  const [before, after] = looks(figures) as [Map<string, string>, Map<string, string>];
  const report = compareFigures(before, after);
  if (report === null) throw new Error('no report');
  return report;
}

test('status: the time of socket events belongs to the actor that owns the sockets', (t) => {
  const report = compare({ ioActiveMs: 900, logBusyMs: 250, diskBusyMs: 20, fillBytes: 0 });
  const shares = Object.fromEntries(report.actors.map((actor) => [actor.name, Math.round(actor.busyShare * 100)]));
  t.deepEqual(shares, { 'ingress-0': 65, 'commit-log': 25, flusher: 2 });
  t.is(Math.round(report.actors[0]?.recordsPerSecond ?? 0), 500);
  t.regex(report.verdict, /^Bottleneck: ingress-0, busy 65 % of the time; its thread io, which it shares, works 90 %/);
});

test('status: the busiest thread decides, and a ring that fills decides before it', (t) => {
  t.regex(
    compare({ ioActiveMs: 300, logBusyMs: 100, diskBusyMs: 950, fillBytes: 0 }).verdict,
    /^Bottleneck: flusher, busy 95 % of the time\.$/,
  );
  t.regex(
    compare({ ioActiveMs: 300, logBusyMs: 100, diskBusyMs: 950, fillBytes: 600 }).verdict,
    /^Bottleneck: commit-log; the ring from ingress-0 that it reads is 60 % full/,
  );
  t.regex(compare({ ioActiveMs: 300, logBusyMs: 100, diskBusyMs: 5, fillBytes: 0 }).verdict, /^No bottleneck: .* io, works 30 %/);
});

test('status: a broker that tells no such figures is recognised', (t) => {
  t.is(compareFigures(new Map([['brokerActive', 'true']]), new Map([['brokerActive', 'true']])), null);
});

test('status: the table has a line for each actor, then the sentence', (t) => {
  const lines = reportLines(compare({ ioActiveMs: 900, logBusyMs: 250, diskBusyMs: 20, fillBytes: 100 }));
  t.is(lines.length, 5);
  t.regex(lines[0] ?? '', /^actor +thread +busy +work\/s +records\/s +fullest ring +full\/s$/);
  t.regex(lines[2] ?? '', /^commit-log +io 90 % +25 % +0 +400 +10 % from ingress-0 +0$/);
});

test('status: the command line', (t) => {
  t.deepEqual(parseStatusLine([]), { host: '127.0.0.1', port: 10911, everyMs: 1000, once: false });
  t.deepEqual(parseStatusLine(['10.0.0.7:10000', '--every', '250ms', '--once']), {
    host: '10.0.0.7',
    port: 10000,
    everyMs: 250,
    once: true,
  });
  t.deepEqual(parseStatusLine(['[::1]:80', '--every', '2s'])?.host, '::1');
  t.is(parseStatusLine(['--help']), null);
  for (const wrong of [['nowhere'], ['a:99999'], ['--every', 'soon'], ['--every', '0'], ['--often'], ['1', '2']]) {
    t.throws(() => parseStatusLine(wrong), { code: 'config' }, wrong.join(' '));
  }
});

test('status: a running broker tells which of its actors did what', async (t) => {
  const broker = await startBroker({ memory: true });
  t.teardown(() => broker.close());
  const client = await WireClient.for(t, broker.port);
  const texts: string[] = [];
  const watching = watchBroker({ host: broker.host, port: broker.port, everyMs: 700, once: true }, (text) => void texts.push(text));
  let done = false;
  const finished = watching.finally(() => {
    done = true;
  });
  let sent = 0;
  while (!done && sent < 5_000) {
    t.is((await client.send('busy', 'hello')).code, 0);
    sent++;
  }
  await finished;
  const lines = texts.join('').trim().split('\n');
  t.regex(
    lines.find((line) => line.startsWith('commit-log ')) ?? '',
    /^commit-log +inline [\d.]+ % +[\d.]+ % +[\d,]*[1-9][\d,]* +[\d,]*[1-9]/,
  );
  t.true(
    ['ingress-0', 'dispatch-0', 'indexer', 'flusher', 'coordinator', 'name-server'].every((name) =>
      lines.some((line) => line.startsWith(`${name} `)),
    ),
  );
  t.regex(lines.at(-1) ?? '', /^(Bottleneck|No bottleneck): /);
});

test('status: what is wrong is one line and an exit code', async (t) => {
  const program = fileURLToPath(new URL('../src/status.js', import.meta.url));
  const run = async (...args: string[]): Promise<{ code: number; text: string }> => {
    const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
    let text = '';
    child.stderr.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    const [code] = (await once(child, 'close')) as [number];
    return { code, text };
  };
  const broker = await startBroker({ memory: true });
  const { port } = broker;
  await broker.close();
  const unreachable = await run(`127.0.0.1:${port}`, '--once');
  t.is(unreachable.code, 1);
  t.regex(unreachable.text, /^ringmq-status: no connection to the broker broker=127\.0\.0\.1:\d+.*\n$/);
  const wrong = await run('nowhere');
  t.is(wrong.code, 2);
  t.regex(wrong.text, /^ringmq-status: "nowhere" is not HOST:PORT; --help shows what is allowed\n$/);
});

test('status: delayed messages that wait are told by level, and nothing where none waits', (t) => {
  const before = new Map([['ringmq.clockMs', '0']]);
  const after = new Map([
    ['ringmq.clockMs', '1000'],
    ['scheduleMessageOffset_10', '1,3'],
    ['scheduleMessageOffset_2', '5,1005'],
    ['scheduleMessageOffset_3', '7,7'],
    ['ringmq.actor.scheduler.deliveryLateMs', '2'],
  ]);
  t.is(
    compareFigures(before, after)?.delayed,
    'Delayed messages that wait: 1,002 (level 2: 1,000, level 10: 2); the newest delivery was 2 ms late, 0 could not be delivered.',
  );
  t.is(compareFigures(before, new Map([['ringmq.clockMs', '1000']]))?.delayed, '');
});
