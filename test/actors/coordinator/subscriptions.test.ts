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
