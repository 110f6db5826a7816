// Look-ups by time and by key, with clocks that step, ties, file borders, and a log that has lost its oldest files.
import test from 'ava';
import { FakeClock } from '../../src/base/clock.ts';
import { RequestCodes, ResponseCodes } from '../../src/protocol/codes.ts';
import { SimBroker, type SimOptions } from './sim-broker.ts';
import { nameOf, recordsOf, type SimClient } from './sim-client.ts';

const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;

function searchAt(client: SimClient, timeMs: number, boundaryType?: string): number {
  const more = boundaryType === undefined ? {} : { boundaryType };
  return client.askNumber(RequestCodes.SEARCH_OFFSET_BY_TIMESTAMP, 'Orders', 0, 'offset', { timestamp: timeMs, ...more });
}

/** Store times of a queue from an offset on. */
function timesFrom(client: SimClient, offset: number): number[] {
  const times: number[] = [];
  for (;;) {
    const answer = client.askPull('Orders', 0, 'readers', { offset });
    if (answer.code !== ResponseCodes.SUCCESS) return times;
    times.push(...recordsOf(answer).map((record) => record.storeTimeMs));
    offset = Number(answer.ext['nextBeginOffset']);
  }
}

test('times: ties, times between, behind the last, and over a file border (BR-09)', async (t) => {
  // Two units a file: the border lies between the ties.
  const options: SimOptions = { overrides: { mappedFileSizeConsumeQueue: 40 } };
  let sim = await SimBroker.start(1, options);
  const client = sim.client();
  t.is(client.askNumber(RequestCodes.SEARCH_OFFSET_BY_TIMESTAMP, 'Orders', 0, 'offset', { timestamp: 0 }), 0);
  const sends = (names: readonly string[]): void => {
    for (const name of names) t.is(client.askSend('Orders', 0, name).code, 0);
  };
  sends(['m0', 'm1', 'm2']);
  const timeMs = sim.clock.wallMs();
  sim.runner.runFor(2);
  sends(['m3', 'm4']);
  t.deepEqual(timesFrom(client, 0), [timeMs, timeMs, timeMs, timeMs + 2, timeMs + 2]);
  const check = (one: SimClient, how: string): void => {
    const times = [-1, 0, 1, 2, 3].map((delta) => timeMs + delta);
    t.deepEqual(
      times.map((time) => searchAt(one, time)),
      [0, 0, 3, 3, 5],
      how,
    );
    t.deepEqual(
      times.map((time) => searchAt(one, time, 'LOWER')),
      [0, 0, 3, 3, 5],
      how,
    );
    // The last message at or before the time; the first one where none is.
    t.deepEqual(
      times.map((time) => searchAt(one, time, 'UPPER')),
      [0, 2, 2, 4, 4],
      how,
    );
    t.is(searchAt(one, 0), 0);
    t.is(searchAt(one, Number.MAX_SAFE_INTEGER), 5);
    t.is(one.askNumber(RequestCodes.SEARCH_OFFSET_BY_TIMESTAMP, 'Orders', 1, 'offset', { timestamp: timeMs }), 0, 'an empty queue');
  };
  check(client, 'from memory');
  sim.runner.runFor(5_000);
  check(client, 'with files');
  await sim.stop();
  sim = await SimBroker.start(2, { ...options, files: sim.kill(), clock: sim.clock });
  check(sim.client(), 'from files');
  sim.assertHealthy();
});

test('times: where the oldest files are gone each look-up stays between min and max, and a stale consumer goes on (BR-10)', async (t) => {
  for (const end of ['stop', 'kill'] as const) {
    const options: SimOptions = { overrides: { mappedFileSizeCommitLog: 8_192, mappedFileSizeConsumeQueue: 400 } };
    const first = await SimBroker.start(3, options);
    const sender = first.client();
    const times: number[] = [];
    for (let i = 0; i < 120; i++) {
      t.is(sender.askSend('Orders', 0, `m${i}`, 200).code, 0);
      times.push(first.clock.wallMs());
      first.runner.runFor(3);
    }
    if (end === 'stop') await first.stop();
    const files = first.kill();
    const folder = first.settings.storePathCommitLog;
    for (const name of files.list(folder).slice(0, 2)) files.remove(`${folder}/${name}`);
    const sim = await SimBroker.start(4, { ...options, files, clock: first.clock });
    const client = sim.client();
    const min = client.askNumber(RequestCodes.GET_MIN_OFFSET, 'Orders', 0);
    const max = client.askNumber(RequestCodes.GET_MAX_OFFSET, 'Orders', 0);
    t.true(min > 20 && min < 100, `${min}`);
    t.is(max, 120);
    times.forEach((timeMs, offset) => {
      for (const delta of [-1, 0, 1]) {
        const found = searchAt(client, timeMs + delta);
        t.is(found, Math.max(min, delta > 0 ? offset + 1 : offset), `${end} ${offset} ${delta}`);
        const upper = searchAt(client, timeMs + delta, 'UPPER');
        t.is(upper, Math.max(min, delta < 0 ? offset - 1 : offset), `${end} upper ${offset} ${delta}`);
      }
    });
    let offset = 10;
    let answers = 0;
    for (const seen: string[] = []; offset < max; answers++) {
      const answer = client.askPull('Orders', 0, 'readers', { offset });
      const next = Number(answer.ext['nextBeginOffset']);
      if (answers === 0) {
        t.is(answer.code, ResponseCodes.PULL_OFFSET_MOVED);
        t.is(next, min);
      } else {
        t.is(answer.code, ResponseCodes.SUCCESS);
        seen.push(...recordsOf(answer).map(nameOf));
        t.is(seen[0], `m${min}`);
      }
      t.true(next > offset);
      offset = next;
    }
    sim.assertHealthy();
  }
});

test('times: a clock that was 25 years ahead and one that steps by hours: all is registered, stored in order, and found (BR-62)', async (t) => {
  const clock = new FakeClock(1_700_000_000_000 + 25 * YEAR_MS);
  const first = await SimBroker.start(5, { clock });
  for (let i = 0; i < 10; i++) t.is(first.client().askSend('Orders', 0, `far${i}`).code, 0);
  await first.stop();
  clock.stepWall(-25 * YEAR_MS);
  const sim = await SimBroker.start(6, { clock, files: first.kill() });
  const client = sim.client();
  for (const stepMs of [0, -HOUR_MS, HOUR_MS, HOUR_MS, -2 * HOUR_MS]) {
    clock.stepWall(stepMs);
    const held = client.pull('Orders', 1, 'waiting', { suspendMs: 1_000 });
    const beganMs = clock.steadyMs();
    for (let i = 0; i < 2; i++) t.is(client.askSend('Orders', 0, `near${stepMs}${i}`).code, 0);
    clock.stepWall(-stepMs);
    clock.stepWall(stepMs);
    const answer = client.await(held);
    t.true(answer.atMs - beganMs >= 1_000 && answer.atMs - beganMs < 1_100, `a wait of a second took ${answer.atMs - beganMs} ms`);
  }
  const times = timesFrom(client, 0);
  t.is(times.length, 20);
  times.forEach((timeMs, offset) => {
    t.true(offset === 0 || timeMs >= (times[offset - 1] as number), 'store times do not decrease');
    t.is(searchAt(client, timeMs), times.indexOf(timeMs));
    t.is(searchAt(client, timeMs, 'UPPER'), times.lastIndexOf(timeMs));
  });
  t.is(searchAt(client, clock.wallMs()), 0, 'all was stored later than now, as far as anybody can tell');
  // A topic made now is newer to the name server than all that was told from the future.
  t.is(client.askSend('Bills', 0, 'b0').code, 0);
  sim.runner.runFor(1_000);
  const route = sim.client(sim.position('namesrvPort')).ask(RequestCodes.GET_ROUTEINFO_BY_TOPIC, { topic: 'Bills' });
  t.is(route.code, ResponseCodes.SUCCESS);
  sim.assertHealthy();
});

test('times: a clock that is ahead only for a while does not hold later lives back (BR-62)', async (t) => {
  const sim = await SimBroker.start(7);
  const client = sim.client();
  t.is(client.askSend('Orders', 0, 'm0').code, 0);
  const startMs = sim.clock.wallMs();
  sim.clock.stepWall(HOUR_MS);
  t.is(client.askSend('Orders', 0, 'm1').code, 0);
  sim.clock.stepWall(-HOUR_MS);
  t.is(client.askSend('Orders', 0, 'm2').code, 0);
  sim.clock.stepWall(2 * HOUR_MS);
  t.is(client.askSend('Orders', 0, 'm3').code, 0);
  const times = timesFrom(client, 0);
  t.true(times.every((timeMs, i) => i === 0 || timeMs >= (times[i - 1] as number)));
  t.true((times[3] as number) >= startMs + 2 * HOUR_MS, 'times follow the clock again once it has come so far');
  t.is(searchAt(client, startMs + HOUR_MS + 1), 3);
});

test('times: a query by unique key finds a message at once, with a client whose clock is ahead, by either id, across midnight (BR-63)', async (t) => {
  const noon = new Date(2024, 4, 6, 23, 59, 59, 700).getTime();
  for (const skewMs of [-1_500, -100, 0, 1_500]) {
    const clock = new FakeClock(noon);
    const sim = await SimBroker.start(8, { clock, overrides: { maxHashSlotNum: 16, maxIndexNum: 4 } });
    const client = sim.client();
    for (let i = 0; i < 12; i++) {
      const name = `key${i}`;
      const clientMs = clock.wallMs() - skewMs;
      const sent = client.askSend('Orders', 0, name);
      t.is(sent.code, 0);
      const ext = { topic: 'Orders', key: name, maxNum: 32, beginTimestamp: clientMs, endTimestamp: Number.MAX_SAFE_INTEGER };
      const byKey = client.ask(RequestCodes.QUERY_MESSAGE, { ...ext, _UNIQUE_KEY_QUERY: true });
      t.deepEqual(recordsOf(byKey).map(nameOf), [name], `skew ${skewMs} message ${i}`);
      const id = sent.ext['msgId'] ?? '';
      const byId = client.ask(RequestCodes.VIEW_MESSAGE_BY_ID, { offset: Number.parseInt(id.slice(-16), 16), topic: 'Orders' });
      t.deepEqual(recordsOf(byId).map(nameOf), [name]);
      sim.runner.runFor(100);
    }
    t.true(sim.files.list('/store/index').length > 2);
    sim.assertHealthy();
  }
});
