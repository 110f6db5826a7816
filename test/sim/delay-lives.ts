// One store through several lives of its broker, with delayed messages on their way: what was sent, and what must have come of it.
import { assert } from '../../src/base/assert.ts';
import { FakeClock } from '../../src/base/clock.ts';
import { silentLog } from '../../src/base/log.ts';
import { Perms, topicConfig } from '../../src/core/topic-config.ts';
import { SystemTopics } from '../../src/message/names.ts';
import { topicConfigJson } from '../../src/protocol/bodies/topic-config.ts';
import { RequestCodes } from '../../src/protocol/codes.ts';
import { TopicsFile } from '../../src/store/topics-file.ts';
import type { Killer } from '../faults/fault-points.ts';
import { PowerCutDisk } from '../faults/power-cut-disk.ts';
import { WatchedFiles } from '../faults/watched-files.ts';
import { fieldsWith, held, namesHeld, SCHEDULE } from './delay-rig.ts';
import { SimBroker } from './sim-broker.ts';

/** The first life has the first list, all later ones the second: parts of a level have their own delays. */
export const delayLists = [
  { levels: '2s 1s', levelsMs: [2_000, 1_000] },
  { levels: '1s 3s 2s', levelsMs: [1_000, 3_000] },
] as const;

const SMALL = {
  mappedFileSizeCommitLog: 16_384,
  flushDelayOffsetInterval: 300,
  flushIntervalCommitLog: 200,
};
/** What is delivered in the last milliseconds of a life may not be noted yet. */
const NOTED_AFTER_MS = 5;

export interface SentDelayed {
  readonly name: string;
  /** Wall time before which it must not come; -1 until its send was acknowledged. */
  dueMs: number;
  acked: boolean;
}

export class DelayLives {
  readonly clock = new FakeClock();
  readonly disk = new PowerCutDisk(this.clock);
  readonly sent: SentDelayed[] = [];
  #startCount = 0;
  readonly #seed: number;

  constructor(seed: number) {
    this.#seed = seed;
    // Its thousand queues would take longer at each start than all else.
    const few = topicConfigJson(topicConfig(SystemTopics.benchmark, 1, Perms.readWrite));
    new TopicsFile(this.disk, '/store/config', silentLog).save({ dataVersion: null, topics: new Map([[SystemTopics.benchmark, few]]) });
    this.disk.syncTree('/');
  }

  /** null where the process was ended meanwhile. */
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

  /** Sends under both levels and lets time pass. */
  work(sim: SimBroker, killer: Killer, levelsMs: readonly number[], workMs = 2_500): void {
    const client = sim.client();
    const untilMs = this.clock.steadyMs() + workMs;
    for (let i = 0; i < 8; i++) {
      const level = 1 + (i % 2);
      const one: SentDelayed = { name: `m${this.sent.length}`, dueMs: -1, acked: false };
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

  /**
   * After the last start has delivered all: none early, and none passed over that the log still has. Returns the store times of each
   * message, by its name.
   */
  check(last: SimBroker): Map<string, number[]> {
    const times = new Map<string, number[]>();
    for (const record of held(last.client(), 'T')) {
      const name = record.properties.get('UNIQ_KEY') ?? '';
      times.set(name, [...(times.get(name) ?? []), record.storeTimeMs]);
      const sent = this.sent.find((one) => one.name === name);
      assert(sent !== undefined && record.storeTimeMs >= sent.dueMs, `early by ${(sent?.dueMs ?? 0) - record.storeTimeMs}: ${name}`);
    }
    // Whatever else a power cut has taken: what the log still has of waiting messages is delivered.
    const waiting = [0, 1, 2].flatMap((queueId) => namesHeld(last.client(), SCHEDULE, queueId));
    for (const name of waiting) assert(times.has(name), `passed over: ${name}`);
    return times;
  }

  /**
   * For a disk that kept everything: none lost, and only what was delivered in the last milliseconds before the process ended comes again.
   * @param endedAtMs wall time; Infinity: it did not end.
   */
  checkKept(times: ReadonlyMap<string, readonly number[]>, endedAtMs: number): void {
    for (const { name, acked } of this.sent) {
      const all = times.get(name) ?? [];
      assert(!acked || all.length > 0, `lost: ${name}`);
      for (const timeMs of all.slice(0, -1))
        assert(timeMs >= endedAtMs - NOTED_AFTER_MS, `delivered again: ${name} stored=${timeMs} ended=${endedAtMs}`);
    }
  }
}
