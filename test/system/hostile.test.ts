// Bytes that are no requests, clients that do not read, and crowds that come and go: whoever behaves notices nothing.
import { createHash, randomBytes, randomInt } from 'node:crypto';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import test, { type ExecutionContext } from 'ava';
import { RequestCodes } from '../../src/protocol/codes.ts';
import { type Program, runBroker } from './program.ts';
import { decodeMessages, textOf } from './pulled.ts';
import { frameOf, pullExt, sendExt, WireClient } from './wire-client.ts';

const MIB = 1024 * 1024;

function residentMib(program: Program): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${program.pid}/status`, 'utf8'))?.[1]) / 1024;
}

function socketCount(program: Program): number {
  const folder = `/proc/${program.pid}/fd`;
  const isSocket = (name: string): boolean => {
    try {
      return readlinkSync(`${folder}/${name}`).startsWith('socket:');
    } catch {
      return false; // closed meanwhile
    }
  };
  return readdirSync(folder).filter(isSocket).length;
}

async function eventually(check: () => boolean, limitMs = 10_000): Promise<boolean> {
  const endMs = performance.now() + limitMs;
  while (!check()) {
    if (performance.now() >= endMs) return false;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return true;
}

/** All bodies of a queue, in order. */
async function readAll(client: WireClient, topic: string, queueId: number): Promise<Buffer[]> {
  const bodies: Buffer[] = [];
  for (;;) {
    const answer = await client.pull(topic, bodies.length, { queueId });
    if (answer.code !== 0) return bodies;
    for (const message of decodeMessages(answer.body)) bodies.push(Buffer.from(message.body));
  }
}

function malformed(): Buffer[] {
  const length = (value: number): Buffer => {
    const bytes = Buffer.alloc(64);
    bytes.writeInt32BE(value, 0);
    return bytes;
  };
  const good = frameOf(RequestCodes.SEND_MESSAGE_V2, 1, sendExt('Bystander'), Buffer.from('x'));
  const codec = Buffer.from(good);
  codec[4] = 9;
  const header = Buffer.from(good);
  header.writeUIntBE(0xff_ffff, 5, 3);
  const json = Buffer.from(good);
  json.fill(0x7b, 8, 40);
  return [length(-1), length(0), length(3), length(0x7fff_ffff), length(17 * MIB), codec, header, json, Buffer.alloc(100, 0xff)];
}

test.serial('hostile: malformed frames close their own connection; a bystander loses nothing', async (t) => {
  const program = await runBroker(t);
  const port = program.portOf('broker');
  const bystander = await WireClient.for(t, port);
  let running = true;
  let sent = 0;
  const working = (async () => {
    while (running) {
      const answer = await bystander.send('Bystander', `m${sent}`);
      if (answer.code !== 0) throw new Error(answer.remark);
      sent++;
    }
  })();
  for (const bytes of malformed()) {
    const attacker = await WireClient.for(t, port);
    attacker.write(bytes);
    t.true(await attacker.waitClosed(), bytes.subarray(0, 16).toString('hex'));
  }
  for (let i = 0; i < 50; i++) {
    const attacker = await WireClient.for(t, port);
    attacker.write(randomBytes(randomInt(1, 4096)));
    attacker.close();
  }
  running = false;
  await working;
  const bodies = (await readAll(bystander, 'Bystander', 0)).map(String);
  t.deepEqual(
    bodies,
    Array.from({ length: sent }, (_, i) => `m${i}`),
  );
  t.regex(program.stdout + program.stderr, /a malformed frame closed its connection/);
  t.log(`bystander sent ${sent}`);
});

test.serial('hostile: another protocol on the port is closed, and the log says which', async (t) => {
  const program = await runBroker(t);
  const cases: [string, Buffer, RegExp][] = [
    ['HTTP', Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n'), /HTTP/],
    ['TLS', Buffer.from('16030100c8010000c40303', 'hex'), /TLS/],
    ['RESP', Buffer.from('*1\r\n$4\r\nPING\r\n'), /(RESP|Redis)/i],
  ];
  for (const [name, bytes, pattern] of cases) {
    const client = await WireClient.for(t, program.portOf('broker'));
    client.write(bytes);
    t.true(await client.waitClosed(), name);
    // Such lines are limited to one a second.
    t.true(await eventually(() => pattern.test(program.stdout + program.stderr)), name);
    await new Promise((resolve) => setTimeout(resolve, 1_050));
  }
});

test.serial('hostile: a client that does not read is not read from, and gets everything once it does', async (t) => {
  const program = await runBroker(t, { sets: { connectionMemoryMaxBytes: MIB, mappedFileSizeCommitLog: 64 * MIB } });
  const port = program.portOf('broker');
  const writer = await WireClient.for(t, port);
  for (let i = 0; i < 16; i++) t.is((await writer.send('Large', Buffer.alloc(64 * 1024, i))).code, 0);
  const slow = await WireClient.for(t, port);
  const before = process.platform === 'linux' ? residentMib(program) : 0;
  slow.socket.pause();
  const asked = Array.from({ length: 2_500 }, () => slow.call(RequestCodes.PULL_MESSAGE, pullExt('Large', 0)));
  for (let i = 0; i < 100; i++) t.is((await writer.send('Small', `m${i}`)).code, 0);
  const grown = process.platform === 'linux' ? residentMib(program) - before : 0;
  t.log(`470 MiB asked for and not read: resident grew by ${Math.round(grown)} MiB`);
  t.true(grown < 230, `grown=${grown} MiB`);
  slow.socket.resume();
  for (const answer of await Promise.all(asked)) {
    if (answer.code !== 0 || answer.body.length < 100_000) t.fail(`${answer.code} ${answer.remark} ${answer.body.length}`);
  }
  t.pass();
});

test.serial('hostile: two thousand connections that come and go leave nothing behind', async (t) => {
  const program = await runBroker(t);
  const port = program.portOf('broker');
  const client = await WireClient.for(t, port);
  t.is((await client.send('T1', 'before')).code, 0);
  const before = process.platform === 'linux' ? socketCount(program) : 0;
  for (let round = 0; round < 20; round++) {
    const crowd = await Promise.all(Array.from({ length: 100 }, () => WireClient.open(port)));
    for (const [i, each] of crowd.entries()) {
      if (i % 3 === 0) each.write(frameOf(RequestCodes.SEND_MESSAGE_V2, 1, sendExt('T1'), Buffer.from('crowd')).subarray(0, 50 + i));
      each.close();
    }
  }
  // Connections are accepted in order: once the last one has its answer, none of the crowd waits at the listener any more.
  const last = await WireClient.open(port);
  t.is((await last.send('T1', 'last')).code, 0);
  last.close();
  if (process.platform === 'linux') {
    t.true(await eventually(() => socketCount(program) <= before, 60_000), `before=${before} after=${socketCount(program)}`);
  }
  t.is((await client.send('T1', 'after')).code, 0);
});

test.serial('hostile: a silent connection is closed after its time, a talking one is not', async (t) => {
  const program = await runBroker(t, { sets: { serverChannelMaxIdleTimeSeconds: 1 } });
  const silent = await WireClient.for(t, program.portOf('broker'));
  const talking = await WireClient.for(t, program.portOf('broker'));
  const timer = setInterval(() => talking.send('T1', 'x').catch(() => {}), 200);
  t.teardown(() => clearInterval(timer));
  t.true(await silent.waitClosed(15_000));
  t.false(talking.closed);
});

function checked(size: number): Buffer {
  const body = randomBytes(size);
  return Buffer.concat([createHash('sha256').update(body).digest(), body]);
}

const isSound = (body: Buffer): boolean => createHash('sha256').update(body.subarray(32)).digest().equals(body.subarray(0, 32));

/** Sends frames in pieces that end anywhere; leaves in the middle of one when told so. */
async function sendInPieces(t: ExecutionContext, port: number, queueId: number, leave: boolean): Promise<number> {
  const client = await WireClient.for(t, port);
  const frames = Array.from({ length: 12 }, (_, i) => {
    const size = i === 5 ? 200_000 : randomInt(0, 3_000);
    const properties = `TAGS\u0001t${i}\u0002note\u0001${'p'.repeat(randomInt(0, 200))}\u0002`;
    return frameOf(RequestCodes.SEND_MESSAGE_V2, 1_000 + i, sendExt('Cut', { queueId, properties }), checked(size));
  });
  const stream = Buffer.concat(frames);
  const answers = frames.map((_, i) => client.exchange(1_000 + i, Buffer.alloc(0)));
  const end = leave ? stream.length - randomInt(1, 500) : stream.length;
  for (let at = 0; at < end; ) {
    const next = Math.min(end, at + (randomInt(4) === 0 ? randomInt(1, 40) : randomInt(1, 20_000)));
    client.write(stream.subarray(at, next));
    at = next;
    if (randomInt(3) === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  if (leave) client.socket.end();
  return (await Promise.all(answers)).filter((answer) => answer?.code === 0).length;
}

test.serial('hostile: frames cut anywhere on fifty connections keep every body whole', async (t) => {
  const program = await runBroker(t, { sets: { mappedFileSizeCommitLog: 64 * MIB } });
  const port = program.portOf('broker');
  const reader = await WireClient.for(t, port);
  t.is((await reader.createTopic('Cut', 8)).code, 0);
  const counts = await Promise.all(Array.from({ length: 50 }, (_, i) => sendInPieces(t, port, i % 8, i % 10 === 9)));
  const acknowledged = counts.reduce((sum, count) => sum + count, 0);
  const bodies: Buffer[] = [];
  for (let queueId = 0; queueId < 8; queueId++) bodies.push(...(await readAll(reader, 'Cut', queueId)));
  t.is(bodies.filter((body) => !isSound(body)).length, 0);
  t.true(bodies.length >= acknowledged && acknowledged >= 45 * 12, `stored=${bodies.length} acknowledged=${acknowledged}`);
  t.log(`stored=${bodies.length} acknowledged=${acknowledged}`);
  t.is(textOf(decodeMessages((await reader.pull('Cut', 0)).body)[0]).length > 0, true);
});
