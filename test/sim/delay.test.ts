// Delayed messages from send to delivery: due times to the millisecond, content, order, and what is refused.
import test from 'ava';
import { parseDelayLevels } from '../../src/core/delay-levels.ts';
import { RequestCodes, ResponseCodes } from '../../src/protocol/codes.ts';
import { CounterIds } from '../../src/runtime/counters.ts';
import { batchOf, held, namesHeld, runUntilHeld, SCHEDULE, sendDelayed, sendWith } from './delay-rig.ts';
import { SimBroker } from './sim-broker.ts';
import { sendFields } from './sim-client.ts';
import { StoreLook } from './store-look.ts';

/** Steps of a simulated broker's clock are deadlines: what is due at one is delivered by then. */
const LATE_MS_MAX = 5;
const DEFAULT_LEVELS = parseDelayLevels('1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h');

test('delay: each of the 18 levels is delivered at its due time, to the two hours of the last one', async (t) => {
  const sim = await SimBroker.start(1);
  const client = sim.client();
  for (let level = 18; level >= 1; level--) t.is(sendDelayed(client, 'T', `level${level}`, level).code, 0);
  const storedAt = DEFAULT_LEVELS.map((_, i) => held(client, SCHEDULE, i)[0]?.storeTimeMs ?? 0);
  sim.runner.runFor(500);
  t.deepEqual(held(sim.client(), 'T'), [], 'none is early');
  for (const delayMs of DEFAULT_LEVELS) {
    sim.runner.runFor(delayMs + 1_000 - (sim.clock.wallMs() - Math.max(...storedAt)));
    t.is(held(sim.client(), 'T').length, DEFAULT_LEVELS.indexOf(delayMs) + 1);
  }
  held(sim.client(), 'T').forEach((record, i) => {
    t.is(record.properties.get('UNIQ_KEY'), `level${i + 1}`);
    const lateMs = record.storeTimeMs - (storedAt[i] as number) - (DEFAULT_LEVELS[i] as number);
    t.true(lateMs >= 0 && lateMs <= LATE_MS_MAX, `level ${i + 1}: ${lateMs}`);
  });
  t.is(sim.countersOf('scheduler').get(CounterIds.records), 18);
  sim.assertHealthy();
  await sim.stop();
  // The units of the levels' queues hold the due times, as stock brokers expect them.
  const look = new StoreLook(sim.files);
  look.settings = sim.settings;
  look.expectNo('damage', 'repairable', 'note');
});

test('delay: what arrives is what was sent, under its topic and queue', async (t) => {
  const sim = await SimBroker.start(2);
  const client = sim.client();
  const properties = { TAGS: 'blue', KEYS: 'k1 k2', own: 'value', DELAY: '1', WAIT: 'true' };
  const sent = sendWith(client, 'T', 'one', properties, 1);
  t.is(sent.code, 0);
  t.is(sent.ext['queueId'], '1', 'the queue that was asked for');
  t.is(sent.ext['queueOffset'], '0');
  const [waiting] = held(client, SCHEDULE, 0);
  const [record] = runUntilHeld(sim, client, 'T', 1, 2_000, 1);
  t.truthy(record);
  t.is(record?.topic, 'T');
  t.is(record?.queueId, 1);
  t.is(record?.queueOffset, 0);
  t.is(Buffer.from(record?.body ?? []).toString(), 'one');
  t.is(record?.bornTimeMs, waiting?.bornTimeMs);
  t.is(record?.reconsumeTimes, 0);
  for (const [name, value] of Object.entries({
    ...properties,
    UNIQ_KEY: 'one',
    REAL_TOPIC: 'T',
    REAL_QID: '1',
    MSG_REGION: 'DefaultRegion',
  }))
    t.is(record?.properties.get(name), value, name);
  t.deepEqual(record?.properties, waiting?.properties);
  t.is(client.askPull('T', 1, 'readers', { tags: 'blue' }).code, 0, 'found by its tag');
  t.not(client.askPull('T', 1, 'readers', { tags: 'red' }).code, 0);
  const query = { topic: 'T', key: 'k2', maxNum: 10, beginTimestamp: 0, endTimestamp: Number.MAX_SAFE_INTEGER };
  t.is(client.ask(RequestCodes.QUERY_MESSAGE, query).code, 0, 'found by its key');
  sim.assertHealthy();
  await sim.stop();
});

test('delay: a level above the highest counts as that, 0 and below as none, text is refused (BR-33, D6)', async (t) => {
  const sim = await SimBroker.start(3);
  const client = sim.client();
  for (const [name, level] of [
    ['zero', 0],
    ['below', -1],
    ['eighteen', 18],
    ['nineteen', 19],
    ['ninetynine', 99],
  ] as const)
    t.is(sendDelayed(client, 'T', name, level).code, 0, name);
  for (const level of ['4Some-Flag', '1.5', 'one', '99999999999999999']) {
    const answer = sendDelayed(client, 'T', 'odd', level);
    t.is(answer.code, ResponseCodes.MESSAGE_ILLEGAL, level);
  }
  t.deepEqual(namesHeld(client, 'T'), ['zero', 'below']);
  t.deepEqual(namesHeld(client, SCHEDULE, 17), ['eighteen', 'nineteen', 'ninetynine']);
  t.deepEqual(
    held(client, SCHEDULE, 17).map((record) => record.properties.get('DELAY')),
    ['18', '18', '18'],
  );
  t.is(sim.countersOf('ingress-0').get(CounterIds.clampedDelays) + sim.countersOf('ingress-1').get(CounterIds.clampedDelays), 2);
  sim.assertHealthy();
  await sim.stop();
});

test('delay: a delay of 26 days does not fire now (BR-33)', async (t) => {
  const sim = await SimBroker.start(4, { settings: { messageDelayLevel: '26d 1s' } });
  const client = sim.client();
  t.is(sendDelayed(client, 'T', 'far', 1).code, 0);
  t.is(sendDelayed(client, 'T', 'near', 2).code, 0);
  runUntilHeld(sim, client, 'T', 1, 2_000);
  sim.runner.runFor(60_000);
  t.deepEqual(namesHeld(client, 'T'), ['near']);
  sim.clock.advance(26 * 86_400_000 - 62_000);
  sim.runner.wake();
  sim.runner.runFor(100);
  t.deepEqual(namesHeld(sim.client(), 'T'), ['near'], 'a second before');
  sim.runner.runFor(2_000);
  t.deepEqual(namesHeld(sim.client(), 'T'), ['near', 'far']);
  sim.assertHealthy();
  await sim.stop();
});

test('delay: within a level the order of the sends is kept, many hundreds at a time', async (t) => {
  const sim = await SimBroker.start(5);
  const client = sim.client();
  const names = Array.from({ length: 900 }, (_, i) => `m${String(i).padStart(3, '0')}`);
  for (const name of names) t.is(sendDelayed(client, 'T', name, 2).code, 0);
  const records = runUntilHeld(sim, client, 'T', names.length, 6_000);
  t.deepEqual(
    records.map((record) => record.properties.get('UNIQ_KEY')),
    names,
  );
  sim.assertHealthy();
  await sim.stop();
});

test('delay: the level wins over timers, which go; timers alone are refused', async (t) => {
  const sim = await SimBroker.start(6);
  const client = sim.client();
  const timers = { TIMER_DELAY_SEC: '9', TIMER_DELAY_MS: '9', TIMER_DELIVER_MS: '9' };
  t.is(sendWith(client, 'T', 'both', { ...timers, DELAY: '1' }).code, 0);
  t.is(sendWith(client, 'T', 'zero', { ...timers, DELAY: '0' }).code, ResponseCodes.MESSAGE_ILLEGAL);
  for (const [name, value] of Object.entries(timers))
    t.is(sendWith(client, 'T', 'alone', { [name]: value }).code, ResponseCodes.MESSAGE_ILLEGAL);
  const [record] = runUntilHeld(sim, client, 'T', 1, 2_000);
  t.deepEqual(
    [...(record?.properties.keys() ?? [])].filter((name) => name.startsWith('TIMER')),
    [],
  );
  await sim.stop();
});

test('delay: half messages with a level are refused, an old client’s retry of one is not (BR-40)', async (t) => {
  const sim = await SimBroker.start(7);
  const client = sim.client();
  t.is(sendWith(client, 'T', 'half', { TRAN_MSG: 'true', DELAY: '3' }).code, ResponseCodes.MESSAGE_ILLEGAL);
  t.is(sendWith(client, 'T', 'half', { TRAN_MSG: 'true', TIMER_DELAY_MS: '3' }).code, ResponseCodes.MESSAGE_ILLEGAL);
  t.deepEqual([...namesHeld(client, 'T'), ...namesHeld(client, SCHEDULE, 2)], []);
  await sim.stop();
});

test('delay: a batch with one delayed message is refused whole, whichever property says so (BR-44)', async (t) => {
  const sim = await SimBroker.start(8);
  const client = sim.client();
  t.is(client.askSend('T', 0, 'first').code, 0);
  for (const middle of ['DELAY', 'TIMER_DELAY_SEC', 'TIMER_DELAY_MS', 'TIMER_DELIVER_MS', 'TRAN_MSG']) {
    const value = middle === 'TRAN_MSG' ? 'true' : '1';
    const answer = client.ask(
      RequestCodes.SEND_BATCH_MESSAGE,
      sendFields('T', 0, 'batch', '', true),
      batchOf([{}, { [middle]: value }, {}]),
    );
    t.is(answer.code, ResponseCodes.MESSAGE_ILLEGAL, middle);
  }
  t.deepEqual(namesHeld(client, 'T'), ['first']);
  t.is(client.ask(RequestCodes.SEND_BATCH_MESSAGE, sendFields('T', 0, 'batch', '', true), batchOf([{}, {}])).code, 0);
  await sim.stop();
});

test('delay: nobody sends into the schedule topic by its name, and an unknown topic is made first', async (t) => {
  const sim = await SimBroker.start(9, { settings: { autoCreateTopicEnable: false } });
  const client = sim.client();
  t.is(sendDelayed(client, SCHEDULE, 'x', 1).code, ResponseCodes.NO_PERMISSION);
  t.is(sendDelayed(client, 'Unknown', 'x', 1).code, ResponseCodes.TOPIC_NOT_EXIST);
  t.is(sendDelayed(client, SCHEDULE, 'x', 0).code, ResponseCodes.NO_PERMISSION);
  await sim.stop();
});

test('delay: waiting messages show in the runtime figures, and hold nobody up', async (t) => {
  const sim = await SimBroker.start(10);
  const client = sim.client();
  sendDelayed(client, 'T', 'later', 5);
  sendDelayed(client, 'T', 'soon', 1);
  t.is(client.askSend('T', 0, 'now').code, 0);
  runUntilHeld(sim, client, 'T', 2, 2_000);
  t.deepEqual(namesHeld(client, 'T'), ['now', 'soon']);
  sim.runner.runFor(50);
  const table = client.ask(RequestCodes.GET_BROKER_RUNTIME_INFO).body.toString();
  t.regex(table, /"scheduleMessageOffset_1":"1,1"/);
  t.regex(table, /"scheduleMessageOffset_5":"0,1"/);
  t.regex(table, /"scheduleMessageOffset_18":"0,0"/);
  t.regex(table, /"ringmq.actor.scheduler.records":"1"/);
  await sim.stop();
});
