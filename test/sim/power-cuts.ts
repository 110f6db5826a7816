// One store through several lives of its broker, each ended by a power cut, a killed process or a stop, all by one seed.
//
//   start (may be cut itself) -> compare with the ledger -> producers, a consumer, time -> the end of this life, at any step or change of the disk
import { assert } from '../../src/base/assert.ts';
import { FakeClock } from '../../src/base/clock.ts';
import { silentLog } from '../../src/base/log.ts';
import { SeededRandom } from '../../src/base/random.ts';
import type { Settings } from '../../src/config/settings.ts';
import { Perms, topicConfig } from '../../src/core/topic-config.ts';
import { SystemTopics } from '../../src/message/names.ts';
import { topicConfigJson } from '../../src/protocol/bodies/topic-config.ts';
import { RequestCodes, ResponseCodes } from '../../src/protocol/codes.ts';
import { TopicsFile } from '../../src/store/topics-file.ts';
import { Killer, type Moment } from '../faults/fault-points.ts';
import { PowerCutDisk } from '../faults/power-cut-disk.ts';
import { type Watch, WatchedFiles } from '../faults/watched-files.ts';
import { CommitWatch } from './commit-watch.ts';
import { Ledger, type LifeEnd, requestOf } from './ledger.ts';
import { SimBroker } from './sim-broker.ts';
import { type Answer, recordsOf, type SimClient } from './sim-client.ts';
import { type FlushKind, smallSettings } from './small-settings.ts';
import { StoreLook } from './store-look.ts';

export interface PowerCutOptions {
  readonly flush: FlushKind;
  readonly lifeCount?: number;
  /** Requests and pauses of one life, at most. */
  readonly actionCountMax?: number;
}

const STEPS_MAX = 100_000;
const BODY_SIZE_MAX = 400;
const LARGE_SIZE_MAX = 3_000;
const MOMENTS: readonly Moment[] = ['before', 'within', 'after'];
/** Of the flusher most is promised. */
const SLOWED = ['flusher', 'flusher', 'dispatch-0', 'indexer', 'coordinator'];
const TAGS = ['A', 'B', ''];

export class PowerCuts {
  readonly seed: number;
  readonly ledger = new Ledger();
  readonly clock = new FakeClock();
  readonly disk = new PowerCutDisk(this.clock);
  readonly #random: SeededRandom;
  readonly #options: PowerCutOptions;
  readonly #settings: Partial<Settings>;
  readonly #look = new StoreLook(this.disk);
  readonly #commits: CommitWatch;
  sim: SimBroker | null = null;
  /** Ends the process at hand. */
  killer = new Killer(null, 'before', Number.POSITIVE_INFINITY);
  /** Look at the disk's changes in all lives. */
  readonly watches: Watch[] = [];
  /** Of all lives since the last check. */
  #end: LifeEnd = { synced: 0, diskKept: true };
  #startCount = 0;
  #nameCount = 0;
  #producers: SimClient[] = [];
  /** The actor that gets no turns; none: ''. */
  #slowed = '';
  #placeCount = 0;
  /** Of the life at hand, for the text of a failure. */
  history = '';

  constructor(seed: number, options: PowerCutOptions) {
    this.seed = seed;
    this.#options = options;
    this.#random = new SeededRandom(seed ^ 0xc07);
    this.#settings = smallSettings(this.#random, options.flush);
    this.#commits = new CommitWatch(this.ledger);
    // Its thousand queues would take longer at each start than all else.
    const few = topicConfigJson(topicConfig(SystemTopics.benchmark, 1, Perms.readWrite));
    new TopicsFile(this.disk, '/store/config', silentLog).save({ dataVersion: null, topics: new Map([[SystemTopics.benchmark, few]]) });
    this.disk.syncTree('/');
  }

  async run(): Promise<void> {
    try {
      const lifeCount = this.#options.lifeCount ?? 2;
      for (let life = 0; life < lifeCount; life++) {
        await this.begin(this.#random.below(4) === 0 ? 1 + this.#random.below(30) : 0);
        this.#arm();
        this.work();
        await this.finish();
      }
      await this.begin(0);
      this.running.assertHealthy();
    } catch (error) {
      throw new Error(`seed=${this.seed}${this.history}`, { cause: error });
    }
  }

  /** Half of the lives end at a change of the disk, the others between two steps. */
  #arm(): void {
    const random = this.#random;
    if (random.below(2) === 0) return;
    this.killer = new Killer(null, MOMENTS[random.below(MOMENTS.length)] as Moment, 1 + random.below(120));
    (this.running.files as WatchedFiles).watch(this.killer);
  }

  /** Starts until a start comes through, and compares. @param killedAt the first try is ended at this change of the disk; 0: it is not. */
  async begin(killedAt: number): Promise<void> {
    this.#look.expectNo('damage');
    this.#producers = [];
    if (killedAt > 0) {
      this.killer = new Killer(null, MOMENTS[this.#random.below(MOMENTS.length)] as Moment, killedAt);
      if ((await this.tryStart()) === null) {
        this.history += ` start ended ${this.killer.endedAt};`;
        this.cut(this.#random.below(4) === 0);
      }
    }
    // A start that came through is killed: the next one is another process.
    if (this.sim !== null) this.cut(true);
    this.killer = new Killer(null, 'before', Number.POSITIVE_INFINITY);
    await this.tryStart();
    this.check();
  }

  /** What can be read after a start against all promises. */
  check(): void {
    const sim = this.running;
    const client = sim.client();
    try {
      this.ledger.checkStart(client, this.#end);
      this.#commits.checkStart(client);
      this.ledger.checkKeys(client, this.#random);
      if (!this.killer.ended) sim.assertHealthy();
    } catch (error) {
      if (this.killer.ended) return;
      sim.assertHealthy();
      throw error;
    }
    this.#end = { synced: this.#end.synced, diskKept: true };
  }

  /** null where the process was ended meanwhile. */
  async tryStart(): Promise<SimBroker | null> {
    const killer = this.killer;
    const random = this.#random;
    try {
      this.sim = await SimBroker.start(this.seed * 64 + ++this.#startCount, {
        files: new WatchedFiles(this.disk, killer, ...this.watches),
        clock: this.clock,
        place: `run-${this.#placeCount}`,
        settings: { embeddedNamesrv: false },
        overrides: this.#settings,
        splitting: random.below(8) === 0,
        ingressCount: random.below(4) === 0 ? 2 : 1,
        dispatchCount: random.below(4) === 0 ? 2 : 1,
        isEnded: () => killer.ended,
      });
      // Not all seeds: it takes as long as a start.
      if (this.seed % 4 === 0) this.#look.settings = this.sim.settings;
      return this.sim;
    } catch (error) {
      if (!killer.ended) throw error;
      this.sim = null;
      return null;
    }
  }

  get running(): SimBroker {
    assert(this.sim !== null, 'a broker runs');
    return this.sim;
  }

  /** Random requests and pauses, until the process ends by itself or enough was done. */
  work(): void {
    const random = this.#random;
    const sim = this.running;
    this.#slowed = '';
    this.#producers = [sim.client(), sim.client()];
    const actionCount = 5 + random.below(this.#options.actionCountMax ?? 40);
    for (let i = 0; i < actionCount && !this.killer.ended; i++) {
      this.#act(random.below(16));
      this.step(random.below(30), sim.clock.steadyMs());
    }
  }

  step(count: number, untilMs: number): void {
    const sim = this.running;
    for (let i = 0; i < count && !this.killer.ended; i++) if (!sim.runner.step(untilMs)) return;
  }

  #act(choice: number): void {
    const random = this.#random;
    if (choice < 7) this.#send(1, choice === 0, choice === 1);
    else if (choice < 10) this.#send(1 + random.below(5), false, false);
    else if (choice < 13) this.#consume();
    else if (choice === 13) this.#slow();
    else this.step(STEPS_MAX, this.clock.steadyMs() + 1 + random.below(15));
  }

  /** An actor is slow for a while, another time it has its turns again. */
  #slow(): void {
    if (this.#slowed === '') {
      this.#slowed = SLOWED[this.#random.below(SLOWED.length)] as string;
      this.running.runner.starve(this.#slowed);
    } else this.feed();
  }

  feed(): void {
    if (this.#slowed !== '') this.running.runner.feed(this.#slowed);
    this.#slowed = '';
  }

  /** A single message, or a batch; topics come up as the lives go by. */
  #send(count: number, oneway: boolean, waitFalse: boolean): void {
    const random = this.#random;
    const topic = `T${random.below(2 + this.#startCount)}`;
    const queueId = random.below(2);
    const waitsForDisk = this.#options.flush === 'SYNC_FLUSH' && !waitFalse;
    // Single ones have a body or a property of several sectors now and then.
    const large = count === 1 ? random.below(12) : -1;
    const all = Array.from({ length: count }, () => {
      const sent = {
        name: `n${this.#nameCount++}`,
        topic,
        queueId,
        tag: TAGS[random.below(TAGS.length)] as string,
        sizeBytes: 1 + random.below(large === 0 ? LARGE_SIZE_MAX : BODY_SIZE_MAX),
        note: large === 1 ? 'x'.repeat(random.below(LARGE_SIZE_MAX)) : '',
        waitsForDisk,
      };
      this.ledger.note(sent);
      return sent;
    });
    const client = this.#producers[random.below(this.#producers.length)] as SimClient;
    const names = all.map(({ name }) => name);
    const { code, ext, body } = requestOf(all, waitFalse);
    if (oneway) client.sendOneway(code, ext, body);
    else client.send(code, ext, body, (answer) => this.#onSent(names, answer));
  }

  #onSent(names: readonly string[], answer: Answer): void {
    if (this.killer.ended) return;
    assert(answer.code === ResponseCodes.SUCCESS, `a send is taken: ${answer.code} ${answer.remark}`);
    this.ledger.onAck(names, answer);
  }

  /** Pulls where the group has come to, and commits behind what it got. */
  #consume(): void {
    const queues = [...this.ledger.queues.values()];
    const queue = queues[this.#random.below(Math.max(1, queues.length))];
    if (queue === undefined) return;
    const client = this.#producers[0] as SimClient;
    const { topic, queueId } = queue;
    const offset = this.#commits.offsetOf(topic, queueId);
    client.pull(topic, queueId, CommitWatch.group, { offset, maxCount: 4 }, (answer) => {
      if (this.killer.ended || answer.code !== ResponseCodes.SUCCESS) return;
      const records = recordsOf(answer);
      for (const record of records) this.ledger.checkRead(topic, queueId, record);
      const next = Number(answer.ext['nextBeginOffset']);
      if (this.#commits.note(topic, queueId, next)) {
        client.send(
          RequestCodes.UPDATE_CONSUMER_OFFSET,
          { consumerGroup: CommitWatch.group, topic, queueId, commitOffset: next },
          undefined,
          () => {},
        );
      }
    });
  }

  /** Ends the life at hand. @param how left out: by chance. */
  async finish(how?: 'stop' | 'cut'): Promise<void> {
    const sim = this.running;
    const choice = how === undefined ? this.#random.below(10) : how === 'stop' ? 0 : 9;
    if (!this.killer.ended && choice === 0) {
      try {
        this.feed();
        await sim.stop();
        this.ledger.settleKnown();
        this.#look.expectNo('damage', 'repairable');
      } catch (error) {
        if (!this.killer.ended) throw error;
      }
    }
    this.history += ` life ended ${this.killer.ended ? this.killer.endedAt : choice === 0 ? 'in good order' : 'between two steps'};`;
    if (!this.killer.ended) sim.assertHealthy();
    this.cut(choice >= 1 && choice <= 3);
  }

  /** @param diskKept only the process is gone. */
  cut(diskKept: boolean): void {
    const synced = Math.max(this.#end.synced, this.sim?.position('synced') ?? 0);
    this.#end = { synced, diskKept: this.#end.diskKept && diskKept };
    this.sim = null;
    this.history += diskKept ? ' disk kept' : ' power cut';
    if (diskKept) {
      this.disk.endProcess();
      return;
    }
    // The next start is another run of the system: nothing that was only written counts.
    this.#placeCount++;
    this.disk.cutPower(this.#random);
  }
}
