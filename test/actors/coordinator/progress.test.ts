// What tools are shown of a group's progress: which topics count, by what its members read now.
import test from 'ava';
import { Messages } from '../../../src/actors/messages.ts';
import { RequestCodes } from '../../../src/protocol/codes.ts';
import { Bench } from './bench.ts';
import { type Client, subscription } from './client.ts';

/** Topics of the answer, as often as they have queues. */
function topicsIn(admin: Client, ext: { topic?: string; topicList?: string } = {}): string[] {
  const answer = admin.ask(RequestCodes.GET_CONSUME_STATS, { consumerGroup: 'G', ...ext });
  return [...answer.body.toString().matchAll(/"topic":"([^"]*)"/g)].map(([, topic]) => topic as string).sort();
}

function allIn(admin: Client): string {
  return admin.ask(RequestCodes.GET_BROKER_CONSUME_STATS, { isOrder: false }).body.toString();
}

/** Topics T and OLD with ten messages each, of which a group of its own has read two. */
function started(): { bench: Bench; admin: Client; member: Client } {
  const bench = new Bench();
  const admin = bench.connect();
  for (const topic of ['T', 'OLD']) {
    admin.createTopic(topic, 1);
    bench.ends.set(bench.key(topic, 0), 10);
  }
  admin.ask(RequestCodes.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, Buffer.from('{"groupName":"G"}'));
  return { bench, admin, member: bench.connect() };
}

test('progress: what members have left off reading is no lag while they are there', (t) => {
  const { bench, admin, member } = started();
  admin.commit('G', 'OLD', 0, 2);
  admin.commit('G', 'T', 0, 3);
  t.deepEqual(topicsIn(admin), ['OLD', 'T'], 'nobody is there: all that was ever read');
  member.beat('c', [{ subscriptions: [subscription('T')] }]);
  t.deepEqual(topicsIn(admin), ['T']);
  t.deepEqual(topicsIn(admin, { topic: 'OLD' }), []);
  t.deepEqual(topicsIn(admin, { topicList: 'OLD;T' }), ['OLD', 'T'], 'a list is answered for as it is');
  t.true(allIn(admin).includes('"totalDiff":7,'), allIn(admin));
  member.close();
  bench.run();
  t.deepEqual(topicsIn(admin), ['OLD', 'T']);
  t.true(allIn(admin).includes('"totalDiff":15,'), allIn(admin));
});

test('progress: members that pull what they do not subscribe to have all that they committed', (t) => {
  const { admin, member } = started();
  admin.commit('G', 'OLD', 0, 2);
  member.beat('c', [{ consumeType: 'CONSUME_ACTIVELY', subscriptions: [] }]);
  t.deepEqual(topicsIn(admin), ['OLD']);
});

test('progress: a group that subscribes and has not committed is where it will start', (t) => {
  for (const [consumeFromWhere, before, after] of [
    ['CONSUME_FROM_FIRST_OFFSET', 10, 13],
    ['CONSUME_FROM_LAST_OFFSET', 0, 3],
    ['CONSUME_FROM_TIMESTAMP', 10, 13],
  ] as const) {
    const { bench, admin, member } = started();
    member.beat('c', [{ consumeFromWhere, subscriptions: [subscription('T')] }]);
    t.deepEqual(topicsIn(admin), ['T']);
    t.true(allIn(admin).includes(`"totalDiff":${before},`), allIn(admin));
    bench.ends.set(bench.key('T', 0), 13);
    t.true(allIn(admin).includes(`"totalDiff":${after},`), allIn(admin));
  }
});

test('progress: members that broadcast keep their offsets, so there is no lag that tools could show', (t) => {
  const { admin, member } = started();
  member.beat('c', [{ messageModel: 'BROADCASTING', subscriptions: [subscription('T')] }]);
  t.deepEqual(topicsIn(admin), []);
  t.deepEqual(topicsIn(admin, { topic: 'T' }), []);
  t.true(allIn(admin).includes('"totalDiff":0,'), allIn(admin));
  admin.commit('G', 'T', 0, 4);
  t.deepEqual(topicsIn(admin), [], 'what a tool has set meanwhile is not where they are');
});

test('progress: nothing is in hand of a group once its offsets were set, or nobody is there', (t) => {
  const { bench, admin, member } = started();
  const give = (nextOffset: number): void => {
    bench.outboxOf(0).sendJson(Messages.readCounts, { rows: [['G', 'T', 0, 1, nextOffset, 100, nextOffset]], sentBack: [] });
    bench.run();
  };
  member.beat('c', [{ subscriptions: [subscription('T')] }]);
  admin.commit('G', 'T', 0, 3);
  give(8);
  t.true(allIn(admin).includes('"totalDiff":7,"totalInflightDiff":5'), allIn(admin));
  const wish = { group: 'G', topic: 'T', queueId: 0, offset: 1, timestamp: -1, isForce: true };
  t.is(admin.ask(RequestCodes.INVOKE_BROKER_TO_RESET_OFFSET, wish).code, 0);
  t.true(allIn(admin).includes('"totalDiff":9,"totalInflightDiff":0'), allIn(admin));
  give(6);
  t.true(allIn(admin).includes('"totalDiff":9,"totalInflightDiff":5'), allIn(admin));
  member.close();
  bench.run();
  t.true(allIn(admin).includes('"totalDiff":9,"totalInflightDiff":0'), allIn(admin));
});
