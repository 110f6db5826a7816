// Disks that fill up: writes are refused in time and with the reason, reads go on, nothing acknowledged is lost, and writes come back by themselves.
import test, { type ExecutionContext } from 'ava';
import { FakeClock } from '../../src/base/clock.ts';
import type { Log } from '../../src/base/log.ts';
import { decodeKvTable } from '../../src/protocol/bodies/kv-table.ts';
import { RequestCodes, ResponseCodes } from '../../src/protocol/codes.ts';
import { checkBook } from './book.ts';
import { LimitedDisk } from './limited-disk.ts';
import { SimBroker, type SimOptions } from './sim-broker.ts';
import { bodyOf, nameOf, recordsOf, type SimClient, sendFields } from './sim-client.ts';
import { Workload } from './workload.ts';

const { SERVICE_NOT_AVAILABLE } = ResponseCodes;
const FILE_SIZE = 65_536;

interface Rig {
  readonly sim: SimBroker;
  readonly disk: LimitedDisk;
  readonly clock: FakeClock;
  readonly lines: string[];
}

function noteLog(lines: string[]): Log {
  const at =
    (level: string) =>
    (message: string): void => {
      lines.push(`${level}: ${message}`);
    };
  const log: Log = { debug: () => {}, info: at('info'), warn: at('warn'), error: at('error'), scoped: () => log };
  return log;
}

async function start(seed: number, options: SimOptions & { folder?: string } = {}): Promise<Rig> {
  const clock = options.clock ?? new FakeClock();
  const disk = (options.files as LimitedDisk | undefined) ?? new LimitedDisk(clock, options.folder);
  const lines: string[] = [];
  return { sim: await SimBroker.start(seed, { log: noteLog(lines), ...options, files: disk, clock }), disk, clock, lines };
}

function read(t: ExecutionContext, client: SimClient, queueId = 0): string[] {
  const names: string[] = [];
  for (let offset = 0; ; ) {
    const answer = client.askPull('Orders', queueId, 'readers', { offset });
    if (answer.code !== ResponseCodes.SUCCESS) {
      t.is(answer.code, ResponseCodes.PULL_NOT_FOUND);
      return names;
    }
    names.push(...recordsOf(answer).map(nameOf));
    offset = Number(answer.ext['nextBeginOffset']);
  }
}

test('full disk: reasons are a set: one that goes leaves the other, and without any writes come back by themselves (BR-61)', async (t) => {
  const { sim, disk, lines } = await start(1);
  const client = sim.client();
  t.is(client.askSend('Orders', 0, 'm0').code, 0);
  sim.runner.runFor(2_000);
  disk.logPercent = disk.queuePercent = 95;
  sim.runner.runFor(1_100);
  const both = client.askSend('Orders', 0, 'm1');
  t.is(both.code, SERVICE_NOT_AVAILABLE);
  t.regex(both.remark ?? '', /commit log is full used=95%.*consume queues is full used=95% allowed=90%/);
  disk.logPercent = 50;
  sim.runner.runFor(1_100);
  const one = client.askSend('Orders', 0, 'm2');
  t.is(one.code, SERVICE_NOT_AVAILABLE);
  t.notRegex(one.remark ?? '', /commit log/);
  t.deepEqual(read(t, client), ['m0'], 'reads go on');
  const info = decodeKvTable(client.ask(RequestCodes.GET_BROKER_RUNTIME_INFO).body);
  t.true(info.ok);
  if (info.ok) {
    t.is(info.value.get('consumeQueueDiskRatio'), '0.95');
    t.is(info.value.get('commitLogDiskRatio'), '0.5');
    t.regex(info.value.get('ringmq.writesRefused') ?? '', /consume queues is full/);
  }
  disk.queuePercent = 90;
  sim.runner.runFor(1_100);
  t.is(client.askSend('Orders', 0, 'm3').code, 0);
  t.deepEqual(read(t, client), ['m0', 'm3']);
  t.is(lines.filter((line) => /is full/.test(line)).length, 2);
  t.is(lines.filter((line) => /there is room again/.test(line)).length, 1);
  sim.assertHealthy();
});

test('full disk: measuring does not wait for deleting: a cleaner that is stuck leaves the refusal in time (BR-57)', async (t) => {
  const settings = { mappedFileSizeCommitLog: 8_192, fileReservedTime: 1, cleanResourceInterval: 1_000 };
  const { sim, disk, clock } = await start(2, { settings });
  for (let i = 0; i < 60; i++) t.is(sim.client().askSend('Orders', 0, `m${i}`, 500).code, 0);
  sim.runner.runFor(61_000);
  disk.logPercent = 80;
  clock.advance(2 * 3_600_000);
  sim.runner.wake();
  sim.runner.runUntil(() => sim.position('logMin') > 0);
  // In the midst of deleting its thread stands still.
  sim.runner.starve('cleaner');
  const client = sim.client();
  const atMs = clock.steadyMs();
  disk.logPercent = 91;
  let refusedMs = -1;
  for (let i = 0; refusedMs < 0 && i < 200; i++) {
    sim.runner.runFor(10);
    if (client.askSend('Orders', 0, `x${i}`, 500).code === SERVICE_NOT_AVAILABLE) refusedMs = clock.steadyMs() - atMs;
  }
  t.true(refusedMs >= 0 && refusedMs <= 1_010, `refused after ${refusedMs} ms`);
  disk.logPercent = 80;
  sim.runner.feed('cleaner');
  sim.runner.runFor(20_000);
  t.is(sim.client().askSend('Orders', 0, 'last', 500).code, 0);
  sim.assertHealthy();
});

test('full disk: a start on one serves reads, refuses writes with the reason, and deletes nothing (BR-60)', async (t) => {
  const first = await start(3, { settings: { mappedFileSizeCommitLog: 8_192 } });
  for (let i = 0; i < 40; i++) t.is(first.sim.client().askSend('Orders', 0, `m${i}`, 500).code, 0);
  await first.sim.stop();
  const { disk, clock } = first;
  disk.logPercent = disk.queuePercent = 99;
  disk.roomBytes = 0;
  const files = disk.list('/store/commitlog');
  const { sim, lines } = await start(4, { files: disk, clock, settings: { mappedFileSizeCommitLog: 8_192 } });
  const client = sim.client();
  const refused = client.askSend('Orders', 0, 'x');
  t.is(refused.code, SERVICE_NOT_AVAILABLE, 'the very first send');
  t.regex(refused.remark ?? '', /used=99% allowed=90%/);
  t.is(read(t, client).length, 40);
  sim.runner.runFor(120_000);
  t.deepEqual(disk.list('/store/commitlog'), files);
  t.true(lines.some((line) => /^error: .*is full/.test(line)));
  disk.logPercent = disk.queuePercent = 50;
  disk.roomBytes = Number.POSITIVE_INFINITY;
  sim.runner.runFor(1_100);
  t.is(sim.client().askSend('Orders', 0, 'm40').code, 0);
  sim.assertHealthy();
});

test('full disk: a start that finds no room even for its marker serves reads and refuses writes (BR-60)', async (t) => {
  const first = await start(5, { folder: '/store/abort' });
  t.is(first.sim.client().askSend('Orders', 0, 'm0').code, 0);
  await first.sim.stop();
  const { disk, clock } = first;
  disk.roomBytes = 0;
  const { sim } = await start(6, { files: disk, clock });
  const client = sim.client();
  t.is(client.askSend('Orders', 0, 'x').code, SERVICE_NOT_AVAILABLE);
  t.deepEqual(read(t, client), ['m0']);
  await sim.stop();
  disk.roomBytes = 100;
  const next = await start(7, { files: disk, clock });
  t.is(next.sim.client().askSend('Orders', 0, 'm1').code, 0);
  t.deepEqual(read(t, next.sim.client()), ['m0', 'm1']);
});

test('full disk: a usage that cannot be found out refuses nothing, and is told once (BR-59)', async (t) => {
  const clock = new FakeClock();
  const disk = new LimitedDisk(clock);
  disk.logPercent = disk.queuePercent = null;
  const { sim, lines } = await start(8, { files: disk, clock });
  sim.runner.runFor(10_000);
  t.is(sim.client().askSend('Orders', 0, 'm0').code, 0);
  t.is(lines.filter((line) => /how full a disk is cannot be found out/.test(line)).length, 1);
});

test('full disk: a write without room is undone: refused, not stored, no offset used, and writes come back (BR-58)', async (t) => {
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

test('full disk: 20 seeds of a disk that fills and empties under load: all that was acknowledged is there, in its place (BR-58)', async (t) => {
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

test('full disk: queue files without room stop no broker: what they have is served, and the rest comes when there is room (BR-58)', async (t) => {
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

test('full disk: under a usual load no send is refused', async (t) => {
  const { sim } = await start(11);
  const work = new Workload(sim, { requestCount: 40 });
  work.start();
  sim.runner.runUntil(() => work.done);
  checkBook(sim, work.book);
  t.notThrows(() => sim.assertHealthy());
});
