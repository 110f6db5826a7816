// A log that is too slow: sends that it has in hand are answered as they end, those that come meanwhile are refused as busy.
import test from 'ava';
import { RequestCodes, ResponseCodes } from '../../src/protocol/codes.ts';
import { SimBroker, type SimOptions } from './sim-broker.ts';
import { bodyOf, nameOf, recordsOf, sendFields } from './sim-client.ts';

const { SYSTEM_BUSY } = ResponseCodes;

function startOne(seed: number, settings: SimOptions['settings'] = {}): Promise<SimBroker> {
  return SimBroker.start(seed, { settings, ingressCount: 1 });
}

test('busy: a send that waits for the log makes later ones busy, and is itself answered with what became of it', async (t) => {
  for (let seed = 1; seed <= 10; seed++) {
    const sim = await startOne(seed);
    const client = sim.client();
    t.is(client.askSend('Orders', 0, 'm0').code, 0);
    sim.runner.starve('commit-log');
    const waiting = client.send(RequestCodes.SEND_MESSAGE_V2, sendFields('Orders', 0, 'm1'), bodyOf('m', 10));
    sim.runner.runFor(100);
    const early = client.send(RequestCodes.SEND_MESSAGE_V2, sendFields('Orders', 0, 'm2'), bodyOf('m', 10));
    sim.runner.runFor(300);
    const late = client.askSend('Orders', 0, 'x');
    t.is(late.code, SYSTEM_BUSY);
    t.regex(late.remark ?? '', /^\[TIMEOUT_CLEAN_QUEUE\]/);
    sim.runner.runFor(1_000);
    const still = client.askSend('Orders', 0, 'x');
    t.is(still.code, SYSTEM_BUSY);
    t.regex(still.remark ?? '', /^\[PC_SYNCHRONIZED\]/);
    t.false(client.answers.has(waiting) || client.answers.has(early));
    t.is(client.askPull('Orders', 0, 'readers').code, 0, 'reads go on');
    sim.runner.feed('commit-log');
    t.is(client.await(waiting).code, 0);
    t.is(client.await(early).code, 0);
    t.is(client.askSend('Orders', 0, 'm3').code, 0);
    t.deepEqual(recordsOf(client.askPull('Orders', 0, 'readers')).map(nameOf), ['m0', 'm1', 'm2', 'm3']);
    sim.assertHealthy();
  }
});

test('busy: more sends than may wait are overload; switched off, they wait', async (t) => {
  for (const brokerFastFailureEnable of [true, false]) {
    const patient = { brokerFastFailureEnable, waitTimeMillsInSendQueue: 100_000, osPageCacheBusyTimeOutMills: 100_000 };
    const sim = await startOne(3, { ...patient, sendThreadPoolQueueCapacity: brokerFastFailureEnable ? 5 : 10_000 });
    const client = sim.client();
    t.is(client.askSend('Orders', 0, 'm0').code, 0);
    sim.runner.starve('commit-log');
    const sends = Array.from({ length: 6 }, (_, i) =>
      client.send(RequestCodes.SEND_MESSAGE_V2, sendFields('Orders', 0, `m${i + 1}`), bodyOf('m', 10)),
    );
    sim.runner.runFor(1_000);
    const next = client.send(RequestCodes.SEND_MESSAGE_V2, sendFields('Orders', 0, 'm7'), bodyOf('m', 10));
    sim.runner.runFor(1_000);
    t.is(client.answers.get(next)?.code, brokerFastFailureEnable ? SYSTEM_BUSY : undefined);
    if (brokerFastFailureEnable) t.regex(client.answers.get(next)?.remark ?? '', /^\[OVERLOAD\].*size of queue: 6, allowed=5/);
    sim.runner.feed('commit-log');
    for (const send of sends) t.is(client.await(send).code, 0);
    sim.assertHealthy();
  }
});

test('busy: a disk that is slow to sync is not a busy log', async (t) => {
  const sim = await startOne(4, { flushDiskType: 'SYNC_FLUSH' });
  const client = sim.client();
  t.is(client.askSend('Orders', 0, 'm0').code, 0);
  sim.runner.starve('flusher');
  const waiting = client.send(RequestCodes.SEND_MESSAGE_V2, sendFields('Orders', 0, 'm1'), bodyOf('m', 10));
  sim.runner.runFor(2_000);
  const later = client.send(RequestCodes.SEND_MESSAGE_V2, sendFields('Orders', 0, 'm2'), bodyOf('m', 10));
  sim.runner.runFor(500);
  sim.runner.feed('flusher');
  t.is(client.await(waiting).code, 0);
  t.is(client.await(later).code, 0);
});
