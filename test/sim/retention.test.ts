// Retention in a whole broker: files go, everybody notices at once, nobody reads what is gone, and nothing goes that must not.
import test from 'ava';
import { FakeClock } from '../../src/base/clock.ts';
import { RequestCodes, ResponseCodes } from '../../src/protocol/codes.ts';
import {
  byTime,
  commit,
  FILE_SIZE,
  HOUR_MS,
  hourly,
  logFiles,
  maxOf,
  minOf,
  namesFrom,
  passHours,
  readFrom,
  sendMany,
  sizes,
  start,
  startAgain,
} from './retention-rig.ts';
import { nameOf, recordsOf } from './sim-client.ts';

test('retention: expired files go, min offsets follow at once, and a consumer below is sent to the first message left (BR-10)', async (t) => {
  for (let seed = 1; seed <= 5; seed++) {
    const rig = await start(seed);
    const { sim, disk, clock } = rig;
    sendMany(t, sim, 0, 60);
    const before = logFiles(disk).length;
    t.true(before >= 5);
    passHours(rig, 2);
    const client = sim.client();
    const min = minOf(client);
    t.true(min > 30 && min < 60, `min ${min}`);
    t.is(maxOf(client), 60);
    t.is(sim.position('logMin') % FILE_SIZE, 0);
    t.is(Number(logFiles(disk)[0]), sim.position('logMin'));
    t.deepEqual(disk.list('/store').includes('trash'), false, 'nothing is left of what was deleted');
    t.true(Number(disk.list('/store/consumequeue/Orders/0')[0]) > 0, 'queue files went too');
    const moved = client.askPull('Orders', 0, 'readers', { offset: 5 });
    t.is(moved.code, ResponseCodes.PULL_OFFSET_MOVED);
    t.is(Number(moved.ext['nextBeginOffset']), min);
    t.deepEqual(readFrom(t, client, 0), namesFrom(min, 60));
    t.is(byTime(client, 0), min, 'a time in the part that is gone');
    t.is(byTime(client, clock.wallMs()), 60);
    t.is(client.askSend('Orders', 0, 'm60', 500).ext['queueOffset'], '60');
    t.deepEqual(readFrom(t, client, min), namesFrom(min, 61));
    sim.assertHealthy();
  }
});

test('retention: while files go, a look-up by time always answers an offset that exists, and no pull skips one (BR-10)', async (t) => {
  for (let seed = 1; seed <= 5; seed++) {
    const rig = await start(seed, {
      ...hourly,
      deleteCommitLogFilesInterval: 5,
      deleteConsumeQueueFilesInterval: 5,
      cleanResourceInterval: 10,
    });
    const { sim, clock } = rig;
    const beganMs = clock.wallMs();
    sendMany(t, sim, 0, 80);
    clock.advance(2 * HOUR_MS);
    sim.runner.wake();
    const client = sim.client();
    let answered = 0;
    let asked = 0;
    const pulled: { offset: number; next: number; names: string[] }[] = [];
    let lowest = 0;
    for (let i = 0; i < 300; i++) {
      asked += 2;
      const queue = { topic: 'Orders', queueId: 0 };
      client.send(
        RequestCodes.SEARCH_OFFSET_BY_TIMESTAMP,
        { ...queue, timestamp: beganMs + sim.random.below(5_000) },
        undefined,
        (answer) => {
          const offset = Number(answer.ext['offset']);
          t.true(offset >= lowest && offset <= 80, `${offset} seed ${seed}`);
          answered++;
        },
      );
      const offset = sim.random.below(80);
      client.pull('Orders', 0, 'readers', { offset }, (answer) => {
        const names = answer.code === 0 ? recordsOf(answer).map(nameOf) : [];
        pulled.push({ offset, next: Number(answer.ext['nextBeginOffset']), names });
        answered++;
      });
      const steps = sim.random.below(60);
      for (let step = 0; step < steps; step++) sim.runner.step(clock.steadyMs() + 2);
      if (i % 20 === 0) lowest = Math.min(lowest, minOf(client));
    }
    sim.runner.runUntil(() => answered === asked);
    t.true(sim.position('logMin') > 0, 'files went meanwhile');
    const min = minOf(client);
    for (const { offset, next, names } of pulled) {
      // What is left in the end was left all the time: none of it may be passed over.
      const kept = names.filter((name) => Number(name.slice(1)) >= min);
      t.deepEqual(
        kept,
        next <= offset ? [] : namesFrom(Math.max(min, offset), Math.max(min, offset, next)),
        `seed ${seed} ${offset} ${next}`,
      );
    }
    sim.assertHealthy();
  }
});

test('retention: a deleted message is not found by id or key, one that is left is', async (t) => {
  const rig = await start(3);
  const { sim, disk } = rig;
  const sent = sim.client();
  const first = sent.askSend('Orders', 0, 'm0', 500);
  const positionOf = (msgId: string | undefined): number => Number.parseInt((msgId ?? '').slice(-16), 16);
  sendMany(t, sim, 1, 60);
  const last = sim.client().askSend('Orders', 0, 'm61', 500);
  const indexCount = disk.list('/store/index').length;
  passHours(rig, 2);
  const client = sim.client();
  const gone = client.ask(RequestCodes.VIEW_MESSAGE_BY_ID, { offset: positionOf(first.ext['msgId']) });
  t.is(gone.code, ResponseCodes.SYSTEM_ERROR);
  t.regex(gone.remark ?? '', /can not find message by the offset/);
  const left = client.ask(RequestCodes.VIEW_MESSAGE_BY_ID, { offset: positionOf(last.ext['msgId']) });
  t.deepEqual(recordsOf(left).map(nameOf), ['m61']);
  const byKey = (key: string): number =>
    client.ask(RequestCodes.QUERY_MESSAGE, { topic: 'Orders', key, maxNum: 10, beginTimestamp: 0, endTimestamp: Number.MAX_SAFE_INTEGER })
      .code;
  t.is(byKey('m1'), ResponseCodes.QUERY_NOT_FOUND);
  t.is(byKey('m61'), ResponseCodes.SUCCESS);
  t.true(disk.list('/store/index').length < indexCount, 'index files went too');
  sim.assertHealthy();
});

test('retention: what is left is the same after a restart, and the last file never goes', async (t) => {
  const first = await start(4);
  sendMany(t, first.sim, 0, 60);
  passHours(first, 2);
  const min = minOf(first.sim.client());
  const second = await startAgain(t, first);
  const client = second.sim.client();
  t.is(minOf(client), min);
  t.deepEqual(readFrom(t, client, 0), namesFrom(min, 60));
  passHours(second, 1_000);
  t.is(minOf(second.sim.client()), min, 'nothing but the last file was left');
  t.deepEqual(readFrom(t, second.sim.client(), 0), namesFrom(min, 60));
  second.sim.assertHealthy();
});

test('retention: nothing goes at another hour, unless the disk is above its ratio', async (t) => {
  const clock = new FakeClock();
  const hour = (new Date(clock.wallMs()).getHours() + 12) % 24;
  const rig = await start(5, { ...hourly, deleteWhen: String(hour) });
  sendMany(t, rig.sim, 0, 60);
  passHours(rig, 2);
  t.is(minOf(rig.sim.client()), 0);
  rig.disk.logPercent = 76;
  passHours(rig, 0);
  t.true(minOf(rig.sim.client()) > 0);
  rig.sim.assertHealthy();
});

test('retention: files go a few at a time', async (t) => {
  const rig = await start(6, { ...hourly, deleteFileBatchMax: 2, deleteCommitLogFilesInterval: 1_000 });
  const { sim, disk, clock } = rig;
  sendMany(t, sim, 0, 80);
  clock.advance(2 * HOUR_MS);
  sim.runner.wake();
  sim.runner.runUntil(() => sim.position('logMin') > 0);
  t.is(sim.position('logMin'), FILE_SIZE);
  sim.runner.runFor(900);
  t.is(sim.position('logMin'), FILE_SIZE, 'a pause between two');
  sim.runner.runFor(5_000);
  t.is(sim.position('logMin'), 2 * FILE_SIZE, 'then the batch is over');
  sim.runner.runFor(10_000);
  t.is(sim.position('logMin'), 4 * FILE_SIZE);
  t.is(Number(logFiles(disk)[0]), 4 * FILE_SIZE);
  sim.assertHealthy();
});

test('retention: what a group has not read is kept below the ratio, and goes when it has, above the ratio, or when told to', async (t) => {
  const rig = await start(7);
  sendMany(t, rig.sim, 0, 60);
  commit(t, rig.sim.client(), 20);
  rig.sim.runner.runFor(6_000);
  passHours(rig, 2);
  const min = minOf(rig.sim.client());
  t.true(min > 0 && min <= 20, `files before what is unread go, min ${min}`);
  commit(t, rig.sim.client(), 60);
  passHours(rig, 0);
  t.true(minOf(rig.sim.client()) > 20);
  rig.sim.assertHealthy();

  const full = await start(8);
  sendMany(t, full.sim, 0, 60);
  commit(t, full.sim.client(), 0);
  full.sim.runner.runFor(6_000);
  passHours(full, 2);
  t.is(minOf(full.sim.client()), 0);
  full.disk.logPercent = 76;
  passHours(full, 0);
  t.true(minOf(full.sim.client()) > 0);

  const told = await start(9, { ...hourly, deleteUnconsumed: true });
  sendMany(t, told.sim, 0, 60);
  commit(t, told.sim.client(), 0);
  told.sim.runner.runFor(6_000);
  passHours(told, 2);
  t.true(minOf(told.sim.client()) > 0);
});

test('retention: an offset of before the start is known to the cleaner, and a group that is removed keeps nothing', async (t) => {
  const first = await start(10);
  sendMany(t, first.sim, 0, 60);
  commit(t, first.sim.client(), 0);
  const rig = await startAgain(t, first);
  passHours(rig, 2);
  t.is(minOf(rig.sim.client()), 0);
  t.is(rig.sim.client().ask(RequestCodes.DELETE_SUBSCRIPTIONGROUP, { groupName: 'readers', cleanOffset: true }).code, 0);
  passHours(rig, 0);
  t.true(minOf(rig.sim.client()) > 0);
});

test('retention: without the switch a full disk deletes nothing that has not expired; with it the oldest go until it is enough', async (t) => {
  const days = { ...sizes, fileReservedTime: 72 };
  const rig = await start(11, days);
  sendMany(t, rig.sim, 0, 80);
  rig.disk.logPercent = 99;
  passHours(rig, 1);
  t.is(minOf(rig.sim.client()), 0);

  const forced = await start(12, { ...days, cleanFileForciblyEnable: true, deleteCommitLogFilesInterval: 1_000 });
  sendMany(t, forced.sim, 0, 80);
  forced.disk.logPercent = 86;
  forced.sim.runner.runUntil(() => forced.sim.position('logMin') === 2 * FILE_SIZE);
  forced.disk.logPercent = 85;
  passHours(forced, 0);
  t.is(forced.sim.position('logMin'), 2 * FILE_SIZE, 'no file more than needed');
  forced.disk.logPercent = 99;
  passHours(forced, 0);
  const client = forced.sim.client();
  t.true(maxOf(client) > minOf(client), 'the last file stays');
  t.deepEqual(readFrom(t, client, 0), namesFrom(minOf(client), 80));
  forced.sim.assertHealthy();
});

test('retention: a usage that cannot be found out deletes nothing by force (BR-59)', async (t) => {
  const clock = new FakeClock();
  const hour = (new Date(clock.wallMs()).getHours() + 12) % 24;
  const unknown = await start(14, { ...hourly, deleteWhen: String(hour), cleanFileForciblyEnable: true });
  unknown.disk.logPercent = unknown.disk.queuePercent = null;
  sendMany(t, unknown.sim, 0, 60);
  passHours(unknown, 2);
  t.is(minOf(unknown.sim.client()), 0);
  t.is(unknown.sim.client().askSend('Orders', 0, 'm60', 500).code, 0);
  unknown.sim.assertHealthy();
});

test('retention: a cleaner that is replaced goes on where the former one was', async (t) => {
  const rig = await start(20);
  const { sim, disk } = rig;
  sendMany(t, sim, 0, 60);
  sim.host.fail('cleaner');
  await sim.runner.settleUntil(() => sim.host.duty.stateOf('cleaner') === 'failed');
  await sim.runner.settleUntil(() => sim.host.duty.stateOf('cleaner') === 'running');
  rig.clock.advance(2 * HOUR_MS);
  sim.runner.wake();
  sim.runner.runFor(90_000);
  t.true(minOf(sim.client()) > 0);
  t.is(Number(logFiles(disk)[0]), sim.position('logMin'));
  t.deepEqual(sim.fatal, []);
  sim.assertHealthy();
});
