// What members of a group read, and which names and expressions are taken.
import test from 'ava';
import { RequestCodes } from '../../../src/protocol/codes.ts';
import { CounterIds } from '../../../src/runtime/counters.ts';
import { Bench } from './bench.ts';
import { memberIds as members, subscription } from './client.ts';

const sub = { group: 'G', subscriptions: [subscription('T')] };

test('subscriptions: subscriptions are kept per member, merged by version, and a mismatch is told once (BR-19)', (t) => {
  const bench = new Bench();
  const a = bench.connect();
  const b = bench.connect();
  const tagA = { group: 'G', subscriptions: [subscription('T', 'A', '9')] };
  const tagB = { group: 'G', subscriptions: [subscription('T', 'B', '1700000000000000001'), subscription('T2')] };
  a.beat('a', [tagA]);
  t.regex(b.beat('b', [tagB]).remark ?? '', /subscribe to different things/);
  a.beat('a', [tagA]);
  b.beat('b', [tagB]);
  t.is(bench.counters.get(CounterIds.subscriptionMismatches), 1);
  const warning = bench.logged.find(({ message }) => message.includes('different things'));
  t.deepEqual([warning?.fields['reads'], warning?.fields['others']], ['T2[TAG *] T[TAG B]', 'T[TAG A]']);
  const merged = bench.groups
    .get('G')
    ?.live?.subscriptions.map((s) => `${s.topic} ${s.expression} ${s.version}`)
    .sort();
  t.deepEqual(merged, ['T B 1700000000000000001', 'T2 * 1']);
  b.close();
  bench.run();
  t.deepEqual(
    bench.groups.get('G')?.live?.subscriptions.map((s) => `${s.topic} ${s.expression}`),
    ['T A'],
  );
});

test('subscriptions: strict mode refuses the member that differs', (t) => {
  const bench = new Bench({ sets: ['strictSubscription=true'] });
  const a = bench.connect();
  const b = bench.connect();
  a.beat('a', [{ group: 'G', subscriptions: [subscription('T', 'A')] }]);
  const answer = b.beat('b', [{ group: 'G', subscriptions: [subscription('T', 'B')] }]);
  t.is(answer.code, 1);
  t.regex(answer.remark ?? '', /own=T\[TAG B\] others=T\[TAG A\]/);
  t.deepEqual(members(a), ['a']);
  t.is(a.beat('a', [{ group: 'G', subscriptions: [subscription('T', 'C', '2')] }]).code, 0, 'alone it may change');
});

test('subscriptions: how a member reads is part of it: model and type (BR-19)', (t) => {
  for (const [more, seen] of [
    [{ messageModel: 'BROADCASTING' }, 'T[TAG *] BROADCASTING'],
    [{ consumeType: 'CONSUME_ACTIVELY' }, 'T[TAG *] CONSUME_ACTIVELY'],
  ] as const) {
    const bench = new Bench();
    bench.connect().beat('a', [sub]);
    const b = bench.connect();
    t.regex(b.beat('b', [{ ...sub, ...more }]).remark ?? '', /subscribe to different things/);
    const warning = bench.logged.find(({ message }) => message.includes('different things'));
    t.deepEqual([warning?.fields['reads'], warning?.fields['others']], [seen, 'T[TAG *]']);
    t.is(bench.counters.get(CounterIds.mismatchedGroups), 1);
    b.beat('b', [sub]);
    t.is(bench.counters.get(CounterIds.mismatchedGroups), 0);
  }
});

test('subscriptions: many mismatches are counted one by one and logged now and then', (t) => {
  const bench = new Bench();
  for (let i = 0; i < 20; i++) {
    bench.connect().beat('a', [{ group: `G${i}`, subscriptions: [subscription('T', 'A')] }]);
    bench.connect().beat('b', [{ group: `G${i}`, subscriptions: [subscription('T', 'B')] }]);
  }
  t.is(bench.counters.get(CounterIds.subscriptionMismatches), 20);
  t.is(bench.counters.get(CounterIds.mismatchedGroups), 20);
  t.is(bench.logged.filter(({ message }) => message.includes('different things')).length, 1);
});

test('subscriptions: strict mode looks at model and type, too, and leaves the group as it was', (t) => {
  const bench = new Bench({ sets: ['strictSubscription=true'] });
  const a = bench.connect();
  a.beat('a', [sub]);
  const answer = bench.connect().beat('b', [{ ...sub, messageModel: 'BROADCASTING' }]);
  t.is(answer.code, 1);
  t.regex(answer.remark ?? '', /own=T\[TAG \*\] BROADCASTING others=T\[TAG \*\]/);
  t.false(bench.groups.get('G')?.live?.broadcasting);
  t.is(bench.counters.get(CounterIds.mismatchedGroups), 0);
});

test('subscriptions: a member is told to its own ingress alone, and only when that changes', (t) => {
  const bench = new Bench({ ingressCount: 2 });
  const a = bench.connect({ ingress: 1 });
  a.beat('a', [sub]);
  a.beat('a', [sub]);
  const told = (): unknown[] =>
    bench.members.splice(0).map((m) => [m.ingress, m.connectionId, m.group, m.live?.subscriptions.map((s) => s.topic)]);
  t.deepEqual(told(), [[1, a.connectionId, 'G', ['T']]]);
  a.beat('a', [{ group: 'G', subscriptions: [subscription('T'), subscription('U')] }]);
  t.deepEqual(told(), [[1, a.connectionId, 'G', ['T', 'U']]]);
  const newer = bench.connect({ ingress: 0 });
  newer.beat('a', [sub]);
  t.deepEqual(told().sort(), [
    [0, newer.connectionId, 'G', ['T']],
    [1, a.connectionId, 'G', undefined],
  ]);
  newer.ask(RequestCodes.UNREGISTER_CLIENT, { clientID: 'a', consumerGroup: 'G' });
  t.deepEqual(told(), [[0, newer.connectionId, 'G', undefined]]);
});

test('subscriptions: short heartbeats count for members whose whole one is known, each by its own fingerprint', (t) => {
  const bench = new Bench();
  const a = bench.connect();
  const b = bench.connect();
  const change = (answer: { ext: Record<string, string> }): string =>
    `${answer.ext['IS_SUPPORT_HEART_BEAT_V2']} ${answer.ext['IS_SUB_CHANGE']}`;
  const short = [{ group: 'G' }];
  t.is(change(a.beat('a', short, [], true, 7)), 'true true', 'nothing is known yet');
  t.deepEqual(members(a), [], 'so it is no member');
  t.is(change(a.beat('a', [sub], [], false, 7)), 'true false');
  t.is(change(b.beat('b', [{ group: 'G', subscriptions: [subscription('T', 'B')] }], [], false, 8)), 'true false', 'others do not matter');
  t.is(change(a.beat('a', short, [], true, 7)), 'true false');
  t.is(change(a.beat('a', short, [], true, 9)), 'true true', 'it reads something else now');
  t.is(change(a.beat('a', [sub], [], false, 9)), 'true false');
  t.is(change(a.beat('a', [sub])), 'true true', 'a client of whole heartbeats');
  t.deepEqual(
    bench.groups.get('G')?.live?.subscriptions.map((s) => s.topic),
    ['T'],
  );
});

test('subscriptions: a short heartbeat keeps a member alive as a whole one does', (t) => {
  const bench = new Bench();
  const a = bench.connect();
  a.beat('a', [sub], [], false, 7);
  for (let i = 0; i < 5; i++) {
    bench.advance(100_000);
    a.beat('a', [{ group: 'G' }], [], true, 7);
  }
  t.deepEqual(members(a), ['a']);
});

test('subscriptions: consumers that pull by themselves are passed over where they are not wanted', (t) => {
  const bench = new Bench({ sets: ['rejectPullConsumerEnable=true'] });
  const a = bench.connect();
  const answer = a.beat('a', [
    { ...sub, consumeType: 'CONSUME_ACTIVELY' },
    { ...sub, group: 'H' },
  ]);
  t.is(answer.code, 0);
  t.regex(answer.remark ?? '', /rejectPullConsumerEnable/);
  t.deepEqual([members(a, 'G'), members(a, 'H')], [[], ['a']]);
});

test('subscriptions: a short heartbeat keeps the subscriptions', (t) => {
  const bench = new Bench();
  const a = bench.connect();
  a.beat('a', [sub]);
  a.beat('a', [{ group: 'G' }], [], true);
  t.deepEqual(
    bench.groups.get('G')?.live?.subscriptions.map((s) => s.topic),
    ['T'],
  );
  a.beat('a', [{ group: 'G' }]);
  bench.run();
  t.deepEqual(bench.groups.get('G')?.live?.subscriptions, []);
});

test('subscriptions: 46 takes tags, refuses what is not served with words', (t) => {
  const bench = new Bench();
  const a = bench.connect();
  const check = (type: string): number =>
    a.ask(
      RequestCodes.CHECK_CLIENT_CONFIG,
      {},
      Buffer.from(
        `{"clientId":"a","group":"G","subscriptionData":{"topic":"T","subString":"a > 1","subVersion":1,"expressionType":"${type}"}}`,
      ),
    ).code;
  t.deepEqual([check('TAG'), check(''), check('SQL92'), check('XYZ')], [0, 0, 1, 23]);
});

test('subscriptions: groups that may not be made are passed over, the rest of the heartbeat counts', (t) => {
  const bench = new Bench({ sets: ['autoCreateSubscriptionGroup=false'] });
  const admin = bench.connect();
  admin.ask(RequestCodes.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, Buffer.from('{"groupName":"KNOWN"}'));
  const a = bench.connect();
  const answer = a.beat('a', [
    { ...sub, group: 'UNKNOWN' },
    { ...sub, group: 'bad name' },
    { ...sub, group: 'KNOWN' },
  ]);
  t.is(answer.code, 0);
  t.deepEqual(members(a, 'KNOWN'), ['a']);
  t.false(bench.groups.has('UNKNOWN'));
  t.false(bench.groups.has('bad name'));
});

test('subscriptions: names of groups are judged where they come in (BR-39)', (t) => {
  const bench = new Bench();
  const a = bench.connect();
  const longest = 'G'.repeat(120);
  t.is(
    a.beat('a', [
      { ...sub, group: longest },
      { ...sub, group: `${longest}G` },
      { ...sub, group: '群' },
    ]).code,
    0,
  );
  t.true(bench.topics.has(`%RETRY%${longest}`));
  t.false(bench.groups.has(`${longest}G`));
  t.is(a.ask(RequestCodes.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, Buffer.from(`{"groupName":"${longest}G"}`)).code, 29);
});

test('subscriptions: a consumer whose group cannot be made, or that may not pull by itself, is told of in the log, with the cause', (t) => {
  const long = 'G'.repeat(121);
  for (const [sets, beat, why] of [
    [[], { ...sub, group: long }, /longer than group max length: 120/],
    [['autoCreateSubscriptionGroup=false'], sub, /G: autoCreateSubscriptionGroup is off, create it first/],
    [['rejectPullConsumerEnable=true'], { ...sub, consumeType: 'CONSUME_ACTIVELY' }, /rejectPullConsumerEnable/],
  ] as const) {
    const bench = new Bench({ sets: [...sets] });
    const a = bench.connect();
    for (let i = 0; i < 3; i++) {
      const answer = a.beat('a', [beat]);
      t.is(answer.code, 0);
      t.regex(answer.remark ?? '', why);
    }
    const lines = bench.logged.filter(({ message }) => message === 'a consumer is no member of its group and gets no messages');
    t.is(lines.length, 1);
    t.regex(String(lines[0]?.fields['why']), why);
    t.is(lines[0]?.fields['clientId'], 'a');
  }
});
