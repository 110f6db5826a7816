// The part of the transport contract about bytes: order, back-pressure, pause.
import { present } from '../../src/base/assert.ts';
import { type Cases, pairOf, Recorder, text } from './transport-contract.ts';

export const flowCases: Cases = {
  'bytes and onWritten keep the order of the writes': async (t, world) => {
    const { server, client, near } = await pairOf(world);
    const writes = Array.from({ length: 3000 }, (_, index) => text(`${index},`.repeat(index % 17)));
    for (const bytes of writes) near.write(bytes);
    t.is(client.written.length, 0, 'never inside write');
    const sent = Buffer.concat(writes).toString('latin1');
    await world.until(() => server.receivedSizeBytes === sent.length && client.written.length === writes.length);
    t.true(server.received === sent);
    t.true(client.written.every((bytes, index) => bytes === writes[index]));
    t.is(near.bufferedBytes, 0);
  },

  'writes from inside onWritten do not recurse': async (t, world) => {
    const { server, client, near } = await pairOf(world);
    let depth = 0;
    let depthMax = 0;
    client.doWritten = (connection, bytes) => {
      depth++;
      depthMax = Math.max(depthMax, depth);
      if (client.written.length < 5000) connection.write(bytes);
      depth--;
    };
    near.write(text('x'));
    await world.until(() => server.receivedSizeBytes === 5000);
    t.is(depthMax, 1);
  },

  '20,000 writes wait for a paused reader and then arrive': async (t, world) => {
    const { server, client, near, far } = await pairOf(world);
    server.keepText = false;
    far.pause();
    const bytes = Buffer.alloc(1024, 'b');
    for (let i = 0; i < 20_000; i++) near.write(bytes);
    await world.settle();
    t.is(server.receivedSizeBytes, 0);
    t.true(client.written.length < 20_000);
    t.true(near.bufferedBytes > 0);
    far.resume();
    await world.until(() => client.written.length === 20_000 && server.receivedSizeBytes === 20_000 * bytes.length);
    t.is(near.bufferedBytes, 0);
  },

  '24 MB in one write reach a slow reader unharmed': async (t, world) => {
    const bytes = Buffer.alloc(24 << 20);
    for (let at = 0; at < bytes.length; at += 4) bytes.writeInt32BE(Math.imul(at, 0x9e3779b1), at);
    const { server, client, near } = await pairOf(world);
    server.keepText = false;
    let at = 0;
    let same = true;
    server.doData = (connection, chunk) => {
      same &&= bytes.compare(chunk, 0, chunk.length, at, at + chunk.length) === 0;
      at += chunk.length;
      connection.pause();
    };
    near.write(bytes);
    while (at < bytes.length) {
      const seen = at;
      server.connections[0]?.resume();
      await world.until(() => at > seen);
    }
    await world.until(() => client.written.length === 1);
    t.true(same);
    t.is(present(client.written[0]), bytes);
  },

  'pause inside onData lets no further chunk through': async (t, world) => {
    const server = new Recorder();
    server.doData = (connection) => connection.pause();
    const { near, far } = await pairOf(world, server);
    for (let i = 0; i < 300; i++) near.write(Buffer.alloc(1000, 'p'));
    await world.until(() => server.events.includes('data'));
    await world.settle();
    t.is(server.events.filter((event) => event === 'data').length, 1);
    server.doData = () => {};
    far.resume();
    await world.until(() => server.receivedSizeBytes === 300_000);
    t.pass();
  },

  'a pause from onOpen, or from before it, holds': async (t, world) => {
    const server = new Recorder();
    server.doOpen = (connection) => {
      connection.pause();
      connection.write(text('greeting'));
    };
    const client = new Recorder();
    const listener = await world.transport.listen({ host: '127.0.0.1', port: 0 }, server);
    const near = world.transport.connect('127.0.0.1', listener.port, client);
    near.pause();
    near.write(text('written before the open'));
    await world.until(() => server.connections.length > 0 && client.written.length > 0);
    await world.settle();
    t.is(server.receivedSizeBytes + client.receivedSizeBytes, 0);
    near.resume();
    present(server.connections[0]).resume();
    await world.until(() => client.received === 'greeting' && server.received === 'written before the open');
    t.pass();
  },

  'pause and resume in one turn change nothing': async (t, world) => {
    const { near, far, server } = await pairOf(world);
    far.pause();
    far.resume();
    far.pause();
    near.write(text('abc'));
    await world.settle();
    t.is(server.received, '');
    far.resume();
    far.pause();
    far.resume();
    await world.until(() => server.received === 'abc');
    t.pass();
  },

  'many connections do not mix their bytes': async (t, world) => {
    const seen = new Map<number, string>();
    const server = new Recorder();
    server.doData = (connection, chunk) => {
      seen.set(connection.id, (seen.get(connection.id) ?? '') + Buffer.from(chunk).toString('latin1'));
      connection.write(Buffer.from(chunk));
    };
    const listener = await world.transport.listen({ host: '127.0.0.1', port: 0 }, server);
    const clients = Array.from({ length: 50 }, () => new Recorder());
    const sent = clients.map((_, index) => `${index};`.repeat(500));
    clients.forEach((client, index) => {
      world.transport.connect('127.0.0.1', listener.port, client).write(text(present(sent[index])));
    });
    await world.until(() => clients.every((client, index) => client.receivedSizeBytes === present(sent[index]).length));
    t.deepEqual(
      clients.map((client) => client.received),
      sent,
    );
    t.deepEqual([...seen.values()].sort(), [...sent].sort());
    t.is(new Set(server.connections.concat(clients.flatMap((client) => client.connections)).map(({ id }) => id)).size, 100);
  },
};
