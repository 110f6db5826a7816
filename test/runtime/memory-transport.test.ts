// The network in memory: the contract of all transports, and that a seed decides the run.
import test from 'ava';
import { present } from '../../src/base/assert.ts';
import { SeededRandom } from '../../src/base/random.ts';
import { MemoryNetwork, type MemoryNetworkOptions } from '../../src/runtime/memory-transport.ts';
import type { Connection } from '../../src/runtime/transport.ts';
import { addressCases, closeCases, faultCases } from './transport-close-cases.ts';
import { checkCases, pairOf, Recorder, text, type World } from './transport-contract.ts';
import { flowCases } from './transport-flow-cases.ts';

interface MemoryWorld extends World {
  readonly network: MemoryNetwork;
}

function makeWorld(seed: number, options: MemoryNetworkOptions = {}): MemoryWorld {
  const network = new MemoryNetwork(new SeededRandom(seed), options);
  const faults: unknown[] = [];
  return {
    network,
    faults,
    transport: network.transport('test', (error) => faults.push(error)),
    until: async (condition) => {
      while (!condition()) if (!network.step()) throw new Error('nothing is pending, and the condition does not hold');
    },
    settle: async () => {
      while (network.step());
    },
  };
}

const cases = { ...flowCases, ...closeCases, ...faultCases, ...addressCases };
checkCases(test, 'memory transport (splitting)', () => makeWorld(1), cases);
checkCases(test, 'memory transport (whole writes)', () => makeWorld(2, { splitting: false }), cases);
checkCases(test, 'memory transport (tiny pipe)', () => makeWorld(3, { chunkSizeBytesMax: 700, pipeSizeBytes: 1000 }), {
  ...closeCases,
  ...faultCases,
});

/** Three clients talk to an echoing server; the story of every event. */
async function story(seed: number): Promise<string[]> {
  const world = makeWorld(seed);
  const lines: string[] = [];
  const recorder = (name: string): Recorder => {
    const made = new Recorder();
    made.doOpen = (connection) => lines.push(`${name}${connection.id} open ${connection.remotePort}`);
    made.doData = (connection, chunk) => {
      lines.push(`${name}${connection.id} data ${chunk.toString()}`);
      if (name === 'server') connection.write(Buffer.from(chunk));
    };
    made.doWritten = (connection, bytes) => lines.push(`${name}${connection.id} written ${bytes.length}`);
    made.doClose = (connection) => lines.push(`${name}${connection.id} close`);
    return made;
  };
  const listener = await world.transport.listen({ host: '127.0.0.1', port: 0 }, recorder('server'));
  for (let i = 0; i < 3; i++) {
    const near = world.transport.connect('127.0.0.1', listener.port, recorder('client'));
    for (const word of ['never', 'odd', 'or', 'even']) near.write(text(word));
    near.end();
  }
  await world.settle();
  return lines;
}

test('memory transport: the seed decides the order of events and the cuts', async (t) => {
  const first = await story(7);
  t.deepEqual(await story(7), first);
  const others = await Promise.all([8, 9, 10].map(story));
  t.is(new Set([first, ...others].map((lines) => lines.join('\n'))).size, 4);
  t.is(first.filter((line) => line.endsWith('close')).length, 6);
});

test('memory transport: chunks are cut and glued', async (t) => {
  const world = makeWorld(5);
  const sizes: number[] = [];
  const { server, near } = await pairOf(world);
  server.doData = (_, chunk) => sizes.push(chunk.length);
  for (let i = 0; i < 500; i++) near.write(text('0123456789'));
  await world.settle();
  t.is(server.received, '0123456789'.repeat(500));
  t.true(sizes.some((size) => size < 10));
  t.true(sizes.some((size) => size > 10));
  t.true(sizes.every((size) => size <= 4096));
});

test('memory transport: without splitting each write is one chunk', async (t) => {
  const world = makeWorld(5, { splitting: false });
  const sizes: number[] = [];
  const { server, near } = await pairOf(world);
  server.doData = (_, chunk) => sizes.push(chunk.length);
  for (const size of [1, 300_000, 17, 4]) near.write(Buffer.alloc(size));
  await world.settle();
  t.deepEqual(sizes, [1, 300_000, 17, 4]);
});

test('memory transport: nothing happens outside step, and pendingCount says what waits', async (t) => {
  const world = makeWorld(4);
  const server = new Recorder();
  const client = new Recorder();
  t.false(world.network.step());
  const listener = await world.transport.listen({ host: '127.0.0.1', port: 0 }, server);
  t.is(world.network.pendingCount, 0);
  const near = world.transport.connect('127.0.0.1', listener.port, client);
  near.write(text('hello'));
  await new Promise((resolve) => setImmediate(resolve));
  t.deepEqual([server.events, client.events], [[], []]);
  t.is(world.network.pendingCount, 1);
  let visible = 0;
  while (world.network.pendingCount > 0) {
    t.true(world.network.step());
    const now = server.events.length + client.events.length;
    t.true(now - visible <= 1, 'one event at most in a step');
    visible = now;
  }
  t.false(world.network.step());
  t.is(server.received, 'hello');
});

test('memory transport: a paused reader bounds what leaves the writer', async (t) => {
  const world = makeWorld(6, { pipeSizeBytes: 8192 });
  const { near, far, server, client } = await pairOf(world);
  far.pause();
  for (let i = 0; i < 100; i++) near.write(Buffer.alloc(1000));
  await world.settle();
  t.is(near.bufferedBytes, 100_000 - 8192);
  t.is(client.written.length, 8);
  far.resume();
  await world.settle();
  t.is(server.receivedSizeBytes, 100_000);
  t.is(near.bufferedBytes, 0);
});

test('memory transport: a kept chunk goes stale, a reused write does not matter after onWritten', async (t) => {
  const world = makeWorld(11);
  const { near, server, client } = await pairOf(world);
  const kept: Uint8Array[] = [];
  server.doData = (_, chunk) => kept.push(chunk);
  client.doWritten = (_, bytes) => bytes.fill(0);
  near.write(text('abcdef'));
  await world.settle();
  t.is(server.received, 'abcdef');
  t.true(kept.every((chunk) => chunk.every((byte) => byte === 0xdb)));
});

test('memory transport: cut breaks both ends with an error', async (t) => {
  for (const whose of ['near', 'far'] as const) {
    const world = makeWorld(12);
    const pair = await pairOf(world);
    pair.near.write(Buffer.alloc(100_000));
    world.network.step();
    const before = pair.server.receivedSizeBytes;
    world.network.cut(pair[whose]);
    t.is(pair.server.closes.length, 0);
    await world.settle();
    t.is(pair.server.receivedSizeBytes, before);
    for (const recorder of [pair.server, pair.client]) {
      t.is((present(recorder.closes[0]) as NodeJS.ErrnoException).code, 'ECONNRESET');
      t.is(recorder.closes.length, 1);
    }
    t.is(world.transport.connectionCount, 0);
  }
});

test('memory transport: transports of one network reach each other', async (t) => {
  const network = new MemoryNetwork(new SeededRandom(13));
  const broker = network.transport('broker');
  const server = new Recorder();
  const listener = await broker.listen({ host: '127.0.0.1', port: 9876 }, server);
  t.deepEqual([listener.port, listener.fd], [9876, -1]);
  const client = new Recorder();
  const connection: Connection = network.transport('client').connect('127.0.0.1', 9876, client);
  connection.write(text('hi'));
  while (network.step());
  t.is(server.received, 'hi');
  t.is(broker.connectionCount, 1);
});
