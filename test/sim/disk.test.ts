// Disks that fail: nothing is acknowledged that is not stored, and what was stored is read on.
import test from 'ava';
import { RequestCodes, ResponseCodes } from '../../src/protocol/codes.ts';
import { MemoryFiles } from '../../src/store/files/memory-files.ts';
import { FaultFiles } from './fault-files.ts';
import { SimBroker } from './sim-broker.ts';
import { type Answer, bodyOf, nameOf, propertiesOf, recordsOf, type SimClient, sendFields } from './sim-client.ts';

const LOG_FOLDER = '/store/commitlog';
const INDEX_FOLDER = '/store/index';

interface Rig {
  readonly sim: SimBroker;
  readonly faults: FaultFiles;
}

async function start(seed: number, settings: Record<string, string | number>): Promise<Rig> {
  const faults = new FaultFiles(new MemoryFiles(), LOG_FOLDER);
  return { sim: await SimBroker.start(seed, { files: faults, settings }), faults };
}

test('disk: SYNC_FLUSH answers a send only after the sync of its bytes', async (t) => {
  for (let seed = 1; seed <= 20; seed++) {
    const { sim, faults } = await start(seed, { flushDiskType: 'SYNC_FLUSH' });
    const client = sim.client();
    t.is(client.askSend('Orders', 0, 'm0').code, 0);
    const before = faults.syncCount;
    sim.runner.starve('flusher');
    const waiting = client.send(RequestCodes.SEND_MESSAGE_V2, sendFields('Orders', 0, 'm1'), bodyOf('m1', 50));
    // Whoever does not wait for the disk is answered before those that do.
    const ext = { ...sendFields('Orders', 0, 'm2'), i: `${propertiesOf('m2')}WAIT\x01false\x02` };
    const quick = client.send(RequestCodes.SEND_MESSAGE_V2, ext, bodyOf('m2', 50));
    sim.runner.runFor(1_000);
    t.false(client.answers.has(waiting));
    t.is(client.answers.get(quick)?.code, 0);
    t.is(client.askNumber(RequestCodes.GET_MAX_OFFSET, 'Orders', 0), 3);
    sim.runner.feed('flusher');
    t.is(client.await(waiting).code, 0);
    t.true(faults.syncCount > before);
    t.true(sim.position('synced') >= sim.position('appended') || sim.position('synced') > 0);
    sim.assertHealthy();
  }
});

test('disk: SYNC_FLUSH gives up waiting for a slow disk at its time, to the millisecond', async (t) => {
  const { sim } = await start(3, { flushDiskType: 'SYNC_FLUSH', syncFlushTimeout: 3_000 });
  const client = sim.client();
  client.askSend('Orders', 0, 'm0');
  sim.runner.starve('flusher');
  const startMs = sim.clock.steadyMs();
  const waiting = client.send(RequestCodes.SEND_MESSAGE_V2, sendFields('Orders', 0, 'm1'), bodyOf('m1', 50));
  const answer = client.await(waiting);
  t.is(answer.code, ResponseCodes.FLUSH_DISK_TIMEOUT);
  t.is(answer.atMs - startMs, 3_000);
  sim.runner.feed('flusher');
  t.is(client.askSend('Orders', 0, 'm2').code, 0);
});

test('disk: a failed sync answers 10 to those that wait and 14 afterwards; reads go on', async (t) => {
  for (let seed = 1; seed <= 20; seed++) {
    const { sim, faults } = await start(seed, { flushDiskType: 'SYNC_FLUSH' });
    const client = sim.client();
    t.is(client.askSend('Orders', 0, 'm0').code, 0);
    faults.failsSyncs = true;
    t.is(client.askSend('Orders', 0, 'm1').code, ResponseCodes.FLUSH_DISK_TIMEOUT, `seed ${seed}`);
    faults.failsSyncs = false;
    sim.runner.runFor(1_000);
    t.is(client.askSend('Orders', 0, 'm2').code, ResponseCodes.SERVICE_NOT_AVAILABLE, `seed ${seed}`);
    t.is(recordsOf(client.askPull('Orders', 0, 'readers')).map(nameOf)[0], 'm0');
    sim.assertHealthy();
  }
});

test('disk: a failed write acknowledges nothing of its batch, then refuses; reads go on', async (t) => {
  for (let seed = 1; seed <= 20; seed++) {
    const { sim, faults } = await start(seed, {});
    const clients = [sim.client(), sim.client(), sim.client()];
    const [client] = clients as [(typeof clients)[0]];
    t.is(client.askSend('Orders', 0, 'm0').code, 0);
    faults.failsWrites = true;
    const sends = clients.map((one, i) => one.send(RequestCodes.SEND_MESSAGE_V2, sendFields('Orders', 0, `x${i}`), bodyOf('x', 50)));
    clients.forEach((one, i) => {
      t.is(one.await(sends[i] as number).code, ResponseCodes.SERVICE_NOT_AVAILABLE, `seed ${seed}`);
    });
    faults.failsWrites = false;
    t.is(client.askSend('Orders', 0, 'm1').code, ResponseCodes.SERVICE_NOT_AVAILABLE);
    t.is(client.askNumber(RequestCodes.GET_MAX_OFFSET, 'Orders', 0), 1);
    t.deepEqual(recordsOf(client.askPull('Orders', 0, 'readers')).map(nameOf), ['m0']);
    t.is(client.askPull('Orders', 0, 'readers', { offset: 1 }).code, ResponseCodes.PULL_NOT_FOUND);
    sim.assertHealthy();
    // The store that such a broker leaves holds exactly what was acknowledged.
    const next = await SimBroker.start(seed + 1000, { files: sim.kill(), clock: sim.clock });
    const reader = next.client();
    t.deepEqual(recordsOf(reader.askPull('Orders', 0, 'readers')).map(nameOf), ['m0']);
    t.is(reader.askSend('Orders', 0, 'm3').ext['queueOffset'], '1');
  }
});

test('disk: a failed sync of ASYNC_FLUSH refuses what comes after it', async (t) => {
  const { sim, faults } = await start(4, { flushCommitLogLeastPages: 0 });
  const client = sim.client();
  t.is(client.askSend('Orders', 0, 'm0').code, 0);
  faults.failsSyncs = true;
  sim.runner.runFor(1_000);
  t.is(client.askSend('Orders', 0, 'm1').code, ResponseCodes.SERVICE_NOT_AVAILABLE);
  t.deepEqual(recordsOf(client.askPull('Orders', 0, 'readers')).map(nameOf), ['m0']);
  sim.assertHealthy();
});

test('disk: an index that cannot be written stops nothing else, and the next start makes it again', async (t) => {
  for (const failsFrom of [0, 3]) {
    const settings = { maxHashSlotNum: 16, maxIndexNum: 5 };
    const faults = new FaultFiles(new MemoryFiles(), INDEX_FOLDER);
    const sim = await SimBroker.start(7, { files: faults, settings });
    const client = sim.client();
    for (let i = 0; i < 12; i++) {
      faults.failsWrites = i >= failsFrom;
      t.is(client.askSend('Orders', 0, `m${i}`).code, 0);
      sim.runner.runFor(1_000);
    }
    t.is(recordsOf(client.askPull('Orders', 0, 'readers')).length, 12);
    t.is(askByKey(client, 'm11').code, ResponseCodes.QUERY_NOT_FOUND);
    faults.failsWrites = false;
    await sim.stop();
    sim.assertHealthy();
    t.is(faults.openCount, 0);
    const next = await SimBroker.start(8, { files: sim.kill(), clock: sim.clock, settings });
    const reader = next.client();
    for (let i = 0; i < 12; i++) t.deepEqual(recordsOf(askByKey(reader, `m${i}`)).map(nameOf), [`m${i}`], `fails from ${failsFrom}`);
    next.assertHealthy();
  }
});

function askByKey(client: SimClient, key: string): Answer {
  const ext = { topic: 'Orders', key, maxNum: 10, beginTimestamp: 0, endTimestamp: Number.MAX_SAFE_INTEGER };
  return client.ask(RequestCodes.QUERY_MESSAGE, ext);
}
