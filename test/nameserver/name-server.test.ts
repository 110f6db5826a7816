// Checks the name server as a server: frames, connections, limits, times, start and stop.
import test from 'ava';
import { type Log, silentLog } from '../../src/base/log.ts';
import { decodeReply, FakeBroker, requestFrame, startServer } from './test-server.ts';

test('name server: port 0 picks a port, readable after the start', async (t) => {
  const ns = await startServer(t, { settings: { namesrvListenPort: 0, bindAddress: '127.0.0.1' } });
  t.is(ns.server.port, 40_000);
  t.deepEqual(ns.sockets.listening, { host: '127.0.0.1', port: 0 });
});

test('name server: an unknown code is answered and the connection goes on', async (t) => {
  const ns = await startServer(t);
  for (const binary of [false, true]) {
    const reply = ns.call(9999, {}, { opaque: -5, binary });
    t.is(reply.code, 3);
    t.is(reply.remark, ' request type 9999 not supported');
    t.is(reply.opaque, -5);
    t.true(reply.isResponse);
  }
});

test('name server: a one-way request gets no answer, not even an error', async (t) => {
  const ns = await startServer(t);
  const client = ns.sockets.client();
  client.send(Buffer.concat([requestFrame(9999, {}, { flag: 2 }), requestFrame(105, { topic: 'x' }, { flag: 2 }), requestFrame(106)]));
  t.is(client.frames().length, 1);
  t.is(ns.server.counts.requests, 3);
});

test('name server: an answer that nobody asked for is passed over', async (t) => {
  const ns = await startServer(t);
  const client = ns.sockets.client();
  client.send(requestFrame(0, {}, { flag: 1 }));
  t.deepEqual(client.frames(), []);
  t.false(client.isClosed);
});

test('name server: pipelined requests and requests in pieces are answered each', async (t) => {
  const ns = await startServer(t);
  const client = ns.sockets.client();
  const frames = Array.from({ length: 200 }, (_, opaque) => requestFrame(105, { topic: 'none' }, { opaque }));
  client.send(Buffer.concat(frames));
  t.deepEqual(
    client.frames().map((frame) => decodeReply(frame).opaque),
    frames.map((_, opaque) => opaque),
  );
  for (const byte of requestFrame(9999)) client.send(Buffer.from([byte]));
  t.is(client.frames().length, 1);
});

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value | 0);
  return bytes;
}

const malformed: Record<string, Buffer> = {
  'one byte more than 16 MiB': Buffer.concat([word(16 * 1024 * 1024 - 3), word(10), Buffer.alloc(10)]),
  'negative length': Buffer.concat([word(-5), word(10), Buffer.alloc(10)]),
  'header longer than the frame': Buffer.concat([word(14), word(4000), Buffer.alloc(10)]),
  'unknown codec': Buffer.concat([word(14), word((7 << 24) | 10), Buffer.alloc(10)]),
  'JSON header cut short': Buffer.concat([word(4 + 10), word(10), Buffer.from('{"code":30')]),
  'binary header cut short': Buffer.concat([word(9), word((1 << 24) | 5), Buffer.alloc(5)]),
  HTTP: Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'),
};

for (const [name, bytes] of Object.entries(malformed)) {
  test(`name server: a malformed frame closes its own connection only: ${name}`, async (t) => {
    const ns = await startServer(t);
    const bystander = ns.sockets.client();
    const client = ns.sockets.client();
    client.send(bytes);
    t.true(client.isClosed);
    t.deepEqual(client.frames(), []);
    bystander.send(requestFrame(106));
    t.is(bystander.frames().length, 1);
    t.is(ns.server.counts.malformedFrames, 1);
  });
}

test('name server: nothing behind a malformed header is answered', async (t) => {
  const ns = await startServer(t);
  const client = ns.sockets.client();
  client.send(Buffer.concat([word(4 + 2), word(2), Buffer.from('{]'), requestFrame(106)]));
  t.true(client.isClosed);
  t.is(ns.server.counts.requests, 0);
});

test('name server: a flood of malformed frames is one line in the log', async (t) => {
  const lines: string[] = [];
  const log: Log = { ...silentLog, warn: (message, fields) => lines.push(`${message} ${fields?.['suppressed']}`), scoped: () => log };
  const ns = await startServer(t, { log });
  for (let i = 0; i < 100; i++) ns.sockets.client().send(Buffer.from('GET / HTTP/1.1\r\n\r\n'));
  t.deepEqual(lines, ['connection closed over a malformed frame 0']);
  ns.clock.advance(10_000);
  ns.sockets.client().send(Buffer.from('GET / HTTP/1.1\r\n\r\n'));
  t.is(lines[1], 'connection closed over a malformed frame 99');
});

test('name server: a silent connection is closed after its time, a busy one is not', async (t) => {
  const ns = await startServer(t);
  const silent = ns.sockets.client();
  const busy = ns.sockets.client();
  for (let s = 0; s < 115; s += 5) {
    ns.advance(5000);
    busy.send(requestFrame(106));
  }
  t.false(silent.isClosed);
  ns.advance(5000);
  t.true(silent.isClosed);
  t.false(busy.isClosed);
  t.is(ns.server.counts.idleCloses, 1);
});

test('name server: a peer that takes no answers is not read from until it does', async (t) => {
  const ns = await startServer(t, { settings: { connectionMemoryMaxBytes: 1000 } });
  const client = ns.sockets.client();
  client.stopTaking();
  for (let opaque = 0; opaque < 100; opaque++) client.send(requestFrame(105, { topic: 'none' }, { opaque }));
  t.true(client.isPaused);
  t.true(client.unsentBytes < 2000);
  const bystander = ns.sockets.client();
  bystander.send(requestFrame(106));
  t.is(bystander.frames().length, 1);
  client.takeAll();
  t.false(client.isPaused);
  t.deepEqual(
    client.frames().map((frame) => decodeReply(frame).opaque),
    Array.from({ length: 100 }, (_, opaque) => opaque),
  );
});

test('name server: requests of one chunk behind the limit wait as well', async (t) => {
  const ns = await startServer(t, { settings: { connectionMemoryMaxBytes: 1000 } });
  const client = ns.sockets.client();
  client.stopTaking();
  client.send(Buffer.concat(Array.from({ length: 50 }, (_, opaque) => requestFrame(105, { topic: 'none' }, { opaque }))));
  t.true(client.unsentBytes < 2000);
  client.takeAll();
  t.is(client.frames().length, 50);
});

test('name server: connections beyond the most are refused', async (t) => {
  const ns = await startServer(t, { settings: { connectionCountMax: 2 } });
  const first = ns.sockets.client();
  ns.sockets.client();
  t.true(ns.sockets.client().isClosed);
  first.close();
  t.false(ns.sockets.client().isClosed);
  t.is(ns.server.counts.refusedConnections, 1);
  t.is(ns.server.counts.connections, 2);
});

test('name server: with needWaitForService it says "not ready" until a broker is there', async (t) => {
  const ns = await startServer(t, { settings: { needWaitForService: true } });
  const early = ns.call(105, { topic: 'T1' });
  t.is(early.code, 1);
  t.is(early.remark, 'name server not ready');
  new FakeBroker(ns).register();
  t.is(ns.call(105, { topic: 'T1' }).code, 0);
  t.is(ns.call(105, { topic: 'T9' }).code, 17);
});

test('name server: with needWaitForService it waits no longer than its time', async (t) => {
  const ns = await startServer(t, { settings: { needWaitForService: true, waitSecondsForService: 3 } });
  ns.clock.advance(2999);
  t.is(ns.call(105, { topic: 'T1' }).code, 1);
  ns.clock.advance(1);
  t.is(ns.call(105, { topic: 'T1' }).code, 17);
});

test('name server: without it an unknown topic is unknown at once', async (t) => {
  const ns = await startServer(t);
  t.is(ns.call(105, { topic: 'T1' }).code, 17);
});

test('name server: an idle server has only its scan ahead, a stopped one nothing', async (t) => {
  const ns = await startServer(t);
  t.is(ns.server.deadlineMs(), 5000);
  t.is(ns.server.doWork(), 0);
  const client = ns.sockets.client();
  await ns.server.stop();
  t.is(ns.server.deadlineMs(), Number.POSITIVE_INFINITY);
  t.true(client.isClosed);
  t.throws(() => ns.sockets.client(), { message: 'nobody listens' });
});
