// The part of the transport contract about ends: closing, faults of handlers, addresses.
import { present } from '../../src/base/assert.ts';
import { RingmqError } from '../../src/base/errors.ts';
import { type Cases, pairOf, Recorder, text } from './transport-contract.ts';

const count = (events: readonly string[], event: string): number => events.filter((one) => one === event).length;

export const closeCases: Cases = {
  'end by the connecting side delivers what was written, then closes both': async (t, world) => {
    const { server, client, near, far } = await pairOf(world);
    const bytes = Buffer.alloc(300_000, 'e');
    near.write(bytes);
    near.end();
    near.end();
    near.write(text('ignored'));
    await world.until(() => server.closes.length === 1 && client.closes.length === 1);
    t.is(server.receivedSizeBytes, bytes.length);
    t.deepEqual(client.written, [bytes]);
    t.deepEqual([server.closes, client.closes], [[undefined], [undefined]]);
    t.is(server.events.at(-1), 'close');
    far.write(text('swallowed'));
    far.pause();
    far.resume();
    far.end();
    far.destroy();
    await world.settle();
    t.is(server.closes.length, 1);
    t.is(server.written.length, 0);
  },

  'end by the accepting side, with bytes under way towards it': async (t, world) => {
    const server = new Recorder();
    server.doOpen = (connection) => {
      connection.pause();
      connection.write(text('answer'));
      connection.end();
    };
    const client = new Recorder();
    client.doOpen = (connection) => connection.write(Buffer.alloc(100_000));
    await pairOf(world, server, client);
    await world.until(() => server.closes.length === 1 && client.closes.length === 1);
    t.is(client.received, 'answer');
    t.is(server.receivedSizeBytes, 0);
    t.is(server.closes[0], undefined);
  },

  'destroy tells only onClose, later, and the peer closes': async (t, world) => {
    const { server, client, near } = await pairOf(world);
    near.write(text('x'));
    near.destroy();
    near.destroy();
    near.write(text('y'));
    t.deepEqual(client.events, ['open']);
    await world.until(() => server.closes.length === 1 && client.closes.length === 1);
    await world.settle();
    t.deepEqual(client.events, ['open', 'close']);
    t.is(near.bufferedBytes, 0);
    t.is(world.transport.connectionCount, 0);
  },

  'destroy before the open': async (t, world) => {
    const server = new Recorder();
    const client = new Recorder();
    const listener = await world.transport.listen({ host: '127.0.0.1', port: 0 }, server);
    world.transport.connect('127.0.0.1', listener.port, client).destroy();
    await world.until(() => client.closes.length === 1);
    t.deepEqual(client.events, ['close']);
  },

  'a write to a peer that is gone ends in onClose once': async (t, world) => {
    const { server, client, near, far } = await pairOf(world);
    far.destroy();
    for (let i = 0; i < 50; i++) near.write(Buffer.alloc(65_536));
    await world.until(() => client.closes.length === 1 && server.closes.length === 1);
    await world.settle();
    t.is(client.closes.length, 1);
    t.deepEqual(world.faults, []);
  },

  'a closed listener accepts nobody, and its connections live on': async (t, world) => {
    const { listener, server, near } = await pairOf(world);
    await listener.close();
    await listener.close();
    const late = new Recorder();
    world.transport.connect('127.0.0.1', listener.port, late);
    await world.until(() => late.closes.length === 1);
    t.deepEqual(late.events, ['close']);
    t.is((late.closes[0] as NodeJS.ErrnoException).code, 'ECONNREFUSED');
    near.write(text('still here'));
    await world.until(() => server.received === 'still here');
  },

  '1,000 connections opened and closed leave nothing behind': async (t, world) => {
    const server = new Recorder();
    const client = new Recorder();
    client.doOpen = (connection) => connection.write(text('.'));
    server.doData = (connection) => (connection.id % 2 === 0 ? connection.end() : connection.destroy());
    const listener = await world.transport.listen({ host: '127.0.0.1', port: 0 }, server);
    for (let opened = 0; opened < 1000; ) {
      for (let i = 0; i < 200; i++, opened++) world.transport.connect('127.0.0.1', listener.port, client);
      await world.until(() => server.closes.length === opened && client.closes.length === opened);
    }
    t.is(world.transport.connectionCount, 0);
    t.is(count(server.events, 'open'), 1000);
    t.is(count(client.events, 'open'), 1000);
  },

  'closeAll closes what is open and refuses what comes later': async (t, world) => {
    const { server, client, near } = await pairOf(world);
    near.write(Buffer.alloc(1_000_000));
    const closed = world.transport.closeAll();
    t.is(client.closes.length + server.closes.length, 0);
    await world.until(() => world.transport.connectionCount === 0);
    await closed;
    t.is(client.closes.length + server.closes.length, 2);
    await t.throwsAsync(world.transport.listen({ host: '127.0.0.1', port: 0 }, server), { instanceOf: RingmqError, code: 'closed' });
    const late = new Recorder();
    world.transport.connect('127.0.0.1', 1, late);
    await world.until(() => late.closes.length === 1);
    t.true(late.closes[0] instanceof RingmqError);
  },
};

export const faultCases: Cases = {
  'a handler that throws loses its connection, nobody else does': async (t, world) => {
    const { server, client, near } = await pairOf(world);
    const bystander = new Recorder();
    const other = world.transport.connect('127.0.0.1', near.remotePort, bystander);
    await world.until(() => server.connections.length === 2 && bystander.connections.length === 1);
    const fault = new Error('handler fault');
    server.doData = (connection) => {
      if (connection.id === server.connections[0]?.id) throw fault;
    };
    near.write(text('boom'));
    await world.until(() => server.closes.length === 1 && client.closes.length === 1);
    t.deepEqual(world.faults, [fault]);
    t.is(server.closes[0], fault);
    other.write(text('alive'));
    await world.until(() => server.received.endsWith('alive'));
  },

  'faults in onOpen, onWritten and onClose stay inside': async (t, world) => {
    const throwing = (method: 'doOpen' | 'doWritten' | 'doClose'): Recorder => {
      const client = new Recorder();
      client[method] = () => {
        throw new Error(method);
      };
      return client;
    };
    const server = new Recorder();
    const listener = await world.transport.listen({ host: '127.0.0.1', port: 0 }, server);
    for (const method of ['doOpen', 'doWritten', 'doClose'] as const) {
      const client = throwing(method);
      const near = world.transport.connect('127.0.0.1', listener.port, client);
      near.write(text('1'));
      if (method === 'doClose') near.end();
      await world.until(() => client.closes.length === 1);
      t.is(client.closes[0]?.message, method === 'doClose' ? undefined : method);
      t.is((world.faults.at(-1) as Error).message, method);
    }
    t.is(world.faults.length, 3);
  },
};

export const addressCases: Cases = {
  'both ends know whom they talk to': async (t, world) => {
    const { listener, near, far } = await pairOf(world);
    t.is(listener.host, '127.0.0.1');
    t.deepEqual([near.remoteHost, near.remotePort, far.remoteHost], ['127.0.0.1', listener.port, '127.0.0.1']);
    t.true(far.remotePort > 0 && far.remotePort !== listener.port);
  },

  'listening on a used port fails with one clear line': async (t, world) => {
    const { listener } = await pairOf(world);
    const again = world.transport.listen({ host: '127.0.0.1', port: listener.port }, new Recorder());
    const error = present(await t.throwsAsync(again, { instanceOf: RingmqError, code: 'address' }));
    t.regex(error.message, /in use.*another port.* host=127\.0\.0\.1 port=\d+ reason=EADDRINUSE$/);
    t.false(error.message.includes('\n'));
    await listener.close();
    const reborn = await world.transport.listen({ host: '127.0.0.1', port: listener.port }, new Recorder());
    t.is(reborn.port, listener.port);
  },
};
