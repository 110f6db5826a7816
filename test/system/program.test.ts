// The program as a user runs it: what it prints, what it refuses, how it stops, and what is there after the next start.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { filesUnder, folderFor, Program, runBroker, spawnBroker } from './program.ts';
import { decodeMessages, textOf } from './pulled.ts';
import { WireClient } from './wire-client.ts';

async function freePort(t: ExecutionContext, keep: boolean): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  if (keep) t.teardown(() => server.close());
  else await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function plainLines(text: string): string[] {
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
}

/** It ends with a failure, and says why in one line. */
async function refused(t: ExecutionContext, program: Program, pattern: RegExp): Promise<void> {
  const exit = await program.end();
  t.true(exit.code !== null && exit.code > 0, `code=${exit.code} signal=${exit.signal}`);
  // Beside the log, which is JSON.
  const lines = plainLines(program.stderr);
  t.is(lines.length, 1, program.stderr);
  t.regex(lines[0] ?? '', /^ringmq: /);
  t.regex(lines[0] ?? '', pattern);
  t.notRegex(program.stdout, /^ready/m);
}

test.serial('program: the banner says where, what for whom, how safe and who runs where; the last line is for scripts', async (t) => {
  const store = folderFor(t);
  const beganMs = performance.now();
  const program = await runBroker(t, { store });
  t.log(`ready after ${Math.round(performance.now() - beganMs)} ms`);
  const port = program.portOf('broker');
  const text = program.stdout;
  t.regex(text, new RegExp(`listening on 127\\.0\\.0\\.1:${port}`));
  t.regex(text, new RegExp(`advertises +127\\.0\\.0\\.1:${port}`));
  t.regex(text, new RegExp(`name server +127\\.0\\.0\\.1:${program.portOf('namesrv')}`));
  t.true(text.includes(`store       ${store}`));
  t.regex(text, /durability +ASYNC_FLUSH: /);
  t.regex(text, /retention +keeps messages 72 h, .*; refuses writes above 90 %; unread messages are kept below 75 %/);
  for (const actor of ['ingress-0', 'commit-log', 'dispatch-0', 'coordinator', 'flusher', 'cleaner', 'indexer', 'name-server']) {
    t.regex(text, new RegExp(`thread .*\\b${actor}\\b`));
  }
  const lines = plainLines(text);
  t.is(lines.at(-1), `ready broker=127.0.0.1:${port} namesrv=127.0.0.1:${program.portOf('namesrv')} pid=${program.pid}`);
  t.deepEqual(plainLines(program.stderr), []);
});

test.serial('program: --help and --version say it and end', async (t) => {
  const help = new Program(t, 'main.js', ['--help']);
  t.is((await help.end()).code, 0);
  t.regex(help.stdout, /--set NAME=VALUE/);
  const version = new Program(t, 'main.js', ['--version']);
  t.is((await version.end()).code, 0);
  t.true(version.stdout.trim() !== '');
  const names = new Program(t, 'namesrv.js', ['--help']);
  t.is((await names.end()).code, 0);
  t.regex(names.stdout, /namesrv\.js/);
});

test.serial('program: a wrong command line or setting is one clear line', async (t) => {
  const cases: [readonly string[], RegExp][] = [
    [['--frobnicate'], /frobnicate/],
    [['--set', 'flushDiskTipe=SYNC_FLUSH'], /flushDiskTipe.*flushDiskType/],
    [['--set', 'flushDiskType=MAYBE'], /flushDiskType.*MAYBE.*ASYNC_FLUSH/],
    [['--set', 'listenPort=99999'], /listenPort.*99999/],
    [['--set', 'mappedFileSizeCommitLog=ten'], /mappedFileSizeCommitLog.*ten/],
    [['--set', 'actorThreads=a=ingress'], /actorThreads/],
    [['-c', '/nowhere/broker.conf'], /\/nowhere\/broker\.conf/],
  ];
  for (const [args, pattern] of cases) await refused(t, spawnBroker(t, { args }), pattern);
});

test.serial('program: a port in use is one clear line, and nothing stays locked', async (t) => {
  const port = await freePort(t, true);
  const store = folderFor(t);
  await refused(t, spawnBroker(t, { store, sets: { listenPort: port } }), new RegExp(`${port}`));
  await refused(t, spawnBroker(t, { store, sets: { namesrvListenPort: port } }), new RegExp(`${port}`));
  await runBroker(t, { store });
  t.pass();
});

test.serial('program: a store that cannot be used is one clear line', async (t) => {
  const folder = folderFor(t);
  writeFileSync(join(folder, 'file'), 'no folder');
  await refused(t, spawnBroker(t, { store: join(folder, 'file', 'store') }), /storePathRootDir/);

  const wrong = join(folder, 'wrong');
  mkdirSync(join(wrong, 'commitlog'), { recursive: true });
  writeFileSync(join(wrong, 'commitlog', '00000000000000000000'), Buffer.alloc(5000, 1));
  await refused(t, spawnBroker(t, { store: wrong }), /00000000000000000000.*(5000|mappedFileSizeCommitLog)/);

  if (process.getuid?.() === 0) {
    t.log('a folder without write permission: not tried, root may write anywhere');
    return;
  }
  const readOnly = join(folder, 'read-only');
  mkdirSync(readOnly);
  chmodSync(readOnly, 0o500);
  await refused(t, spawnBroker(t, { store: join(readOnly, 'store') }), /storePathRootDir/);
});

test.serial('program: a store in use by another process is refused', async (t) => {
  const store = folderFor(t);
  const first = await runBroker(t, { store });
  await refused(t, spawnBroker(t, { store }), /another broker has this store.*pid=\d+/);
  const client = await WireClient.for(t, first.portOf('broker'));
  t.is((await client.send('T1', 'still served')).code, 0);
});

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test.serial(`program: ${signal} stops in order, and the next start serves the same`, async (t) => {
    const store = folderFor(t);
    const first = await runBroker(t, { store });
    t.true(existsSync(join(store, 'abort')), 'the marker of a running broker');
    const client = await WireClient.for(t, first.portOf('broker'));
    for (let i = 0; i < 20; i++) t.is((await client.send('T1', `m${i}`, { queueId: i % 4 })).code, 0);
    const beganMs = performance.now();
    const exit = await first.stop(signal);
    t.log(`stopped in ${Math.round(performance.now() - beganMs)} ms`);
    t.is(exit.code, 0, first.stderr);
    t.false(existsSync(join(store, 'abort')), filesUnder(store).join(' '));

    const second = await runBroker(t, { store });
    const again = await WireClient.for(t, second.portOf('broker'));
    const bodies: string[] = [];
    for (let queueId = 0; queueId < 4; queueId++) {
      bodies.push(...decodeMessages((await again.pull('T1', 0, { queueId })).body).map(textOf));
    }
    t.deepEqual(bodies.sort(), Array.from({ length: 20 }, (_, i) => `m${i}`).sort());
  });
}

test.serial('program: a second signal ends it at once', async (t) => {
  const program = await runBroker(t);
  program.child.kill('SIGTERM');
  program.child.kill('SIGINT');
  const exit = await program.end();
  // Both may be delivered in one go, or the first may already have done all.
  t.true(exit.signal === null && (exit.code === 1 || exit.code === 0), JSON.stringify(exit));
});

test.serial('program: settings of a RocketMQ file count, old spellings too', async (t) => {
  const store = folderFor(t);
  const file = join(folderFor(t), 'broker.conf');
  const lines = ['# as in old guides', 'brokerClusterName = OldCluster', 'brokerName=old-broker', 'mapedFileSizeCommitLog=1048576', ''];
  writeFileSync(file, lines.join('\n'));
  const program = spawnBroker(t, {
    bare: true,
    args: ['-c', file, ...['listenPort=0', 'namesrvListenPort=0', `storePathRootDir=${store}`].flatMap((set) => ['--set', set])],
  });
  await program.until(/^ready .*\n/m);
  t.regex(program.stdout, /old-broker in OldCluster/);
  const client = await WireClient.for(t, program.portOf('broker'));
  t.is((await client.send('T1', 'x')).code, 0);
  t.is(readFileSync(join(store, 'commitlog', '00000000000000000000')).length, 1_048_576);
});

test.serial('program: a name server that is not there does not keep it from becoming ready, and gets it when it comes', async (t) => {
  const port = await freePort(t, false);
  const beganMs = performance.now();
  const broker = await runBroker(t, { args: ['-n', `127.0.0.1:${port}`], sets: { registerNameServerPeriod: 1000 } });
  t.log(`ready without its name server after ${Math.round(performance.now() - beganMs)} ms`);
  t.regex(broker.stdout, /^ready .* namesrv=- /m);
  const names = new Program(t, 'namesrv.js', ['--set', `listenPort=${port}`, '--set', `kvConfigPath=${join(folderFor(t), 'kv.json')}`]);
  await names.until(/^ready broker=- /m);
  const client = await WireClient.for(t, port);
  const limitMs = performance.now() + 20_000;
  let route = await client.call(105, { topic: 'TBW102' });
  while (route.code !== 0 && performance.now() < limitMs) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    route = await client.call(105, { topic: 'TBW102' });
  }
  t.is(route.code, 0, route.remark);
  t.true(route.body.toString().includes(`127.0.0.1:${broker.portOf('broker')}`), route.body.toString());
  t.is((await broker.stop()).code, 0);
  t.is((await client.call(105, { topic: 'TBW102' })).code, 17, 'it said good-bye');
  t.is((await names.stop()).code, 0);
});

test.serial('program: killed under load, every acknowledged message is there after the next start', async (t) => {
  const store = folderFor(t);
  const first = await runBroker(t, { store, sets: { mappedFileSizeCommitLog: 1024 * 1024 } });
  const acknowledged = new Set<string>();
  const clients = await Promise.all(Array.from({ length: 8 }, () => WireClient.for(t, first.portOf('broker'))));
  let running = true;
  const load = clients.map(async (client, c) => {
    for (let i = 0; running; i++) {
      const body = `${c}-${i}-${'x'.repeat((i * 37) % 3000)}`;
      const answer = await client.send('T1', body, { queueId: i % 4 }).catch(() => null);
      if (answer?.code === 0) acknowledged.add(body);
      if (acknowledged.size >= 3000 && running) {
        running = false;
        first.child.kill('SIGKILL');
      }
    }
  });
  await Promise.all(load);
  await first.end();
  const second = await runBroker(t, { store, sets: { mappedFileSizeCommitLog: 1024 * 1024 } });
  const reader = await WireClient.for(t, second.portOf('broker'));
  const found = new Set<string>();
  for (let queueId = 0; queueId < 4; queueId++) {
    for (let offset = 0; ; ) {
      const pulled = await reader.pull('T1', offset, { queueId });
      if (pulled.code !== 0) break;
      for (const message of decodeMessages(pulled.body)) {
        t.is(message.queueOffset, offset++);
        found.add(textOf(message));
      }
    }
  }
  const lost = [...acknowledged].filter((body) => !found.has(body));
  t.deepEqual(
    lost.map((body) => body.slice(0, 20)),
    [],
  );
  t.log(`acknowledged=${acknowledged.size} found=${found.size}`);
});
