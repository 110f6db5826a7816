// When ASYNC_FLUSH brings the log to the disk: on its beat, with enough new pages, at a file's end, or because it has been long.
import test from 'ava';
import { MemoryFiles } from '../../src/store/files/memory-files.ts';
import { Failure } from '../faults/rules.ts';
import { WatchedFiles } from '../faults/watched-files.ts';
import { SimBroker } from './sim-broker.ts';
import type { SimClient } from './sim-client.ts';

const BEAT_MS = 500;
const PAGE_SIZE = 4_096;

interface Rig {
  readonly sim: SimBroker;
  readonly client: SimClient;
  isSynced(): boolean;
}

async function start(seed: number, settings: Record<string, string | number | boolean>, overrides = {}): Promise<Rig> {
  const sim = await SimBroker.start(seed, { settings: { flushIntervalCommitLog: BEAT_MS, ...settings }, overrides });
  const client = sim.client();
  return { sim, client, isSynced: () => sim.position('synced') === sim.position('appended') };
}

test('flush: enough new pages are synced on the next beat, fewer wait for the thorough one', async (t) => {
  const { sim, client, isSynced } = await start(1, { flushCommitLogLeastPages: 4, flushCommitLogThoroughInterval: 10_000 });
  client.askSend('Orders', 0, 'small', 100);
  sim.runner.runFor(9_000);
  t.is(sim.position('synced'), 0);
  sim.runner.runFor(1_500);
  t.true(isSynced());
  client.askSend('Orders', 0, 'large', 4 * PAGE_SIZE);
  t.false(isSynced());
  sim.runner.runFor(BEAT_MS);
  t.true(isSynced());
  // Whatever made the last sync: the long wait begins anew.
  client.askSend('Orders', 0, 'small again', 100);
  sim.runner.runFor(9_000);
  t.false(isSynced());
  sim.runner.runFor(1_500);
  t.true(isSynced());
});

test('flush: without flushCommitLogTimed enough new pages are synced at once', async (t) => {
  for (const flushCommitLogTimed of [true, false]) {
    const settings = { flushCommitLogTimed, flushCommitLogLeastPages: 2, flushIntervalCommitLog: 60_000 };
    const { sim, client, isSynced } = await start(2, settings);
    client.askSend('Orders', 0, 'small', 100);
    sim.runner.runFor(10);
    t.is(sim.position('synced'), 0);
    client.askSend('Orders', 0, 'large', 2 * PAGE_SIZE);
    sim.runner.runFor(10);
    t.is(isSynced(), !flushCommitLogTimed);
    sim.runner.runFor(60_000);
    t.true(isSynced());
  }
});

test('flush: a file that is full is synced, however few pages that are', async (t) => {
  const overrides = { mappedFileSizeCommitLog: PAGE_SIZE };
  const { sim, client, isSynced } = await start(3, { flushCommitLogLeastPages: 1_000, flushCommitLogThoroughInterval: 600_000 }, overrides);
  client.askSend('Orders', 0, 'a', 3_000);
  sim.runner.runFor(2 * BEAT_MS);
  t.is(sim.position('synced'), 0);
  client.askSend('Orders', 0, 'b', 3_000);
  sim.runner.runFor(BEAT_MS);
  t.true(isSynced());
});

test('flush: where the mark of what is written cannot be written either, reads go on', async (t) => {
  for (const path of [/abort$/, /(commitlog\/\d+|abort)$/]) {
    const failure = new Failure({ kinds: ['write'], path });
    failure.isOn = false;
    const sim = await SimBroker.start(4, { files: new WatchedFiles(new MemoryFiles(), failure), place: 'here' });
    const client = sim.client();
    t.is(client.askSend('Orders', 0, 'before').code, 0);
    failure.isOn = true;
    const code = client.askSend('Orders', 0, 'while').code;
    t.is(code === 0, String(path) === String(/abort$/), 'only a log that fails refuses');
    sim.runner.runFor(10_000);
    t.true(failure.seenCount > 0);
    t.is(client.askPull('Orders', 0, 'readers').code, 0);
    sim.assertHealthy();
  }
});
