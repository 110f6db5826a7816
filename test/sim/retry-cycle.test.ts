// A message that fails again and again, from its first delivery to the dead letters, each try at its time.
import test from 'ava';
import type { MessageRecord } from '../../src/message/record-decode.ts';
import { askLock, askRetrySend, askSendBack, consumer, queueOf } from './retry-rig.ts';
import { SimBroker } from './sim-broker.ts';
import { nameOf, type SimClient } from './sim-client.ts';

/** Lateness that is allowed. */
const LATE_MS = 100;

/** The newest message of the retry queue: not there a moment before its time, there soon after it. */
function tryAfter(sim: SimBroker, client: SimClient, sinceMs: number, delayMs: number, count: number): MessageRecord {
  sim.runner.runFor(sinceMs + delayMs - sim.clock.steadyMs() - 1);
  const early = queueOf(client, '%RETRY%G').length;
  sim.runner.runFor(LATE_MS);
  const records = queueOf(client, '%RETRY%G');
  if (early !== count - 1 || records.length !== count)
    throw new Error(`try ${count} after ${delayMs} ms: ${early} before, ${records.length} then`);
  return records.at(-1) as MessageRecord;
}

test('retry cycle: sixteen tries at growing delays, each with content, origin and count, then the dead letters', async (t) => {
  const sim = await SimBroker.start(1, { settings: { serverChannelMaxIdleTimeSeconds: 86_400 } });
  const client = sim.client();
  const sent = client.askSend('Orders', 0, 'm0', 20, 'red');
  let [last] = queueOf(client, 'Orders');
  const first = last as MessageRecord;
  const delaysS = [10, 30, 60, 120, 180, 240, 300, 360, 420, 480, 540, 600, 1_200, 1_800, 3_600, 7_200];
  for (const [i, delayS] of delaysS.entries()) {
    const sinceMs = sim.clock.steadyMs();
    t.is(askSendBack(client, 'G', last?.position ?? -1, 0, { originTopic: 'Orders' }).code, 0);
    const record = tryAfter(sim, client, sinceMs, delayS * 1_000, i + 1);
    t.like(record, { topic: '%RETRY%G', reconsumeTimes: i + 1, bornTimeMs: first.bornTimeMs, flag: first.flag });
    t.deepEqual(record.body, first.body);
    for (const [name, value] of first.properties) t.is(record.properties.get(name), value, name);
    t.is(record.properties.get('RETRY_TOPIC'), 'Orders');
    t.is(record.properties.get('ORIGIN_MESSAGE_ID'), sent.ext['msgId']);
    last = record;
  }
  t.deepEqual(queueOf(client, '%DLQ%G'), []);
  t.is(askSendBack(client, 'G', last?.position ?? -1, 0, { originTopic: 'Orders' }).code, 0);
  t.deepEqual(queueOf(client, '%DLQ%G').map(nameOf), ['m0']);
  t.is(queueOf(client, '%DLQ%G')[0]?.reconsumeTimes, 17);
  await sim.stop();
  sim.assertHealthy();
});

test('retry cycle: a fall-back send comes at the level that its consumer asked for (BR-38)', async (t) => {
  const sim = await SimBroker.start(2);
  const client = sim.client();
  client.await(client.beat({ clientId: 'a', consumers: [consumer('G', { T: '*' })] }));
  const sinceMs = sim.clock.steadyMs();
  t.is(askRetrySend(client, 'G', 1, { UNIQ_KEY: 'm0', RETRY_TOPIC: 'T', DELAY: '1' }).code, 0);
  t.is(nameOf(tryAfter(sim, client, sinceMs, 1_000, 1)), 'm0');
  await sim.stop();
  sim.assertHealthy();
});

test('retry cycle: while a topic is read in order, what its consumer gives up waits for nothing (BR-35)', async (t) => {
  const sim = await SimBroker.start(3);
  const client = sim.client();
  client.askSend('Ordered', 0, 'm0');
  client.await(client.beat({ clientId: 'a', consumers: [consumer('G', { Ordered: '*' })] }));
  askLock(client, 'G', 'a', 'Ordered', 0);
  t.is(askRetrySend(client, 'G', 2, { UNIQ_KEY: 'm0', RETRY_TOPIC: 'Ordered', DELAY: '18' }).code, 0);
  t.deepEqual(queueOf(client, '%DLQ%G').map(nameOf), ['m0']);
  await sim.stop();
});
