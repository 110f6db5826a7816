// The simulation itself: the same seed gives the same run to the last byte, another seed another order.
import test from 'ava';
import { RequestCodes } from '../../src/protocol/codes.ts';
import type { Files } from '../../src/store/files/files.ts';
import { QueueReader } from './queue-reader.ts';
import { SimBroker } from './sim-broker.ts';
import { nameOf, recordsOf } from './sim-client.ts';
import { Workload } from './workload.ts';

test('sim: a broker starts, takes a message, gives it back, and stops in order', async (t) => {
  const sim = await SimBroker.start(1);
  const client = sim.client();
  const sent = client.askSend('Orders', 1, 'm1');
  t.is(sent.code, 0, sent.remark);
  t.is(sent.ext['queueOffset'], '0');
  t.is(client.askNumber(RequestCodes.GET_MAX_OFFSET, 'Orders', 1), 1);
  const pulled = client.askPull('Orders', 1, 'readers');
  t.is(pulled.code, 0);
  t.deepEqual(recordsOf(pulled).map(nameOf), ['m1']);
  await sim.stop();
  sim.assertHealthy();
  t.deepEqual(sim.fatal, []);
});

interface Run {
  readonly trace: string;
  readonly log: Buffer;
  readonly stepCount: number;
}

async function run(seed: number): Promise<Run> {
  const sim = await SimBroker.start(seed);
  const work = new Workload(sim, { prefix: 'same' });
  const readers = work.book.queues.map(({ topic, queueId }) => new QueueReader(sim.client(), topic, queueId, 'all'));
  for (const reader of readers) reader.start();
  work.start();
  sim.runner.runUntil(() => work.done);
  sim.runner.runFor(500);
  await sim.stop();
  return { trace: sim.runner.trace, log: logBytes(sim.files, sim.settings.storePathCommitLog), stepCount: sim.runner.stepCount };
}

function logBytes(files: Files, folder: string): Buffer {
  const parts = files.list(folder).map((name) => {
    const fd = files.open(`${folder}/${name}`, 'read');
    const bytes = Buffer.alloc(128 * 1024);
    files.read(fd, bytes, 0, bytes.length, 0);
    files.close(fd);
    return bytes;
  });
  return Buffer.concat(parts);
}

test('sim: one seed, one run: the same steps and the same bytes in the log', async (t) => {
  for (const seed of [7, 8, 9]) {
    const first = await run(seed);
    const second = await run(seed);
    t.is(second.trace, first.trace);
    t.is(second.stepCount, first.stepCount);
    t.true(second.log.equals(first.log));
    t.true(first.log.some((byte) => byte !== 0));
  }
});

test('sim: other seeds, other orders', async (t) => {
  const runs = await Promise.all([11, 12, 13, 14].map(run));
  t.is(new Set(runs.map((one) => one.trace)).size, runs.length);
  t.true(runs.some((one) => !one.log.equals((runs[0] as Run).log)));
});
