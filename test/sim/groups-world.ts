// Runs groups as their users see them: random producers, members that join and leave, clocks that jump, brokers that end; against a model.
import test from 'ava';
import fc from 'fast-check';
import { assert } from '../../src/base/assert.ts';
import { errorText } from '../../src/base/errors.ts';
import { groupConfig } from '../../src/core/group-config.ts';
import { dlqTopicOf } from '../../src/message/names.ts';
import { formatProperties } from '../../src/message/properties.ts';
import { encodeSubscriptionGroup } from '../../src/protocol/bodies/subscription-group.ts';
import { RequestCodes } from '../../src/protocol/codes.ts';
import { encodeCreateTopicRequest } from '../../src/protocol/commands/create-topic.ts';
import { encodeSendRequest, SendRequest } from '../../src/protocol/commands/send-message.ts';
import { GroupMember, type Leaving } from './group-member.ts';
import { BODY_SIZE, GroupModel } from './group-model.ts';
import { SimBroker, type SimOptions } from './sim-broker.ts';
import { bodyOf, nameOf, recordsOf, type SimClient } from './sim-client.ts';

/** Of each kind of group; SIM_SEEDS sets another number. */
const RUNS = Number(process.env['SIM_SEEDS'] ?? 1_000);
const PARTS = 8;
const RETRY_MAX = 2;
const QUEUES = 3;
const LEVELS = '1s 2s 2s 3s 4s 5s';
const delaysMs = LEVELS.split(' ').map((level) => Number.parseInt(level, 10) * 1_000);
/** Expiry of silent members, of locks, and of all retries behind them. */
const SETTLE_MS = 260_000;
/** A kill may cost changes of owners that are younger; a world that is never so quiet is stopped instead. */
const QUIET_MS = 1_200;
const QUIET_WAIT_MS_MAX = 20_000;

type Action =
  | { readonly kind: 'send'; readonly queueId: number; readonly level: number; readonly failures: number; readonly count: number }
  | { readonly kind: 'join' }
  | { readonly kind: 'leave'; readonly which: number; readonly how: Leaving }
  | { readonly kind: 'run'; readonly ms: number }
  | { readonly kind: 'restart'; readonly killed: boolean; readonly backMs: readonly number[] }
  | { readonly kind: 'jump'; readonly ms: number };

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('send' as const),
      queueId: fc.nat(QUEUES - 1),
      level: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.integer({ min: 1, max: 6 }) }),
      failures: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 2, arbitrary: fc.integer({ min: 1, max: 4 }) }),
      count: fc.integer({ min: 1, max: 6 }),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: 'join' as const }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('leave' as const),
      which: fc.nat(7),
      how: fc.constantFrom<Leaving>('unregister', 'cut', 'silence'),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('run' as const), ms: fc.integer({ min: 1, max: 20_000 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('restart' as const),
      killed: fc.boolean(),
      backMs: fc.array(fc.integer({ min: 1, max: 45_000 }), { minLength: 4, maxLength: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('jump' as const), ms: fc.constantFrom(-60_000, -1_500, 1_500, 60_000) }) },
);

class World {
  sim: SimBroker;
  readonly model: GroupModel;
  readonly members: GroupMember[] = [];
  readonly #options: SimOptions;
  #lastProducer: SimClient;
  #sentCount = 0;
  #memberCount = 0;

  constructor(sim: SimBroker, options: SimOptions, orderly: boolean) {
    this.sim = sim;
    this.#options = options;
    this.model = new GroupModel(sim, 'g', new Map([['t', QUEUES]]), orderly, RETRY_MAX, delaysMs);
    this.#lastProducer = sim.client();
    const topic = {
      topic: 't',
      defaultTopic: 'TBW102',
      readQueueNums: QUEUES,
      writeQueueNums: QUEUES,
      perm: 6,
      topicFilterType: 'SINGLE_TAG',
    };
    this.#expect(RequestCodes.UPDATE_AND_CREATE_TOPIC, encodeCreateTopicRequest({ ...topic, order: false }));
    const group = encodeSubscriptionGroup({ ...groupConfig('g'), retryMaxTimes: RETRY_MAX });
    this.#expect(RequestCodes.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, group);
  }

  /** Connections that nobody uses for two minutes are closed. */
  get #producer(): SimClient {
    if (this.#lastProducer.closed || this.#lastProducer.sim !== this.sim) this.#lastProducer = this.sim.client();
    return this.#lastProducer;
  }

  async do(action: Action): Promise<void> {
    switch (action.kind) {
      case 'send':
        for (let i = 0; i < action.count; i++) this.#send(action.queueId, this.model.orderly ? 0 : action.level, action.failures);
        return;
      case 'join':
        if (this.#living().length < 4) this.members.push(new GroupMember(this.sim, `m${this.#memberCount++}`, this.model));
        return;
      case 'leave':
        this.#living()[action.which]?.leave(action.how);
        return;
      case 'run':
        this.sim.runner.runFor(action.ms);
        return;
      case 'restart':
        return this.#restart(action.killed && this.#waitForQuiet(), action.backMs);
      case 'jump':
        if (action.ms < 0) this.model.checksTimes = false;
        this.sim.clock.stepWall(action.ms);
        this.sim.runner.wake();
    }
  }

  /** Each member finds the new broker in its own time. */
  async #restart(killed: boolean, backMs: readonly number[]): Promise<void> {
    const members = this.#living();
    for (const member of members) member.lose();
    if (!killed) await this.sim.stop();
    this.sim.assertHealthy();
    const { files, clock, seed } = this.sim;
    const sim = await SimBroker.start(seed + 1, { ...this.#options, files, clock });
    this.sim = sim;
    members.forEach((member, i) => {
      sim.timers.after(backMs[i] as number, () => member.comeBack(sim));
    });
  }

  #waitForQuiet(): boolean {
    const { clock, runner } = this.sim;
    const untilMs = clock.steadyMs() + QUIET_WAIT_MS_MAX;
    while (clock.steadyMs() < this.model.ownersChangedMs + QUIET_MS && clock.steadyMs() < untilMs) runner.runFor(100);
    return clock.steadyMs() < untilMs;
  }

  async finish(): Promise<void> {
    if (this.#living().length === 0) await this.do({ kind: 'join' });
    this.sim.runner.runFor(SETTLE_MS);
    this.model.checkEnd(this.#deadNames());
    const { group, topics } = this.model;
    for (const [topic, count] of topics) {
      for (let queueId = 0; queueId < count; queueId++) {
        const end = this.#producer.askNumber(RequestCodes.GET_MAX_OFFSET, topic, queueId);
        if (end === 0) continue;
        const more = { consumerGroup: group, setZeroIfNotFound: false };
        const committed = this.#producer.askNumber(RequestCodes.QUERY_CONSUMER_OFFSET, topic, queueId, 'offset', more);
        assert(committed === end, `${topic}/${queueId} is consumed to ${committed} of ${end}`);
      }
    }
    for (const member of this.#living()) member.leave('cut');
  }

  #living(): GroupMember[] {
    return this.members.filter((member) => !member.gone);
  }

  #send(queueId: number, level: number, failures: number): void {
    const name = `n${this.#sentCount++}`;
    const request = new SendRequest();
    request.group = 'p';
    request.topic = 't';
    request.defaultTopic = 'TBW102';
    request.defaultTopicQueueCount = QUEUES;
    request.queueId = queueId;
    request.bornTimeMs = this.sim.clock.wallMs();
    request.properties = formatProperties(new Map([['UNIQ_KEY', name], ...(level === 0 ? [] : [['DELAY', `${level}`] as const])]));
    const dueMs = this.sim.clock.wallMs() + (level === 0 ? 0 : (delaysMs[level - 1] as number));
    const sent = { topic: 't', queueId, failures, dueMs, acknowledged: false };
    this.model.sent.set(name, sent);
    const ext = encodeSendRequest(RequestCodes.SEND_MESSAGE_V2, request);
    this.#producer.send(RequestCodes.SEND_MESSAGE_V2, ext, bodyOf(name, BODY_SIZE), ({ code, remark }) => {
      assert(code === 0, `send answered ${code} ${remark}`);
      sent.acknowledged = true;
    });
  }

  #deadNames(): string[] {
    const names: string[] = [];
    for (;;) {
      const answer = this.#producer.askPull(dlqTopicOf(this.model.group), 0, 'undertaker', { offset: names.length });
      if (answer.code !== 0) return names;
      names.push(...recordsOf(answer).map(nameOf));
    }
  }

  #expect(code: number, ext: Parameters<SimClient['ask']>[1], body?: Uint8Array): void {
    const answer = this.#producer.ask(code, ext, body);
    assert(answer.code === 0, `code ${code} answered ${answer.code} ${answer.remark}`);
  }
}

async function runGroup(seed: number, orderly: boolean, actions: readonly Action[]): Promise<void> {
  const options = { settings: { messageDelayLevel: LEVELS }, ingressCount: 1 + (seed % 2), dispatchCount: 1 + (seed % 3) };
  const world = new World(await SimBroker.start(seed, options), options, orderly);
  for (const each of actions) await world.do(each);
  await world.finish();
  world.sim.assertHealthy();
  await world.sim.stop();
}

/** @param file the test file as it was built, for the command that repeats a failure. */
export function testGroups(orderly: boolean, file: string): void {
  for (let part = 1; part <= PARTS; part++) {
    const numRuns = Math.ceil(RUNS / PARTS);
    test.serial(`groups: ${orderly ? 'ordered' : 'concurrent'} members against the model, part ${part}`, async (t) => {
      const seed = part + (orderly ? 100 : 0);
      const property = fc.asyncProperty(fc.nat(1_000_000), fc.array(action, { minLength: 3, maxLength: 20 }), (broker, actions) =>
        runGroup(broker, orderly, actions),
      );
      try {
        await fc.assert(property, { numRuns, seed });
        t.pass();
      } catch (error) {
        const cause = error instanceof Error && error.cause instanceof Error ? error.cause.stack : '';
        t.fail(`${errorText(error)}\nrepeat: SIM_SEEDS=${RUNS} npx ava ${file} --match '*part ${part}'\n${cause}`);
      }
    });
  }
}
