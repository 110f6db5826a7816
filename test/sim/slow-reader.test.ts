// A client that asks for much and reads nothing: what is made for it is bounded, however late the broker gets to its requests.
import test from 'ava';
import { RequestCodes, ResponseCodes } from '../../src/protocol/codes.ts';
import { CounterIds } from '../../src/runtime/counters.ts';
import { SimBroker } from './sim-broker.ts';

const PULL_COUNT = 1_000;
const MIB = 1_048_576;

test('slow reader: of a thousand pulls at once few are answered before it reads, then all', async (t) => {
  for (let seed = 1; seed <= 2; seed++) {
    const sim = await SimBroker.start(seed, { settings: { connectionMemoryMaxBytes: MIB } });
    const found = (): number => sim.countersOf('ingress-0').get(CounterIds.pullsFound);
    const writer = sim.client();
    writer.askSend('Orders', 0, 'm0', 64 * 1024);
    const reader = sim.client();
    reader.ask(RequestCodes.GET_MAX_OFFSET, { topic: 'Orders', queueId: 0 });
    reader.connection.pause();
    // Its requests lie there as the ingress comes to them: with one round of the event loop it gets as many as the system has taken.
    sim.runner.starve('ingress-0');
    const pulls = Array.from({ length: PULL_COUNT }, () => reader.pull('Orders', 0, 'readers', { offset: 0 }));
    sim.runner.runFor(100);
    sim.runner.feed('ingress-0');
    sim.runner.runFor(1_000);
    t.true(found() > 0 && found() < 400, `seed ${seed}: ${found()} answers were made`);
    // Others are served meanwhile.
    t.is(writer.askPull('Orders', 0, 'readers', { offset: 0 }).code, 0);
    reader.connection.resume();
    sim.runner.runUntil(() => pulls.every((pull) => reader.answers.has(pull)));
    t.true(pulls.every((pull) => reader.answers.get(pull)?.code === ResponseCodes.SUCCESS));
    sim.assertHealthy();
  }
});

test('slow reader: a thousand pulls of one connection that wait are all held, and end in time', async (t) => {
  const sim = await SimBroker.start(7);
  const client = sim.client();
  client.askSend('Orders', 0, 'm0');
  const startMs = sim.clock.steadyMs();
  const pulls = Array.from({ length: 1_000 }, () => client.pull('Orders', 0, 'readers', { offset: 1, suspendMs: 5_000 }));
  sim.runner.runFor(4_000);
  const held = (): number =>
    sim.countersOf('dispatch-0').get(CounterIds.heldPulls) + sim.countersOf('dispatch-1').get(CounterIds.heldPulls);
  t.is(held(), 1_000);
  sim.runner.runFor(2_000);
  for (const pull of pulls) {
    const answer = client.answers.get(pull);
    t.is(answer?.code, ResponseCodes.PULL_NOT_FOUND);
    t.is((answer?.atMs ?? 0) - startMs, 5_000);
  }
  sim.assertHealthy();
});

test('slow reader: messages asked for by id, and keys, come all and take turns with pulls', async (t) => {
  const sim = await SimBroker.start(11, { settings: { connectionMemoryMaxBytes: MIB } });
  const writer = sim.client();
  writer.askSend('Orders', 0, 'm0', 64 * 1024);
  const reader = sim.client();
  reader.connection.pause();
  sim.runner.starve('ingress-0');
  const asked: number[] = [];
  for (let i = 0; i < 200; i++) {
    asked.push(reader.send(RequestCodes.VIEW_MESSAGE_BY_ID, { offset: 0 }));
    asked.push(reader.send(RequestCodes.QUERY_MESSAGE, { topic: 'Orders', key: 'k', maxNum: 8, beginTimestamp: 0, endTimestamp: 9e15 }));
    asked.push(reader.pull('Orders', 0, 'readers', { offset: 0 }));
  }
  sim.runner.runFor(100);
  sim.runner.feed('ingress-0');
  sim.runner.runFor(1_000);
  t.true(sim.countersOf('ingress-0').get(CounterIds.pullsFound) < 20);
  reader.connection.resume();
  sim.runner.runUntil(() => asked.every((each) => reader.answers.has(each)));
  const codes = asked.map((each) => reader.answers.get(each)?.code);
  t.deepEqual([...new Set(codes)].sort(), [ResponseCodes.SUCCESS, ResponseCodes.QUERY_NOT_FOUND].sort());
  t.is(codes.filter((code) => code === ResponseCodes.SUCCESS).length, 400);
  sim.assertHealthy();
});
