// Writes that find no room: each kind of file is where it was, nothing acknowledged is lost, and all goes on once there is room.
import test from 'ava';
import { RequestCodes, ResponseCodes } from '../../src/protocol/codes.ts';
import { read, start } from './full-disk-rig.ts';
import { bodyOf, nameOf, recordsOf, sendFields } from './sim-client.ts';

const { SERVICE_NOT_AVAILABLE } = ResponseCodes;
const FILE_SIZE = 65_536;

test('no room: a write without room is undone: refused, not stored, no offset used, and writes come back (BR-58)', async (t) => {
  for (let seed = 1; seed <= 20; seed++) {
    const { sim, disk, clock } = await start(seed);
    const clients = [sim.client(), sim.client(), sim.client()];
    const [client] = clients as [(typeof clients)[0]];
    t.is(client.askSend('Orders', 0, 'm0', 300).code, 0);
    // Some bytes still fit: whole records of those that are refused, or parts of one.
    disk.roomBytes = sim.random.below(1_500);
    const codes: number[] = [];
    const refused: string[] = [];
    clients.forEach((one, i) => {
      one.send(RequestCodes.SEND_MESSAGE_V2, sendFields('Orders', 0, `x${i}`), bodyOf('x', 300), (answer) => {
        codes.push(answer.code);
        if (answer.code !== 0) refused.push(`x${i}`);
        if (answer.code !== 0) t.regex(answer.remark ?? '', /has no room/);
      });
    });
    sim.runner.runUntil(() => codes.length === 3);
    t.true(codes.includes(SERVICE_NOT_AVAILABLE), `seed ${seed} room was enough`);
    t.is(sim.position('readOnly'), 0);
    const stored = 4 - refused.length;
    t.is(client.askNumber(RequestCodes.GET_MAX_OFFSET, 'Orders', 0), stored);
    const before = read(t, client);
    t.is(before.length, stored, 'reads go on');
    disk.roomBytes = Number.POSITIVE_INFINITY;
    sim.runner.runFor(1_000);
    // Of the same size as a refused one: its end is where that one's was.
    const answer = client.askSend('Orders', 0, 'y0', 300);
    t.is(answer.code, 0, `seed ${seed} ${answer.remark}`);
    t.is(Number(answer.ext['queueOffset']), stored);
    t.deepEqual(read(t, client), [...before, 'y0']);
    sim.assertHealthy();
    // After a crash nothing of the refused messages is found behind the last one.
    const next = await start(seed + 1_000, { files: disk, clock });
    t.deepEqual(read(t, next.sim.client()), [...before, 'y0'], `seed ${seed}`);
    t.is(Number(next.sim.client().askSend('Orders', 0, 'y1', 300).ext['queueOffset']), stored + 1);
    next.sim.assertHealthy();
  }
});

test('no room: 20 seeds of a disk that fills and empties under load: all that was acknowledged is there, in its place (BR-58)', async (t) => {
  let refusedCount = 0;
  for (let seed = 1; seed <= 20; seed++) {
    const { sim, disk, clock } = await start(seed, { settings: { mappedFileSizeCommitLog: FILE_SIZE } });
    const opener = sim.client();
    t.is(opener.askSend('Orders', 0, 'first').code, 0);
    const acked = new Map<number, string>([[0, 'first']]);
    let answered = 0;
    let sent = 0;
    const producers = [sim.client(), sim.client(), sim.client()];
    for (let round = 0; round < 60; round++) {
      disk.roomBytes = sim.random.below(3) === 0 ? sim.random.below(8_000) : Number.POSITIVE_INFINITY;
      for (const producer of producers) {
        const name = `r${round}.${sent++}`;
        const size = 1 + sim.random.below(3_000);
        producer.send(RequestCodes.SEND_MESSAGE_V2, sendFields('Orders', 0, name), bodyOf(name, size), (answer) => {
          answered++;
          if (answer.code === 0) acked.set(Number(answer.ext['queueOffset']), name);
          else {
            refusedCount++;
            t.is(answer.code, SERVICE_NOT_AVAILABLE);
          }
        });
      }
      sim.runner.runFor(sim.random.below(700));
    }
    disk.roomBytes = Number.POSITIVE_INFINITY;
    sim.runner.runUntil(() => answered === sent);
    const expected = Array.from({ length: acked.size }, (_, offset) => acked.get(offset));
    t.deepEqual(read(t, sim.client()), expected as string[], `seed ${seed}`);
    sim.assertHealthy();
    const next = await start(seed + 1_000, { files: disk, clock, settings: { mappedFileSizeCommitLog: FILE_SIZE } });
    t.deepEqual(read(t, next.sim.client()), expected as string[], `seed ${seed} after a crash`);
  }
  t.true(refusedCount > 100, `${refusedCount} refused`);
});

test('no room: queue files without room stop no broker: what they have is served, and the rest comes when there is room (BR-58)', async (t) => {
  const { sim, disk, clock } = await start(9, { folder: '/store/consumequeue', settings: { mappedFileSizeConsumeQueue: 400 } });
  const client = sim.client();
  t.is(client.askSend('Orders', 0, 'm0').code, 0);
  sim.runner.runFor(2_000);
  disk.roomBytes = 0;
  for (let i = 1; i < 200; i++) t.is(client.askSend('Orders', 0, `m${i}`).code, 0);
  sim.runner.runFor(5_000);
  const some = read(t, client);
  t.true(some.length >= 64 && some.length < 200, `${some.length} served`);
  t.is(client.askPull('Orders', 0, 'readers', { offset: 200 }).code, ResponseCodes.PULL_NOT_FOUND, 'the end that the log knows');
  t.is(client.askSend('Bills', 0, 'b0').code, 0);
  disk.roomBytes = Number.POSITIVE_INFINITY;
  sim.runner.runFor(2_000);
  t.deepEqual(
    read(t, client),
    Array.from({ length: 200 }, (_, i) => `m${i}`),
  );
  t.deepEqual(recordsOf(client.askPull('Bills', 0, 'readers')).map(nameOf), ['b0']);
  t.deepEqual(sim.fatal, []);
  sim.assertHealthy();
  await sim.stop();
  const next = await start(10, { files: disk, clock, settings: { mappedFileSizeConsumeQueue: 400 } });
  t.is(read(t, next.sim.client()).length, 200);
});

test('no room: an index without room comes back by itself, and keeps the files that were full', async (t) => {
  const settings = { maxHashSlotNum: 16, maxIndexNum: 10 };
  const { sim, disk } = await start(12, { folder: '/store/index', settings });
  const client = sim.client();
  const send = (from: number, to: number): void => {
    for (let i = from; i < to; i++) t.is(client.askSend('Orders', 0, `m${i}`).code, 0);
    sim.runner.runFor(1_000);
  };
  const isFound = (key: string): boolean => {
    const span = { maxNum: 10, beginTimestamp: 0, endTimestamp: Number.MAX_SAFE_INTEGER };
    return client.ask(RequestCodes.QUERY_MESSAGE, { topic: 'Orders', key, ...span }).code === 0;
  };
  send(0, 40);
  const full = disk.list('/store/index').slice(0, -1);
  t.is(full.length, 4);
  disk.roomBytes = 0;
  send(40, 60);
  sim.runner.runFor(60_000);
  t.false(isFound('m59'));
  t.deepEqual(
    full.filter((name) => !disk.list('/store/index').includes(name)),
    [],
    'however often it is tried',
  );
  disk.roomBytes = Number.POSITIVE_INFINITY;
  sim.runner.runFor(11_000);
  send(60, 61);
  for (let i = 0; i < 61; i++) t.true(isFound(`m${i}`), `m${i}`);
  t.deepEqual(sim.fatal, []);
  sim.assertHealthy();
});
