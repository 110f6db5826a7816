// The broker as a library: started, used and closed inside the caller's own process.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { RingmqError, type RunningBroker, type StartOptions, startBroker } from '../../src/index.ts';
import { folderFor, smallSettings, sourcePath } from './program.ts';
import { decodeMessages, textOf } from './pulled.ts';
import { WireClient } from './wire-client.ts';

async function start(t: ExecutionContext, options: StartOptions): Promise<RunningBroker> {
  const broker = await startBroker(options);
  t.teardown(() => broker.close());
  return broker;
}

function onDisk(store: string, more: Record<string, string | number> = {}): StartOptions {
  const { mappedFileSizeCommitLog, mappedFileSizeConsumeQueue } = smallSettings;
  return { store, settings: { mappedFileSizeCommitLog, mappedFileSizeConsumeQueue, ...more } as Record<string, string | number> };
}

test.serial('library: a broker in memory takes a message, gives it back, and closes', async (t) => {
  const beganMs = performance.now();
  const broker = await start(t, { memory: true, port: 0 });
  t.log(`started in ${Math.round(performance.now() - beganMs)} ms`);
  const client = await WireClient.for(t, broker.port);
  const sent = await client.send('T1', 'hello', { properties: 'TAGS\u0001red\u0002KEYS\u0001k1\u0002' });
  t.is(sent.code, 0, sent.remark);
  t.is(sent.ext['queueOffset'], '0');
  const pulled = await client.pull('T1', 0);
  t.is(pulled.code, 0, pulled.remark);
  const [message] = decodeMessages(pulled.body);
  t.is(textOf(message), 'hello');
  t.is(message?.properties.get('TAGS'), 'red');
  await broker.close();
  t.true(await client.waitClosed());
  await t.throwsAsync(WireClient.open(broker.port), { code: 'ECONNREFUSED' });
});

test.serial('library: closing twice is closing once', async (t) => {
  const broker = await start(t, { memory: true });
  await Promise.all([broker.close(), broker.close()]);
  await broker.close();
  t.pass();
});

test.serial('library: two brokers in one process keep their messages apart', async (t) => {
  const [one, two] = await Promise.all([start(t, { memory: true }), start(t, { memory: true })]);
  t.not(one.port, two.port);
  t.not(one.namesrvAddr, two.namesrvAddr);
  const clients = await Promise.all([one, two].map((broker) => WireClient.for(t, broker.port)));
  const bodies: string[] = [];
  for (const [i, client] of clients.entries()) {
    t.is((await client.send('T1', `broker ${i}`)).code, 0);
    bodies.push(...decodeMessages((await client.pull('T1', 0)).body).map(textOf));
  }
  t.deepEqual(bodies, ['broker 0', 'broker 1']);
});

for (const actorThreads of ['inline', 'auto']) {
  test.serial(`library: a folder keeps messages and offsets, actorThreads=${actorThreads}`, async (t) => {
    const store = folderFor(t);
    const first = await start(t, onDisk(store, { actorThreads }));
    const writer = await WireClient.for(t, first.port);
    for (let i = 0; i < 5; i++) t.is((await writer.send('T1', `m${i}`)).code, 0);
    t.is((await writer.call(200, {}, JSON.stringify({ groupName: 'G1' }))).code, 0);
    const commit = { consumerGroup: 'G1', topic: 'T1', queueId: 0, commitOffset: 3 };
    t.is((await writer.call(15, commit)).code, 0);
    await first.close();

    const second = await start(t, onDisk(store, { actorThreads }));
    const reader = await WireClient.for(t, second.port);
    const bodies = decodeMessages((await reader.pull('T1', 0)).body).map(textOf);
    t.deepEqual(bodies, ['m0', 'm1', 'm2', 'm3', 'm4']);
    const committed = await reader.call(14, { consumerGroup: 'G1', topic: 'T1', queueId: 0 });
    t.is(committed.ext['offset'], '3');
    t.is((await reader.send('T1', 'm5')).ext['queueOffset'], '5');
  });
}

test.serial('library: a start that fails closes what it had opened, and says why', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1');
  t.teardown(() => taken.close());
  await new Promise((resolve) => taken.once('listening', resolve));
  const address = taken.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const store = folderFor(t);
  for (const actorThreads of ['inline', 'auto']) {
    const options = onDisk(store, { actorThreads });
    const error = await t.throwsAsync(startBroker({ ...options, port }), { instanceOf: RingmqError });
    t.is((error as RingmqError).code, 'address');
    t.regex((error as RingmqError).message, new RegExp(String(port)));
  }
  const broker = await start(t, onDisk(store));
  t.true(broker.port > 0, 'the store is not locked any more');
});

test.serial('library: a setting that does not exist is refused with its nearest name', async (t) => {
  const error = await t.throwsAsync(startBroker({ memory: true, settings: { flushDiskTipe: 'x' } }), { instanceOf: RingmqError });
  t.is((error as RingmqError).code, 'config');
  t.regex((error as RingmqError).message, /flushDiskType/);
});

for (const actorThreads of ['inline', 'auto']) {
  test.serial(`library: close leaves nothing that keeps a process alive, actorThreads=${actorThreads}`, async (t) => {
    const store = folderFor(t);
    const script = `
      import { startBroker } from ${JSON.stringify(`file://${sourcePath('index.js')}`)};
      process.stdout.write('');
      process.stderr.write('');
      const before = process.getActiveResourcesInfo().length;
      const broker = await startBroker({ store: ${JSON.stringify(store)}, settings: ${JSON.stringify({ ...onDisk(store, { actorThreads }).settings })} });
      await broker.close();
      await new Promise((resolve) => setImmediate(resolve));
      console.log(JSON.stringify(process.getActiveResourcesInfo().slice(before)));
    `;
    const file = join(folderFor(t), 'program.mjs');
    writeFileSync(file, script);
    const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] });
    const timer = setTimeout(() => child.kill('SIGKILL'), 20_000);
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    const code = await new Promise((resolve) => child.once('close', resolve));
    clearTimeout(timer);
    t.is(code, 0, 'it ends by itself');
    t.deepEqual(JSON.parse(output), [], 'no handle is left');
  });
}
