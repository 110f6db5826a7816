// Disks that fill up: writes are refused in time and with the reason, reads go on, nothing acknowledged is lost, and writes come back by themselves.
import test from 'ava';
import { FakeClock } from '../../src/base/clock.ts';
import { decodeKvTable } from '../../src/protocol/bodies/kv-table.ts';
import { RequestCodes, ResponseCodes } from '../../src/protocol/codes.ts';
import { checkBook } from './book.ts';
import { read, start } from './full-disk-rig.ts';
import { LimitedDisk } from './limited-disk.ts';
import { Workload } from './workload.ts';

const { SERVICE_NOT_AVAILABLE } = ResponseCodes;

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

test('full disk: under a usual load no send is refused', async (t) => {
  const { sim } = await start(11);
  const work = new Workload(sim, { requestCount: 40 });
  work.start();
  sim.runner.runUntil(() => work.done);
  checkBook(sim, work.book);
  t.notThrows(() => sim.assertHealthy());
});
