// Producers and consumers in hundreds of orders: what was acknowledged is read once, in order, by everyone.
import test from 'ava';
import { assert } from '../../src/base/assert.ts';
import { SeededRandom } from '../../src/base/random.ts';
import { RequestCodes } from '../../src/protocol/codes.ts';
import { checkBook } from './book.ts';
import { QueueReader } from './queue-reader.ts';
import { SimBroker } from './sim-broker.ts';
import { Workload } from './workload.ts';

const SEED_COUNT = 200;
const RESTART_SEED_COUNT = 100;

async function runOrder(seed: number): Promise<void> {
  const random = new SeededRandom(seed);
  const sim = await SimBroker.start(seed, { ingressCount: 1 + random.below(3), dispatchCount: 1 + random.below(3) });
  const work = new Workload(sim);
  const readers = work.book.queues.flatMap(({ topic, queueId }) => [
    new QueueReader(sim.client(), topic, queueId, 'all'),
    new QueueReader(sim.client(), topic, queueId, 'tagged', 'A'),
  ]);
  for (const reader of readers) reader.start();
  work.start();
  sim.runner.runUntil(() => work.done);
  checkBook(sim, work.book);
  // Whoever waits gets the rest by arrival, and at the latest when its time is over.
  sim.runner.runFor(2_000);
  work.book.queues.forEach((queue, i) => {
    const all = readers[2 * i] as QueueReader;
    const tagged = readers[2 * i + 1] as QueueReader;
    const where = `${queue.topic}/${queue.queueId} seed=${seed}`;
    assert(
      all.offsets.every((offset, at) => offset === at),
      `offsets ${all.offsets} ${where}`,
    );
    for (const [offset, name] of queue.acked) assert(all.names[offset] === name, `${name} at ${offset}: ${all.names[offset]} ${where}`);
    const wanted = all.names.filter((name) => queue.sent.get(name) === 'A');
    assert(tagged.names.join() === wanted.join(), `tagged ${tagged.names} wanted ${wanted} ${where}`);
    assert(tagged.offset === all.offset, `both have come to the end ${tagged.offset} ${all.offset} ${where}`);
    if (all.committed >= 0) {
      const ext = { consumerGroup: 'all', setZeroIfNotFound: false };
      const committed = sim.client().askNumber(RequestCodes.QUERY_CONSUMER_OFFSET, queue.topic, queue.queueId, 'offset', ext);
      assert(committed === all.committed, `committed ${committed}, not ${all.committed} ${where}`);
    }
    all.stopped = true;
    tagged.stopped = true;
  });
  await sim.stop();
  sim.assertHealthy();
  assert(sim.fatal.length === 0, sim.fatal.join());
}

test(`orders: ${SEED_COUNT} seeds of producers and consumers`, async (t) => {
  for (let seed = 1; seed <= SEED_COUNT; seed++) await t.notThrowsAsync(runOrder(seed), `seed ${seed}`);
});

async function runKill(seed: number): Promise<void> {
  const random = new SeededRandom(seed);
  // Half of them run where they did before and trust what was written; files are written and synced so often that it matters.
  const settings = { flushIntervalConsumeQueue: 2, flushConsumeQueueThoroughInterval: 10 };
  const place = (): string => (random.below(2) === 0 ? 'here' : '');
  let sim = await SimBroker.start(seed, { settings, place: 'here' });
  let work = new Workload(sim, { prefix: `k${seed}-0` });
  const { book } = work;
  work.start();
  for (let life = 1; life <= 3; life++) {
    const steps = random.below(1_500);
    for (let i = 0; i < steps && !work.done; i++) sim.runner.step();
    sim.assertHealthy();
    const stopsInOrder = random.below(4) === 0;
    if (stopsInOrder) await sim.stop();
    const files = sim.kill();
    sim = await SimBroker.start(seed * 10 + life, { files, clock: sim.clock, settings, place: place() });
    checkBook(sim, book);
    work = new Workload(sim, { prefix: `k${seed}-${life}` }, book);
    work.start();
  }
  sim.runner.runUntil(() => work.done);
  checkBook(sim, book);
  sim.assertHealthy();
}

test(`orders: ${RESTART_SEED_COUNT} seeds of killed and restarted brokers`, async (t) => {
  for (let seed = 1; seed <= RESTART_SEED_COUNT; seed++) await t.notThrowsAsync(runKill(seed), `seed ${seed}`);
});
