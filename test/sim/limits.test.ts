// Sizes at which something is full, slow, or rolls over: nothing is lost and nothing comes twice.
import test from 'ava';
import { encodeBatch } from '../../src/message/batch.ts';
import { RequestCodes, ResponseCodes } from '../../src/protocol/codes.ts';
import { CounterIds } from '../../src/runtime/counters.ts';
import { checkBook } from './book.ts';
import { SimBroker } from './sim-broker.ts';
import { bodyOf, nameOf, propertiesOf, recordsOf, type SimClient, sendFields } from './sim-client.ts';
import { Workload } from './workload.ts';

function sendBatch(client: SimClient, topic: string, queueId: number, name: string, count: number, size: number): number {
  const entries = Array.from({ length: count }, (_, i) => {
    return { flag: 0, body: bodyOf(name, size), properties: Buffer.from(propertiesOf(`${name}.${i}`)) };
  });
  return client.send(RequestCodes.SEND_BATCH_MESSAGE, sendFields(topic, queueId, name, '', true), encodeBatch(entries));
}

const overruns: readonly (readonly [string, number])[] = [
  ['a feed that overran it', 1024],
  ['a feed that still has it all', 32_768],
];
for (const [title, feedEntryCount] of overruns) {
  test(`limits: a dispatcher that was slow catches up by ${title}, and no pull sees less than was acknowledged`, async (t) => {
    for (let seed = 1; seed <= 3; seed++) {
      const sim = await SimBroker.start(seed, { overrides: { feedEntryCount }, dispatchCount: 1 });
      const client = sim.client();
      t.is(client.askSend('Orders', 0, 'first').code, 0);
      const held = client.pull('Orders', 0, 'readers', { offset: 1, suspendMs: 60_000 });
      sim.runner.runFor(10);
      sim.runner.starve('dispatch-0');
      const batches = Array.from({ length: 50 }, (_, i) => sendBatch(client, 'Orders', 0, `b${i}`, 200, 10));
      for (const batch of batches) t.is(client.await(batch).code, 0);
      const last = client.pull('Orders', 0, 'readers', { offset: 10_000 });
      const beyond = client.pull('Orders', 0, 'readers', { offset: 10_001 });
      const byTime = client.send(RequestCodes.SEARCH_OFFSET_BY_TIMESTAMP, {
        topic: 'Orders',
        queueId: 0,
        timestamp: sim.clock.wallMs() + 1,
      });
      sim.runner.runFor(10);
      sim.runner.feed('dispatch-0');
      t.deepEqual(recordsOf(client.await(last)).map(nameOf), ['b49.199']);
      t.is(client.await(beyond).code, ResponseCodes.PULL_NOT_FOUND);
      t.is(client.await(beyond).ext['nextBeginOffset'], '10001');
      t.is(client.await(byTime).ext['offset'], '10001');
      t.is(client.await(held).code, ResponseCodes.SUCCESS);
      let offset = 0;
      while (offset < 10_001) {
        const records = recordsOf(client.askPull('Orders', 0, 'readers', { offset }));
        for (const record of records) t.is(record.queueOffset, offset++);
      }
      sim.assertHealthy();
    }
  });
}

test('limits: tiny rings push back and lose nothing', async (t) => {
  let fullCount = 0;
  for (let seed = 1; seed <= 8; seed++) {
    const sim = await SimBroker.start(seed, { overrides: { appendRingSizeBytes: 65_536, maxMessageSize: 16_384 } });
    const work = new Workload(sim, { bodySizeMax: 5_000, depth: 20, requestCount: 60, batchCountMax: 3, cuts: false });
    work.start();
    // Now and then the commit log is slow.
    for (let round = 0; round < 20; round++) {
      sim.runner.starve('commit-log');
      for (let i = 0; i < 200; i++) sim.runner.step(sim.clock.steadyMs() + 1);
      sim.runner.feed('commit-log');
      for (let i = 0; i < 200; i++) sim.runner.step();
    }
    sim.runner.runUntil(() => work.done);
    for (const name of ['ingress-0', 'ingress-1']) fullCount += sim.countersOf(name).get(CounterIds.mailFull);
    checkBook(sim, work.book);
    sim.assertHealthy();
  }
  t.true(fullCount > 0, 'the ring was full');
});

test('limits: what has left the window is read from the files', async (t) => {
  const sim = await SimBroker.start(4, { overrides: { maxMessageSize: 131_072 } });
  const client = sim.client();
  const count = 60;
  for (let i = 0; i < count; i++) t.is(client.askSend('Orders', 0, `m${i}`, 50_000).code, 0);
  const names: string[] = [];
  while (names.length < count) {
    const answer = client.askPull('Orders', 0, 'readers', { offset: names.length });
    t.is(answer.code, 0);
    for (const record of recordsOf(answer)) {
      t.true(Buffer.from(record.body).equals(bodyOf(nameOf(record), 50_000)));
      names.push(nameOf(record));
    }
  }
  t.deepEqual(
    names,
    Array.from({ length: count }, (_, i) => `m${i}`),
  );
  t.true(['ingress-0', 'ingress-1'].some((name) => sim.countersOf(name).get(CounterIds.windowMisses) > 0));
  sim.assertHealthy();
});

test('limits: log files roll, also in the middle of batches, and the next life finds everything', async (t) => {
  for (let seed = 1; seed <= 10; seed++) {
    const settings = { mappedFileSizeCommitLog: 65_536, mappedFileSizeConsumeQueue: 400 };
    const sim = await SimBroker.start(seed, { settings });
    const work = new Workload(sim, { bodySizeMax: 3_000, requestCount: 30, batchCountMax: 10 });
    work.start();
    sim.runner.runUntil(() => work.done);
    checkBook(sim, work.book);
    t.true(sim.files.list(sim.settings.storePathCommitLog).length > 2);
    if (seed % 2 === 0) await sim.stop();
    const next = await SimBroker.start(seed + 100, { settings, files: sim.kill(), clock: sim.clock });
    checkBook(next, work.book);
    const more = new Workload(next, { bodySizeMax: 3_000, prefix: 'more' }, work.book);
    more.start();
    next.runner.runUntil(() => more.done);
    checkBook(next, work.book);
    sim.assertHealthy();
    next.assertHealthy();
  }
});

test('limits: a message or batch larger than a log file is refused, and others are served', async (t) => {
  const sim = await SimBroker.start(5, { settings: { mappedFileSizeCommitLog: 8_192 } });
  const client = sim.client();
  t.is(client.askSend('Orders', 0, 'm0', 20_000).code, ResponseCodes.MESSAGE_ILLEGAL);
  t.is(client.await(sendBatch(client, 'Orders', 0, 'b', 10, 2_000)).code, ResponseCodes.MESSAGE_ILLEGAL);
  t.is(client.askSend('Orders', 0, 'm1', 7_000).code, 0);
  t.deepEqual(recordsOf(client.askPull('Orders', 0, 'readers')).map(nameOf), ['m1']);
  sim.assertHealthy();
});
