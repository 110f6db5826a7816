// The supervisor on a host that only notes what it is asked: orders, restarts, groups, and when the broker has to end.
import { setImmediate as turn } from 'node:timers/promises';
import test from 'ava';
import { FakeClock } from '../../src/base/clock.ts';
import { silentLog } from '../../src/base/log.ts';
import { Directives, type SupervisionRule } from '../../src/runtime/supervision.ts';
import { type ActorHost, type SupervisedActor, Supervisor } from '../../src/runtime/supervisor.ts';

const actors: SupervisedActor[] = [
  { name: 'log', kind: 'log' },
  { name: 'socket-0', kind: 'socket' },
  { name: 'socket-1', kind: 'socket' },
  { name: 'index', kind: 'index' },
];

const rules: Record<string, SupervisionRule> = Object.fromEntries(
  Object.entries({ log: Directives.stopBroker, socket: Directives.restartGroup, index: Directives.restart }).map(([kind, onFailure]) => [
    kind,
    { onFailure, failureCountMax: 2, windowMs: 1_000, delayMsMin: 10, delayMsMax: 100 },
  ]),
);

class NotingHost implements ActorHost {
  onFailure: (name: string, message: string) => void = () => {};
  readonly calls: string[] = [];
  readonly broken = new Set<string>();

  async startActor(name: string): Promise<void> {
    this.calls.push(`start ${name}`);
    if (this.broken.has(`start ${name}`)) throw new Error(`${name} cannot start`);
  }

  async stopActor(name: string): Promise<void> {
    this.calls.push(`stop ${name}`);
    if (this.broken.has(`stop ${name}`)) throw new Error(`${name} cannot stop`);
  }

  async end(): Promise<void> {
    this.calls.push('end');
  }
}

interface Rig {
  readonly host: NotingHost;
  readonly supervisor: Supervisor;
  readonly fatal: string[];
  readonly delays: number[];
  readonly clock: FakeClock;
  /** Lets the pauses that are waited for end. */
  release(): Promise<void>;
}

function rig(): Rig {
  const host = new NotingHost();
  const clock = new FakeClock();
  const fatal: string[] = [];
  const delays: number[] = [];
  let waiting: (() => void)[] = [];
  const delay = (ms: number): Promise<void> => {
    delays.push(ms);
    return new Promise((resolve) => waiting.push(resolve));
  };
  const ruleOf = (kind: string): SupervisionRule => rules[kind] as SupervisionRule;
  const supervisor = new Supervisor(actors, ruleOf, host, clock, silentLog, (reason) => fatal.push(reason), delay);
  const release = async (): Promise<void> => {
    await turn();
    for (const resolve of waiting.splice(0)) resolve();
    waiting = [];
    await turn();
  };
  return { host, supervisor, fatal, delays, clock, release };
}

test('supervisor: starts in order, stops by kinds, then ends the host', async (t) => {
  const { host, supervisor } = rig();
  await supervisor.start();
  await supervisor.stop(['socket', 'index', 'log']);
  const started = actors.map(({ name }) => `start ${name}`);
  t.deepEqual(host.calls, [...started, 'stop socket-0', 'stop socket-1', 'stop index', 'stop log', 'end']);
});

test('supervisor: a start that fails starts nobody after it', async (t) => {
  const { host, supervisor } = rig();
  host.broken.add('start socket-0');
  await t.throwsAsync(supervisor.start(), { message: 'socket-0 cannot start' });
  t.deepEqual(host.calls, ['start log', 'start socket-0']);
});

test('supervisor: one that cannot stop keeps nobody else from it, and is told of at the end', async (t) => {
  const { host, supervisor } = rig();
  host.broken.add('stop socket-0');
  await t.throwsAsync(supervisor.stop(['socket', 'index', 'log']), { message: 'socket-0 cannot stop' });
  t.deepEqual(host.calls, ['stop socket-0', 'stop socket-1', 'stop index', 'stop log', 'end']);
});

test('supervisor: a replaceable actor comes back after a pause that grows, and not for ever', async (t) => {
  const { host, fatal, delays, release } = rig();
  for (let i = 0; i < 2; i++) {
    host.onFailure('index', 'broken');
    await release();
  }
  t.deepEqual(host.calls, ['start index', 'start index']);
  t.deepEqual(delays, [10, 20]);
  host.onFailure('index', 'broken');
  await release();
  t.is(host.calls.length, 2);
  t.deepEqual(fatal, ['actor index failed: broken']);
});

test('supervisor: after a quiet time an actor has its whole patience again', async (t) => {
  const { host, fatal, clock, delays, release } = rig();
  for (let i = 0; i < 10; i++) {
    host.onFailure('index', 'broken');
    await release();
    clock.advance(1_000);
  }
  t.deepEqual(fatal, []);
  t.deepEqual(new Set(delays), new Set([10]));
});

test('supervisor: what shares something is stopped and started together', async (t) => {
  const { host, release } = rig();
  host.onFailure('socket-1', 'broken');
  await turn();
  t.deepEqual(host.calls, ['stop socket-0']);
  await release();
  t.deepEqual(host.calls, ['stop socket-0', 'start socket-0', 'start socket-1']);
});

test('supervisor: a failure while its group is already being restarted changes nothing', async (t) => {
  const { host, delays, release } = rig();
  host.onFailure('socket-1', 'broken');
  host.onFailure('socket-0', 'broken as well');
  await release();
  t.deepEqual(host.calls, ['stop socket-0', 'start socket-0', 'start socket-1']);
  t.deepEqual(delays, [10]);
});

test('supervisor: one that fails again before its group is complete is not forgotten', async (t) => {
  const { host, delays, release } = rig();
  const start = host.startActor.bind(host);
  let failed = false;
  host.startActor = async (name) => {
    await start(name);
    if (name === 'socket-1' && !failed) {
      failed = true;
      host.onFailure('socket-0', 'broken at once');
    }
  };
  host.onFailure('socket-1', 'broken');
  await release();
  await release();
  t.deepEqual(host.calls.slice(-3), ['stop socket-1', 'start socket-0', 'start socket-1']);
  t.deepEqual(delays, [10, 10]);
});

test('supervisor: vital actors, and restarts that fail, end the broker', async (t) => {
  const { host, fatal, release } = rig();
  host.onFailure('log', 'disk full');
  t.deepEqual(fatal, ['actor log failed: disk full']);
  host.broken.add('start index');
  host.onFailure('index', 'broken');
  await release();
  t.deepEqual(fatal[1], 'restart of index failed: index cannot start');
});

test('supervisor: while the broker stops nobody is restarted, also not one whose pause is running', async (t) => {
  const { host, supervisor, fatal, release } = rig();
  host.onFailure('index', 'broken');
  await turn();
  await supervisor.stop(['socket', 'index', 'log']);
  host.onFailure('log', 'broken');
  host.onFailure('nobody', 'unknown');
  await release();
  t.false(host.calls.some((call) => call.startsWith('start')));
  t.deepEqual(fatal, []);
});
