// The broker's process ends before, within and after every step of a delayed message that changes the disk: nothing lost, nothing early.
import test from 'ava';
import { FakeClock } from '../../src/base/clock.ts';
import { silentLog } from '../../src/base/log.ts';
import { SeededRandom } from '../../src/base/random.ts';
import { Perms, topicConfig } from '../../src/core/topic-config.ts';
import { SystemTopics } from '../../src/message/names.ts';
import { topicConfigJson } from '../../src/protocol/bodies/topic-config.ts';
import { RequestCodes } from '../../src/protocol/codes.ts';
import { TopicsFile } from '../../src/store/topics-file.ts';
import { faultPoints, Killer, type Moment } from '../faults/fault-points.ts';
import { PowerCutDisk } from '../faults/power-cut-disk.ts';
import { WatchedFiles } from '../faults/watched-files.ts';
import { fieldsWith, held, namesHeld, SCHEDULE } from './delay-rig.ts';
import { SimBroker } from './sim-broker.ts';

const LEVELS = ['2s 1s', '1s 3s 2s'];
const SMALL = {
  mappedFileSizeCommitLog: 16_384,
  flushDelayOffsetInterval: 300,
  flushIntervalCommitLog: 200,
};
const points = faultPoints.filter((point) => /^(log: (written|synced)|queue: (written|synced)|delays: .*|delay lists: .*)$/.test(point));
/** Passings of each point at which the process ends. */
const NUMBER_MAX = 6;

interface Sent {
  readonly name: string;
  /** Wall time before which it must not come; -1 until its send was acknowledged. */
  dueMs: number;
  acked: boolean;
}

class Lives {
  readonly clock = new FakeClock();
  readonly disk = new PowerCutDisk(this.clock);
  readonly sent: Sent[] = [];
  #startCount = 0;
  readonly #seed: number;

  constructor(seed: number) {
    this.#seed = seed;
    // Its thousand queues would take longer at each start than all else.
    const few = topicConfigJson(topicConfig(SystemTopics.benchmark, 1, Perms.readWrite));
    new TopicsFile(this.disk, '/store/config', silentLog).save({ dataVersion: null, topics: new Map([[SystemTopics.benchmark, few]]) });
    this.disk.syncTree('/');
  }

  async start(killer: Killer, levels: string, place: string): Promise<SimBroker | null> {
    try {
      return await SimBroker.start(this.#seed * 8 + ++this.#startCount, {
        files: new WatchedFiles(this.disk, killer),
        clock: this.clock,
        place,
        ingressCount: 1,
        dispatchCount: 1,
        settings: { embeddedNamesrv: false, messageDelayLevel: levels },
        overrides: SMALL,
        isEnded: () => killer.ended,
      });
    } catch (error) {
      if (killer.ended) return null;
      throw error;
    }
  }

  /** Sends under both levels and lets two seconds and a half pass. */
  work(sim: SimBroker, killer: Killer, levelsMs: readonly number[]): void {
    const client = sim.client();
    const untilMs = this.clock.steadyMs() + 2_500;
    for (let i = 0; i < 8; i++) {
      const level = 1 + (i % 2);
      const one: Sent = { name: `m${this.sent.length}`, dueMs: -1, acked: false };
      this.sent.push(one);
      const earliestMs = this.clock.wallMs() + (levelsMs[level - 1] as number);
      client.send(RequestCodes.SEND_MESSAGE_V2, fieldsWith('T', 0, one.name, { DELAY: String(level) }), Buffer.from(one.name), (answer) => {
        if (!killer.ended && answer.code === 0) one.acked = true;
      });
      one.dueMs = earliestMs;
      for (let step = 0; step < 400 && !killer.ended; step++) if (!sim.runner.step(this.clock.steadyMs() + 100)) break;
    }
    while (!killer.ended && this.clock.steadyMs() < untilMs && sim.runner.step(untilMs));
  }
}

/** Returns whether the process ended at the point. */
async function runTo(seed: number, point: string, moment: Moment, number: number, diskKept: boolean): Promise<boolean> {
  const lives = new Lives(seed);
  const killer = new Killer(point, moment, number);
  let place = 'first';
  const lists = [
    [LEVELS[0] as string, [2_000, 1_000]],
    [LEVELS[1] as string, [1_000, 3_000]],
  ] as const;
  for (const [levels, levelsMs] of [lists[0], lists[1], lists[1]]) {
    const sim = await lives.start(killer, levels, place);
    if (sim !== null) lives.work(sim, killer, levelsMs);
    if (sim !== null && !killer.ended) {
      try {
        await sim.stop();
      } catch (error) {
        if (!killer.ended) throw error;
      }
    }
    if (!killer.ended) continue;
    if (diskKept) lives.disk.endProcess();
    else {
      place = 'second';
      lives.disk.cutPower(new SeededRandom(seed));
    }
    break;
  }
  const none = new Killer(null, 'before', Number.POSITIVE_INFINITY);
  const last = await lives.start(none, LEVELS[1] as string, place);
  if (last === null) throw new Error('the last start comes through');
  last.runner.runFor(6_000);
  const records = held(last.client(), 'T');
  const counts = new Map<string, number>();
  for (const record of records) {
    const name = record.properties.get('UNIQ_KEY') ?? '';
    counts.set(name, (counts.get(name) ?? 0) + 1);
    const sent = lives.sent.find((one) => one.name === name);
    const context = `seed=${seed} ${moment} ${point} number=${number} ${killer.endedAt} ${name}`;
    if (sent === undefined || record.storeTimeMs < sent.dueMs)
      throw new Error(`early by ${(sent?.dueMs ?? 0) - record.storeTimeMs}: ${context}`);
  }
  // Whatever else a power cut has taken: what the log still has of waiting messages is delivered.
  const waiting = [0, 1, 2].flatMap((queueId) => namesHeld(last.client(), SCHEDULE, queueId));
  for (const name of waiting)
    if (!counts.has(name)) throw new Error(`passed over: seed=${seed} ${moment} ${point} number=${number} ${name}`);
  for (const one of lives.sent) {
    const count = counts.get(one.name) ?? 0;
    // In asynchronous mode a power cut may take what was not synced; a process that ends takes nothing.
    if (one.acked && diskKept && count === 0) throw new Error(`lost: seed=${seed} ${moment} ${point} number=${number} ${one.name}`);
    if (!killer.ended && count > 1) throw new Error(`repeated without a reason: seed=${seed} ${one.name} ${count}`);
  }
  last.assertHealthy();
  return killer.ended;
}

test.serial('delay: lives without an end in between deliver each message once', async (t) => {
  for (let seed = 1; seed <= 5; seed++) t.false(await runTo(seed, 'index: written', 'before', 1_000_000, true));
});

for (const point of points) {
  test.serial(`delay: the process ends before, within and after: ${point}`, async (t) => {
    const moments: readonly Moment[] = point.endsWith(': written') ? ['before', 'within', 'after'] : ['before', 'after'];
    let reached = 0;
    for (const moment of moments) {
      for (let number = 1; number <= NUMBER_MAX; number++) {
        const hit = await runTo(points.indexOf(point) * 100 + number, point, moment, number, number % 3 !== 0);
        if (!hit) break;
        reached++;
      }
    }
    t.true(reached > 0, point);
  });
}
