// Committed offsets and where new groups start, over restarts and torn files.
import test from 'ava';
import { Messages } from '../../../src/actors/messages.ts';
import { high32, low32 } from '../../../src/base/bytes.ts';
import { SeededRandom } from '../../../src/base/random.ts';
import { RequestCodes } from '../../../src/protocol/codes.ts';
import { MemoryFiles } from '../../../src/store/files/memory-files.ts';
import { Bench } from './bench.ts';
import { type Client, subscription } from './client.ts';

const lastGroup = { group: 'G', subscriptions: [subscription('T')], consumeFromWhere: 'CONSUME_FROM_LAST_OFFSET' };

function withTopic(bench: Bench, queueCount = 1): Client {
  const client = bench.connect();
  client.createTopic('T', queueCount);
  client.ask(RequestCodes.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, Buffer.from('{"groupName":"G"}'));
  return client;
}

test('offsets: commit, query, backwards, minus one, and the refusals', (t) => {
  const bench = new Bench();
  const client = withTopic(bench);
  t.is(client.commit('G', 'T', 0, 7).code, 0);
  t.is(client.queryOffset('G', 'T', 0), 7);
  t.is(client.commit('G', 'T', 0, -1).code, 0);
  t.is(client.queryOffset('G', 'T', 0), 7, '-1 says nothing');
  t.is(client.commit('G', 'T', 0, 2).code, 0);
  t.is(client.queryOffset('G', 'T', 0), 2);
  t.true(bench.logged.some(({ message, fields }) => message.includes('backwards') && fields['stored'] === 7));
  t.is(client.commit('G', 'T', 99, 1).code, 0, 'queues are not checked');
  t.is(client.commit('NOGROUP', 'T', 0, 1).code, 26);
  t.is(client.commit('G', 'NOTOPIC', 0, 1).code, 17);
  t.is(client.ask(RequestCodes.UPDATE_CONSUMER_OFFSET, { consumerGroup: 'G', topic: 'T', queueId: 0 }).code, 29);
  t.is(client.ask(RequestCodes.UPDATE_CONSUMER_OFFSET, { consumerGroup: 'G', topic: 'T', queueId: 'x', commitOffset: 1 }).code, 29);
  t.is(client.ask(RequestCodes.QUERY_CONSUMER_OFFSET).code, 1);
  t.false(bench.groups.has('NOGROUP'));
});

test('offsets: a commit that rides on a pull counts, also beyond 32 bits, and makes its group', (t) => {
  const bench = new Bench();
  const client = withTopic(bench);
  const send = (group: string, topic: string, queueId: number, offset: number): void => {
    const bytes = Buffer.from(group + topic);
    bench
      .outboxOf(0)
      .send(Messages.commitOffset, [queueId, high32(offset), low32(offset), group.length, topic.length, client.connectionId], bytes);
    bench.run();
  };
  const far = 2 ** 40 + 2 ** 31 + 5;
  send('G', 'T', 0, far);
  t.is(client.queryOffset('G', 'T', 0), far);
  send('NEWG', 'T', 0, 3);
  t.is(client.queryOffset('NEWG', 'T', 0), 3);
  send('G', 'T', 0, -1);
  t.is(client.queryOffset('G', 'T', 0), far);
  send('G', 'NOTOPIC', 0, 3);
  t.false(bench.topics.has('NOTOPIC'));
});

test('offsets: a commit far behind the stored one is taken, and logged with its client (BR-06)', (t) => {
  const bench = new Bench();
  const client = withTopic(bench);
  client.beat('c1', [lastGroup]);
  client.commit('G', 'T', 0, 1000);
  t.is(client.commit('G', 'T', 0, 0).code, 0);
  const line = bench.logged.find(({ message }) => message.includes('backwards'));
  t.like(line?.fields, { group: 'G', stored: 1000, committed: 0, clientId: 'c1' });
});

test('offsets: they are on disk after the interval, not before, and after a stop', (t) => {
  const files = new MemoryFiles();
  const bench = new Bench({ files, sets: ['flushConsumerOffsetInterval=5000'] });
  const client = withTopic(bench);
  const path = '/store/config/consumerOffset.json';
  client.commit('G', 'T', 0, 7);
  t.is(bench.coordinator.deadlineMs(), 5000);
  bench.advance(4999);
  t.is(files.stat(path), null);
  bench.advance(1);
  t.not(files.stat(path), null);
  t.is(new Bench({ files }).connect().queryOffset('G', 'T', 0), 7);
  client.commit('G', 'T', 0, 8);
  bench.coordinator.stop();
  t.is(new Bench({ files }).connect().queryOffset('G', 'T', 0), 8);
});

test('offsets: nothing is written while nothing changes', (t) => {
  const bench = new Bench();
  const client = withTopic(bench);
  client.commit('G', 'T', 0, 7);
  bench.advance(10_000);
  client.commit('G', 'T', 0, 7);
  t.true(bench.coordinator.deadlineMs() >= bench.clock.steadyMs() + 10_000);
});

test('offsets: a torn file falls back to the one before, and to what was noted on top of that while it still is (BR-04)', (t) => {
  for (const [noted, found] of [
    [[], 9],
    [[11], 7],
  ] as const) {
    const files = new MemoryFiles();
    const first = new Bench({ files });
    const client = withTopic(first);
    for (const offset of [7, 9]) {
      client.commit('G', 'T', 0, offset);
      first.advance(6000);
    }
    for (const offset of noted) client.commit('G', 'T', 0, offset);
    const path = '/store/config/consumerOffset.json';
    const size = files.stat(path)?.sizeBytes as number;
    for (const cut of [0, 1, Math.floor(size / 2), size - 2]) {
      const fd = files.open(path, 'write');
      files.truncate(fd, cut);
      files.close(fd);
      t.is(new Bench({ files }).connect().queryOffset('G', 'T', 0), found, `cut at ${cut}`);
    }
  }
});

test('offsets: a new group that wants the end gets what is stored after it joined (BR-07)', (t) => {
  const bench = new Bench();
  const client = withTopic(bench, 3);
  bench.ends.set(bench.key('T', 0), 10);
  bench.ends.set(bench.key('T', 1), 4);
  client.beat('a', [lastGroup]);
  bench.ends.set(bench.key('T', 0), 11);
  bench.ends.set(bench.key('T', 2), 2);
  t.is(client.queryOffset('G', 'T', 0), 10, 'only message 10 is new');
  t.is(client.queryOffset('G', 'T', 1), 4);
  t.is(client.queryOffset('G', 'T', 2), 0, 'the queue was empty when it joined');
});

test('offsets: a group that starts on an empty queue misses nothing, in any order of events (BR-102)', (t) => {
  const bench = new Bench();
  const client = withTopic(bench);
  const key = bench.key('T', 0);
  const random = new SeededRandom(7);
  for (let round = 0; round < 200; round++) {
    const group = `G${round}`;
    let end = bench.ends.get(key);
    const storedBefore = end;
    const steps = ['join', 'query', 'send', 'send', 'send'];
    let joinedAt = -1;
    let answer = -2;
    while (steps.length > 0) {
      const step = steps.splice(random.below(steps.length), 1)[0];
      if (step === 'send') bench.ends.set(key, ++end);
      else if (step === 'join') {
        client.beat('a', [{ ...lastGroup, group }]);
        joinedAt = end;
      } else if (joinedAt >= 0) answer = client.queryOffset(group, 'T', 0);
    }
    if (answer === -2) answer = client.queryOffset(group, 'T', 0);
    t.is(answer, joinedAt, `round ${round}, ${storedBefore} messages before`);
  }
});

test('offsets: from first, by time, for members that pull, without a heartbeat, and the retry topic', (t) => {
  const bench = new Bench();
  const client = withTopic(bench);
  const key = bench.key('T', 0);
  bench.ends.set(key, 10);
  bench.begins.set(key, 3);
  client.beat('a', [
    { ...lastGroup, group: 'FIRST', consumeFromWhere: 'CONSUME_FROM_FIRST_OFFSET' },
    {
      ...lastGroup,
      group: 'TIME',
      consumeFromWhere: 'CONSUME_FROM_TIMESTAMP',
      subscriptions: [subscription('T'), subscription('%RETRY%TIME')],
    },
    { ...lastGroup, group: 'PULLS', consumeType: 'CONSUME_ACTIVELY' },
    { ...lastGroup, group: 'OLDNAME', consumeFromWhere: 'CONSUME_FROM_MAX_OFFSET' },
  ]);
  t.is(client.queryOffset('FIRST', 'T', 0), 3);
  t.is(client.queryOffset('TIME', 'T', 0), -1);
  t.is(client.queryOffset('OLDNAME', 'T', 0), 10);
  t.is(client.queryOffset('PULLS', 'T', 0), -1, 'what it says of the start is a constant of the client');
  t.is(client.queryOffset('NEVER', 'T', 0), -1);
  bench.begins.set(key, 10);
  bench.ends.set(key, 14);
  t.is(client.queryOffset('PULLS', 'T', 0), 10, 'whatever it would decide, it has missed nothing of these');
  bench.ends.set(bench.key('%RETRY%TIME', 0), 4);
  t.is(client.queryOffset('TIME', '%RETRY%TIME', 0), 0);
  t.is(client.queryOffset('G', 'T', 9), -1, 'no such queue');
  t.is(client.queryOffset('G', 'NOTOPIC', 0), -1);
  const asked = client.ask(RequestCodes.QUERY_CONSUMER_OFFSET, {
    consumerGroup: 'FIRST',
    topic: 'T',
    queueId: 0,
    setZeroIfNotFound: 'false',
  });
  t.is(asked.code, 22);
});

test('offsets: who subscribes before the topic is there gets it from the first message', (t) => {
  const bench = new Bench();
  const client = bench.connect();
  client.beat('a', [lastGroup]);
  client.createTopic('T', 1);
  bench.ends.set(bench.key('T', 0), 3);
  client.beat('a', [lastGroup]);
  t.is(client.queryOffset('G', 'T', 0), 0);
});

test('offsets: the time of joining survives a restart, and only the first one counts', (t) => {
  const files = new MemoryFiles();
  const first = new Bench({ files });
  const client = withTopic(first);
  first.ends.set(first.key('T', 0), 10);
  client.beat('a', [lastGroup]);
  const second = new Bench({ files });
  const key = second.key('T', 0);
  second.ends.set(key, 15);
  const again = second.connect();
  again.beat('a', [lastGroup]);
  t.is(again.queryOffset('G', 'T', 0), 10);
  second.begins.set(key, 12);
  t.is(again.queryOffset('G', 'T', 0), 12, 'what is gone cannot be read');
  second.begins.set(key, 0);
  second.ends.set(key, 8);
  t.is(again.queryOffset('G', 'T', 0), 8, 'nor what a crash took');
});

test("offsets: with Apache's rule a young queue starts at its first message", (t) => {
  const bench = new Bench({ sets: ['newGroupOffset=apache'] });
  const client = withTopic(bench, 2);
  const key = bench.key('T', 0);
  bench.ends.set(key, 10);
  t.is(client.queryOffset('G', 'T', 0), 0);
  bench.begins.set(key, 1);
  t.is(client.queryOffset('G', 'T', 0), -1);
  t.is(client.queryOffset('G', 'T', 1), -1, 'empty');
});

test('offsets: all of them for a slave; figures for tools', (t) => {
  const bench = new Bench();
  const client = withTopic(bench, 2);
  bench.ends.set(bench.key('T', 0), 10);
  bench.storeTimes.set(`${bench.key('T', 0)}:6`, 777).set(`${bench.key('T', 0)}:9`, 1234);
  client.commit('G', 'T', 0, 7);
  const all = client.json(RequestCodes.GET_ALL_CONSUMER_OFFSET) as { offsetTable: unknown };
  t.deepEqual(all.offsetTable, { 'T@G': { 0: 7 } });
  client.beat('a', [{ ...lastGroup, subscriptions: [subscription('T'), subscription('%RETRY%G')] }]);
  const stats = client.ask(RequestCodes.GET_CONSUME_STATS, { consumerGroup: 'G' }).body.toString();
  t.true(
    stats.includes(
      '{"brokerName":"broker-a","queueId":0,"topic":"T"}:{"brokerOffset":10,"consumerOffset":7,"lastTimestamp":777,"pullOffset":7}',
    ),
  );
  t.true(stats.includes('"topic":"%RETRY%G"'));
  const broadcast = { ...lastGroup, group: 'ALL', messageModel: 'BROADCASTING', subscriptions: [subscription('T')] };
  client.beat('b', [broadcast]);
  const own = client.ask(RequestCodes.GET_CONSUME_STATS, { consumerGroup: 'ALL' }).body.toString();
  t.is(own, '{"consumeTps":0,"offsetTable":{}}', 'its members keep their offsets to themselves: that is no lag');
  t.is(client.ask(RequestCodes.GET_CONSUME_STATS, { consumerGroup: 'NOBODY' }).body.toString(), '{"consumeTps":0,"offsetTable":{}}');
  const topic = client.ask(RequestCodes.GET_TOPIC_STATS_INFO, { topic: 'T' }).body.toString();
  t.true(topic.includes('{"lastUpdateTimestamp":1234,"maxOffset":10,"minOffset":0}'));
  t.true(topic.includes('{"lastUpdateTimestamp":0,"maxOffset":0,"minOffset":0}'));
});
