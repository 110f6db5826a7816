// Retention that takes what a pull is just about to get.
import test from 'ava';
import { FakeClock } from '../../src/base/clock.ts';
import { ResponseCodes } from '../../src/protocol/codes.ts';
import { fileError } from '../../src/store/files/node-files.ts';
import { LimitedDisk } from './limited-disk.ts';
import { HOUR_MS, hourly, minOf, namesFrom, readFrom, sendMany, start } from './retention-rig.ts';
import { SimBroker } from './sim-broker.ts';

test('retention race: a pull whose messages go between look-up and answer is asked again, and skips none that is left (BR-10)', async (t) => {
  const patient = { ...hourly, serverChannelMaxIdleTimeSeconds: 86_400 };
  for (const from of [0, 20, 45]) {
    // What is not in the window is read from files.
    const rig = await start(2, patient, { overrides: { tailWindowSizeBytes: 4_096 }, ingressCount: 1, dispatchCount: 1 });
    const { sim, clock } = rig;
    sendMany(t, sim, 0, 60);
    const client = sim.client();
    client.askPull('Orders', 0, 'readers');
    sim.runner.starve('dispatch-0');
    const pull = client.pull('Orders', 0, 'readers', { offset: from });
    sim.runner.runFor(10);
    sim.runner.starve('ingress-0');
    sim.runner.feed('dispatch-0');
    sim.runner.runFor(10);
    clock.advance(2 * HOUR_MS);
    sim.runner.wake();
    sim.runner.runFor(30_000);
    t.true(sim.position('logMin') > 0);
    sim.runner.feed('ingress-0');
    const answer = client.await(pull);
    t.is(answer.code, ResponseCodes.PULL_RETRY_IMMEDIATELY);
    t.is(answer.ext['nextBeginOffset'], String(from));
    t.is(answer.body.length, 0);
    const min = minOf(client);
    t.true(min > from);
    t.deepEqual(readFrom(t, client, from), namesFrom(min, 60));
    sim.assertHealthy();
  }
});

class StubbornDisk extends LimitedDisk {
  stubborn = false;

  override rename(from: string, to: string): void {
    this.#refuse(from);
    super.rename(from, to);
  }

  override remove(path: string): void {
    this.#refuse(path);
    super.remove(path);
  }

  #refuse(path: string): void {
    if (this.stubborn && path.startsWith('/store/commitlog/')) throw fileError('remove', path, 'EPERM');
  }
}

test('retention race: a file that cannot be taken away holds up the others, so that the row has no hole, and goes when it can', async (t) => {
  for (const restarts of [false, true]) {
    const clock = new FakeClock();
    const disk = new StubbornDisk(clock);
    const sim = await SimBroker.start(6, { files: disk, clock, settings: hourly });
    sendMany(t, sim, 0, 60);
    disk.stubborn = true;
    const files = disk.list('/store/commitlog');
    clock.advance(2 * HOUR_MS);
    sim.runner.wake();
    sim.runner.runFor(60_000);
    t.is(sim.position('logMin'), 8_192);
    t.deepEqual(disk.list('/store/commitlog'), files);
    if (restarts) {
      sim.host.fail('cleaner');
      await sim.runner.settleUntil(() => sim.host.duty.stateOf('cleaner') === 'failed');
      await sim.runner.settleUntil(() => sim.host.duty.stateOf('cleaner') === 'running');
    }
    disk.stubborn = false;
    sim.runner.runFor(90_000);
    t.true(sim.position('logMin') > 8_192);
    t.is(Number(disk.list('/store/commitlog')[0]), sim.position('logMin'));
    t.deepEqual(sim.fatal, []);
    sim.assertHealthy();
  }
});
