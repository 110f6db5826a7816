// Delayed messages on a disk that is full or broken, and records that cannot be delivered: nothing lost, repeated or blocked.
import test from 'ava';
import { FakeClock } from '../../src/base/clock.ts';
import { CounterIds } from '../../src/runtime/counters.ts';
import { MemoryFiles } from '../../src/store/files/memory-files.ts';
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
  const sim = await SimBroker.start(4, { files: disk, clock, settings: {} });
  const client = sim.client();
  for (const name of ['before', 'broken', 'after']) sendDelayed(client, 'T', name, 4);
  const broken = held(client, SCHEDULE, 3)[1];
  await sim.stop();
  const path = '/store/commitlog/00000000000000000000';
  const fd = disk.open(path, 'write');
  // In the body: the queue still leads to it, and its length is right.
  const at = (broken?.position ?? 0) + 84;
  disk.write(fd, Buffer.from([0xff, 0xfe]), 0, 2, at);
  disk.close(fd);
  const again = await SimBroker.start(5, { files: disk, clock });
  runUntilHeld(again, again.client(), 'T', 2, 31_000);
  again.runner.runFor(500);
  t.deepEqual(namesHeld(again.client(), 'T'), ['before', 'after']);
  t.is(again.countersOf('scheduler').get(CounterIds.droppedMessages), 1);
  await again.stop();
});
