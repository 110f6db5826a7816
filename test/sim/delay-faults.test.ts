// Delayed messages on a disk that is full or broken, and records that cannot be delivered: nothing lost, repeated or blocked.
import test from 'ava';
import { FakeClock } from '../../src/base/clock.ts';
import { ErrorCodes, RingmqError } from '../../src/base/errors.ts';
import { SystemTopics } from '../../src/message/names.ts';
import { CounterIds } from '../../src/runtime/counters.ts';
import { MemoryFiles } from '../../src/store/files/memory-files.ts';
import { WatchedFiles } from '../faults/watched-files.ts';
import { held, namesHeld, runUntilHeld, SCHEDULE, sendDelayed } from './delay-rig.ts';
import { FaultFiles } from './fault-files.ts';
import { start } from './full-disk-rig.ts';
import { SimBroker } from './sim-broker.ts';

test('delay: due messages that find no room are stored when there is some, each once and in order (BR-30)', async (t) => {
  for (let seed = 1; seed <= 10; seed++) {
    const { sim, disk } = await start(seed);
    const client = sim.client();
    const names = Array.from({ length: 10 }, (_, i) => `m${i}`);
    for (const name of names) t.is(sendDelayed(client, 'T', name, 1).code, 0);
    disk.roomBytes = sim.random.below(1_500);
    sim.runner.runFor(3_000);
    const before = namesHeld(client, 'T');
    t.true(before.length < 10, `seed ${seed}`);
    disk.roomBytes = Number.POSITIVE_INFINITY;
    runUntilHeld(sim, client, 'T', 10, 5_000);
    sim.runner.runFor(3_000);
    t.deepEqual(namesHeld(client, 'T'), names, `seed ${seed}`);
    sim.assertHealthy();
    await sim.stop();
  }
});

test('delay: under a log that became read-only messages wait for a start on a sound disk', async (t) => {
  const clock = new FakeClock();
  const disk = new MemoryFiles(clock);
  const files = new FaultFiles(disk, '/store/commitlog');
  const sim = await SimBroker.start(1, { files, clock });
  const client = sim.client();
  for (let i = 0; i < 5; i++) sendDelayed(client, 'T', `m${i}`, 1);
  files.failsWrites = true;
  sim.runner.runFor(5_000);
  t.is(sim.position('readOnly'), 1);
  t.deepEqual(held(client, 'T'), []);
  await sim.stop();
  sim.assertHealthy();
  const again = await SimBroker.start(2, { files: disk, clock });
  runUntilHeld(again, again.client(), 'T', 5, 1_000);
  t.deepEqual(namesHeld(again.client(), 'T'), ['m0', 'm1', 'm2', 'm3', 'm4']);
  await again.stop();
});

test('delay: a topic with fewer queues by now gets the message in one of those', async (t) => {
  const sim = await SimBroker.start(3);
  const client = sim.client();
  client.ask(17, topicFields('Shrunk', 4));
  sendDelayed(client, 'Shrunk', 'm', 1, 3);
  client.ask(17, topicFields('Shrunk', 2));
  sim.runner.runFor(2_000);
  t.deepEqual(namesHeld(client, 'Shrunk', 1), ['m']);
  t.is(sim.countersOf('scheduler').get(CounterIds.droppedMessages), 0);
  await sim.stop();
});

function topicFields(topic: string, count: number): Record<string, string> {
  const queues = { readQueueNums: String(count), writeQueueNums: String(count) };
  return { topic, defaultTopic: 'TBW102', perm: '6', topicFilterType: 'SINGLE_TAG', topicSysFlag: '0', order: 'false', ...queues };
}

test('delay: a damaged record is dropped and counted, the others of its level come', async (t) => {
  const clock = new FakeClock();
  const disk = new MemoryFiles(clock);
  const sim = await SimBroker.start(4, { files: disk, clock, overrides: { tailWindowSizeBytes: 65_536 } });
  const client = sim.client();
  for (const name of ['before', 'broken', 'after']) sendDelayed(client, 'T', name, 4);
  const broken = held(client, SCHEDULE, 3)[1];
  // Out of the window in memory: from now on it is read from its file.
  for (let i = 0; i < 100; i++) client.askSend('Other', 0, `o${i}`, 1_000);
  const fd = disk.open('/store/commitlog/00000000000000000000', 'write');
  // In the body: the queue still leads to it, and its length is right.
  disk.write(fd, Buffer.from([0xff, 0xfe]), 0, 2, (broken?.position ?? 0) + 88);
  disk.close(fd);
  runUntilHeld(sim, client, 'T', 2, 31_000);
  sim.runner.runFor(500);
  t.deepEqual(namesHeld(client, 'T'), ['before', 'after']);
  t.is(sim.countersOf('scheduler').get(CounterIds.droppedMessages), 1);
  sim.assertHealthy();
  await sim.stop();
});

test('delay: a log file that cannot be read for a while delays its messages, no more', async (t) => {
  const clock = new FakeClock();
  const disk = new MemoryFiles(clock);
  let fails = false;
  const files = new WatchedFiles(disk, {
    before: ({ kind, path }) => {
      if (fails && kind === 'read' && path.includes('/commitlog/')) throw new RingmqError(ErrorCodes.io, 'read failed on purpose');
    },
  });
  const sim = await SimBroker.start(6, { files, clock, overrides: { tailWindowSizeBytes: 65_536 } });
  const client = sim.client();
  for (const name of ['a', 'b', 'c']) sendDelayed(client, 'T', name, 2);
  for (let i = 0; i < 100; i++) client.askSend('Other', 0, `o${i}`, 1_000);
  fails = true;
  sim.runner.runFor(8_000);
  fails = false;
  sim.runner.runFor(1_500);
  t.deepEqual(namesHeld(client, 'T'), ['a', 'b', 'c']);
  for (const name of ['d', 'e']) sendDelayed(client, 'T', name, 2);
  for (let i = 0; i < 100; i++) client.askSend('Other', 0, `p${i}`, 1_000);
  fails = true;
  // After a minute each message is given up: none holds its level up for ever.
  sim.runner.runFor(130_000);
  fails = false;
  t.is(sim.countersOf('scheduler').get(CounterIds.droppedMessages), 2);
  const later = sim.client();
  sendDelayed(later, 'T', 'f', 1);
  runUntilHeld(sim, later, 'T', 4, 2_000);
  t.deepEqual(namesHeld(later, 'T'), ['a', 'b', 'c', 'f']);
  sim.assertHealthy();
  await sim.stop();
});

test('delay: a half message in a level’s queue is dropped and counted, not delivered (BR-40)', async (t) => {
  const clock = new FakeClock();
  const disk = new MemoryFiles(clock);
  const sim = await SimBroker.start(7, { files: disk, clock, overrides: { tailWindowSizeBytes: 65_536 } });
  const client = sim.client();
  // No client can send one: its real topic becomes that of halves in the file.
  const nearly = 'RMQ_SYS_TRANS_HALF_TOPIX';
  for (const [topic, name] of [
    [nearly, 'half'],
    ['T', 'whole'],
  ] as const)
    t.is(sendDelayed(client, topic, name, 4).code, 0);
  for (let i = 0; i < 100; i++) client.askSend('Other', 0, `o${i}`, 1_000);
  const fd = disk.open('/store/commitlog/00000000000000000000', 'write');
  const bytes = Buffer.alloc(4_096);
  disk.read(fd, bytes, 0, bytes.length, 0);
  const at = bytes.indexOf(`REAL_TOPIC\x01${nearly}`);
  t.true(at > 0);
  disk.write(fd, Buffer.from('C'), 0, 1, at + 'REAL_TOPIC\x01'.length + nearly.length - 1);
  disk.close(fd);
  runUntilHeld(sim, client, 'T', 1, 31_000);
  t.is(sim.countersOf('scheduler').get(CounterIds.droppedMessages), 1);
  t.deepEqual([...namesHeld(client, SystemTopics.half), ...namesHeld(client, nearly)], []);
  sim.assertHealthy();
  await sim.stop();
});
