// The transport over real sockets, with both ways of reading.
import { Worker } from 'node:worker_threads';
import test from 'ava';
import { present } from '../../src/base/assert.ts';
import { RingmqError } from '../../src/base/errors.ts';
import { plainAddress } from '../../src/runtime/node-connection.ts';
import { NodeTransport } from '../../src/runtime/node-transport.ts';
import { addressCases, closeCases, faultCases } from './transport-close-cases.ts';
import { checkCases, pairOf, Recorder, text, type World } from './transport-contract.ts';
import { flowCases } from './transport-flow-cases.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function makeWorld(sharedReads: boolean): World {
  const faults: unknown[] = [];
  return {
    transport: new NodeTransport({ sharedReads, onFault: (error) => faults.push(error) }),
    faults,
    until: async (condition) => {
      while (!condition()) await turn();
    },
    settle: async () => {
      for (let i = 0; i < 50; i++) await turn();
    },
  };
}

for (const sharedReads of [true, false]) {
  const area = `node transport (${sharedReads ? 'one buffer' : 'data events'})`;
  checkCases(test, area, () => makeWorld(sharedReads), { ...flowCases, ...closeCases, ...faultCases, ...addressCases });
}

test('node transport: IPv4 in IPv6 is told as IPv4', async (t) => {
  t.is(plainAddress('::ffff:10.1.2.3'), '10.1.2.3');
  t.is(plainAddress('10.1.2.3'), '10.1.2.3');
  t.is(plainAddress('::1'), '::1');
  t.is(plainAddress('::ffff:a01:203'), '::ffff:a01:203');
  const world = makeWorld(true);
  const server = new Recorder();
  try {
    const listener = await world.transport.listen({ host: '::', port: 0 }, server);
    world.transport.connect('127.0.0.1', listener.port, new Recorder());
    await world.until(() => server.connections.length === 1);
    t.is(server.connections[0]?.remoteHost, '127.0.0.1');
  } catch (error) {
    // Hosts without IPv6 cannot show it.
    t.true(error instanceof RingmqError);
    t.log('no IPv6 here: only the texts were compared');
  }
  await world.transport.closeAll();
});

test('node transport: addresses that are not ours are named', async (t) => {
  const transport = new NodeTransport();
  for (const [host, reason] of [
    ['192.0.2.1', 'EADDRNOTAVAIL'],
    ['300.300.300.300.invalid', '(ENOTFOUND|EAI_AGAIN)'],
  ] as const) {
    const error = await t.throwsAsync(transport.listen({ host, port: 0 }, new Recorder()), { code: 'address' });
    t.regex(present(error).message, new RegExp(`host=${host} port=0 reason=${reason}$`));
  }
  const client = new Recorder();
  transport.connect('127.0.0.1', 70_000, client);
  while (client.closes.length === 0) await turn();
  t.regex(String(client.closes[0]), /65536/);
  await transport.closeAll();
});

test('node transport: closeAll leaves no socket, also when a listen is under way', async (t) => {
  const openCount = (): number => process.getActiveResourcesInfo().filter((name) => name.startsWith('TCP')).length;
  const world = makeWorld(true);
  await pairOf(world);
  const pending = world.transport.listen({ host: 'localhost', port: 0 }, new Recorder());
  const outcome = t.throwsAsync(pending, { instanceOf: RingmqError, code: 'closed' });
  await world.transport.closeAll();
  await outcome;
  await world.settle();
  // Other tests of this file run at the same time: their sockets end too.
  await world.until(() => openCount() === 0);
  t.is(world.transport.connectionCount, 0);
});

const workerSource = `
const { workerData, parentPort } = require('node:worker_threads');
import(workerData.module).then(async ({ NodeTransport }) => {
  const nothing = () => {};
  const transport = new NodeTransport();
  const server = { onOpen: nothing, onWritten: nothing, onClose: nothing, onData: (c, chunk) => c.write(Buffer.from(chunk)) };
  const listener = await transport.listen({ host: '127.0.0.1', port: 0, fd: workerData.fd }, server);
  transport.connect('127.0.0.1', listener.port, {
    onOpen: (c) => c.write(Buffer.from('ping')), onWritten: nothing, onClose: nothing,
    onData: async (c, chunk) => {
      parentPort.postMessage({ port: listener.port, fd: listener.fd, answer: chunk.toString() });
      Atomics.store(workerData.done, 0, 1);
      Atomics.notify(workerData.done, 0);
      await transport.closeAll();
    },
  });
});`;

test('node transport: a second thread accepts on the first one’s descriptor', async (t) => {
  if (process.platform === 'win32') return t.pass('no descriptors here');
  const transport = new NodeTransport();
  const server = new Recorder();
  const listener = await transport.listen({ host: '127.0.0.1', port: 0 }, server);
  t.true(listener.fd > 2);
  const done = new Int32Array(new SharedArrayBuffer(4));
  const module = new URL('../../src/runtime/node-transport.js', import.meta.url).href;
  const worker = new Worker(workerSource, { eval: true, workerData: { module, fd: listener.fd, done } });
  const message = new Promise((resolve) => worker.once('message', resolve));
  const exit = new Promise((resolve) => worker.once('exit', resolve));
  // This thread sleeps from here on, so only the worker can accept.
  t.not(Atomics.wait(done, 0, 0, 60_000), 'timed-out');
  const { fd, ...rest } = (await message) as { fd: number };
  t.deepEqual(rest as unknown, { port: listener.port, answer: 'ping' });
  t.not(fd, listener.fd, 'each thread closes a descriptor of its own');
  await exit;
  t.is(server.connections.length, 0);
  // The worker has closed and ended; this thread still listens.
  transport.connect('127.0.0.1', listener.port, new Recorder());
  while (server.connections.length === 0) await turn();
  await transport.closeAll();
  const late = new NodeTransport().listen({ host: '127.0.0.1', port: 0, fd: 999_999 }, server);
  await t.throwsAsync(late, { instanceOf: RingmqError, code: 'address', message: /fd=999999 reason=/ });
  return undefined;
});

test('node transport: what throws without onFault does not reach the process', async (t) => {
  const transport = new NodeTransport();
  const server = new Recorder();
  server.doData = () => {
    throw new Error('unheard');
  };
  const listener = await transport.listen({ host: '127.0.0.1', port: 0 }, server);
  transport.connect('127.0.0.1', listener.port, new Recorder()).write(text('x'));
  while (server.closes.length === 0) await turn();
  t.is(server.closes[0]?.message, 'unheard');
  await transport.closeAll();
});
