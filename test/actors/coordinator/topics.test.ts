// Topics through the wire: made at the start, by tools and by sends; removed and made again; kept over restarts.
import test from 'ava';
import { Messages } from '../../../src/actors/messages.ts';
import { RequestCodes } from '../../../src/protocol/codes.ts';
import type { Files } from '../../../src/store/files/files.ts';
import { MemoryFiles } from '../../../src/store/files/memory-files.ts';
import { Bench } from './bench.ts';
import { subscription } from './client.ts';

function ensure(bench: Bench, topic: string, more: Record<string, unknown> = {}): number {
  const token = bench.ensured.length + 1;
  bench.outboxOf(0).sendJson(Messages.ensureTopic, { token, topic, defaultTopic: 'TBW102', queueCount: 4, unit: false, ...more });
  bench.run();
  return bench.ensured.find((answer) => answer.token === token)?.code ?? -1;
}

test('topics: the start topics are there, with keys for all queues, and on disk', (t) => {
  const bench = new Bench();
  const counts = (name: string): unknown => {
    const topic = bench.topics.get(name);
    return topic === undefined ? null : [topic.readQueueCount, topic.writeQueueCount, topic.perm];
  };
  t.deepEqual(counts('TBW102'), [8, 8, 7]);
  t.deepEqual(counts('SCHEDULE_TOPIC_XXXX'), [18, 18, 6]);
  t.deepEqual(counts('BenchmarkTest'), [1024, 1024, 6]);
  t.deepEqual(counts('DefaultCluster'), [16, 16, 7]);
  t.deepEqual(counts('broker-a'), [1, 1, 7]);
  t.deepEqual(counts('DefaultCluster_REPLY_TOPIC'), [1, 1, 6]);
  t.deepEqual(counts('rmq_sys_REVIVE_LOG_DefaultCluster'), [8, 8, 6]);
  t.deepEqual(counts('rmq_sys_SYNC_BROKER_MEMBER_broker-a'), [1, 1, 1]);
  t.deepEqual(counts('rmq_sys_wheel_timer'), [1, 1, 6]);
  t.is(counts('RMQ_SYS_TRACE_TOPIC'), null);
  const keys = [...bench.topics.values()].flatMap((topic) => topic.keys);
  t.is(new Set(keys).size, keys.length);
  t.deepEqual(
    bench.added.map(({ key }) => key).sort((a, b) => a - b),
    [...keys].sort((a, b) => a - b),
  );
  t.true(bench.files.stat('/store/config/topics.json') !== null);
});

test('topics: with automatic creation off a stored template loses its power', (t) => {
  const files = new MemoryFiles();
  const first = new Bench({ files });
  t.is(first.topics.get('TBW102')?.perm, 7);
  const second = new Bench({ files, sets: ['autoCreateTopicEnable=false'] });
  t.is(second.topics.get('TBW102')?.perm, 6);
  t.is(ensure(second, 'NEW'), 17);
});

test('topics: 17 makes and changes, tells dispatch before ingress, and is durable before the answer', (t) => {
  const bench = new Bench({ dispatchCount: 2 });
  bench.events.length = 0;
  const admin = bench.connect();
  t.is(admin.createTopic('T', 4).code, 0);
  t.deepEqual(bench.events, ['told dispatch-0', 'told dispatch-1', 'told ingress-0']);
  t.is(bench.topics.get('T')?.keys.length, 4);
  const before = admin.json(RequestCodes.GET_ALL_TOPIC_CONFIG) as { dataVersion: unknown };
  t.is(admin.createTopic('T', 4).code, 0);
  t.deepEqual((admin.json(RequestCodes.GET_ALL_TOPIC_CONFIG) as { dataVersion: unknown }).dataVersion, before.dataVersion);
  const again = new Bench({ files: bench.files });
  t.is(again.topics.get('T')?.readQueueCount, 4);
});

test('topics: no ingress hears of queues that a dispatcher has no room to hear of', (t) => {
  const bench = new Bench({ dispatchRingBytes: 256 * 1024 });
  const admin = bench.connect();
  bench.stuck.add('dispatch-0');
  // Long names, so that these queues do not fit into the ring together.
  for (const topic of [...'ABCDEF'].map((letter) => letter.repeat(120)).concat('LAST')) {
    admin.send(RequestCodes.UPDATE_AND_CREATE_TOPIC, { topic, readQueueNums: 400, writeQueueNums: 400, perm: 6 });
  }
  bench.run();
  t.false(bench.topics.has('LAST'));
  bench.stuck.clear();
  bench.run();
  t.true(bench.topics.has('LAST'));
  t.true(bench.added.some(({ topic }) => topic === 'LAST'));
});

test('topics: a topic that shrinks keeps its keys for when it grows again, and what it hides is told (BR-21)', (t) => {
  const bench = new Bench();
  const admin = bench.connect();
  admin.createTopic('T', 4);
  const keys = bench.topics.get('T')?.keys;
  bench.ends.set(bench.key('T', 3), 5);
  admin.createTopic('T', 2);
  t.is(bench.topics.get('T')?.keys.length, 2);
  t.true(bench.logged.some(({ message, fields }) => message.includes('fewer queues') && fields['hidden'] === 5));
  admin.createTopic('T', 4);
  t.deepEqual(bench.topics.get('T')?.keys, keys);
  admin.ask(RequestCodes.UPDATE_AND_CREATE_TOPIC, { topic: 'T', readQueueNums: 3, writeQueueNums: 6, perm: 6 });
  t.true(bench.logged.some(({ level, message }) => level === 'warn' && message.includes('nobody can read')));
});

test('topics: wrong names, counts and attributes are refused with words', (t) => {
  const bench = new Bench();
  const admin = bench.connect();
  const create = (ext: Record<string, string | number>): number =>
    admin.ask(RequestCodes.UPDATE_AND_CREATE_TOPIC, { readQueueNums: 1, writeQueueNums: 1, perm: 6, ...ext }).code;
  t.is(admin.ask(RequestCodes.UPDATE_AND_CREATE_TOPIC).code, 29);
  t.is(create({ topic: 'a b' }), 29);
  t.is(create({ topic: 'T'.repeat(128) }), 29);
  t.is(create({ topic: 'T'.repeat(127) }), 0);
  t.is(create({ topic: 'SCHEDULE_TOPIC_XXXX' }), 29);
  t.is(create({ topic: 'rmq_sys_mine' }), 29);
  t.is(create({ topic: 'T', perm: 8 }), 29);
  t.is(create({ topic: 'T', readQueueNums: -1 }), 29);
  t.is(create({ topic: 'T', readQueueNums: 'many' }), 1);
  t.is(create({ topic: 'T', attributes: '+message.type=MIXED' }), 29);
  t.is(create({ topic: 'T', attributes: '+colour=red' }), 1);
  t.is(create({ topic: 'T', attributes: '+message.type=FIFO' }), 0);
  t.is(create({ topic: 'T', attributes: '+cleanup.policy=COMPACTION' }), 1, 'immutable once it exists');
  const config = admin.json(RequestCodes.GET_TOPIC_CONFIG, { topic: 'T' }) as { attributes: unknown };
  t.deepEqual(config.attributes, { 'message.type': 'FIFO' });
  const tooMany = admin.createTopic('BIG', 4000);
  t.is(tooMany.code, 1);
  t.regex(tooMany.remark ?? '', /maxQueueCount=4096/);
  t.false(bench.topics.has('BIG'));
  t.is(admin.ask(RequestCodes.GET_TOPIC_CONFIG, { topic: 'NONE' }).code, 17);
});

test('topics: 18 makes several', (t) => {
  const bench = new Bench();
  const admin = bench.connect();
  const body = '{"topicConfigList":[{"topicName":"A","attributes":{"+message.type":"NORMAL"}},{"topicName":"B","readQueueNums":2}]}';
  t.is(admin.ask(RequestCodes.UPDATE_AND_CREATE_TOPIC_LIST, {}, Buffer.from(body)).code, 0);
  t.deepEqual([bench.topics.get('A')?.readQueueCount, bench.topics.get('B')?.readQueueCount], [16, 2]);
  t.is(admin.ask(RequestCodes.UPDATE_AND_CREATE_TOPIC_LIST, {}, Buffer.from('oops')).code, 1);
});

test('topics: a send makes the topic it names, as the template says', (t) => {
  const bench = new Bench();
  t.is(ensure(bench, 'AUTO'), 0);
  t.deepEqual([bench.topics.get('AUTO')?.writeQueueCount, bench.topics.get('AUTO')?.perm], [4, 6]);
  t.is(ensure(bench, 'WIDE', { queueCount: 100, unit: true }), 0);
  t.deepEqual([bench.topics.get('WIDE')?.writeQueueCount, bench.topics.get('WIDE')?.sysFlag], [8, 1]);
  t.is(ensure(bench, 'AUTO'), 0, 'it is there already');
  t.is(ensure(bench, 'NONE', { defaultTopic: 'OTHER' }), 17);
  t.is(ensure(bench, 'bad name'), 29);
});

test('topics: a send to a retry topic makes group and topic where groups may be made', (t) => {
  const bench = new Bench();
  t.is(ensure(bench, '%RETRY%NEWG', { defaultTopic: '' }), 0);
  t.true(bench.groups.has('NEWG'));
  t.is(bench.topics.get('%RETRY%NEWG')?.readQueueCount, 1);
  t.is(ensure(bench, '%DLQ%NEWG', { defaultTopic: '' }), 0);
  t.deepEqual([bench.topics.get('%DLQ%NEWG')?.readQueueCount, bench.topics.get('%DLQ%NEWG')?.perm], [1, 6]);
  const closed = new Bench({ sets: ['autoCreateSubscriptionGroup=false'] });
  t.is(ensure(closed, '%RETRY%NEWG'), 26);
});

test('topics: removed and made again, a topic starts empty for every group (BR-12)', (t) => {
  const bench = new Bench();
  const admin = bench.connect();
  admin.createTopic('T', 2);
  admin.beat('a', [{ group: 'G', subscriptions: [subscription('T')] }]);
  const oldKeys = bench.topics.get('T')?.keys ?? [];
  for (const key of oldKeys) bench.ends.set(key, 5);
  admin.commit('G', 'T', 0, 5);
  t.is(admin.ask(RequestCodes.DELETE_TOPIC_IN_BROKER, { topic: 'T' }).code, 0);
  t.false(bench.topics.has('T'));
  t.deepEqual(bench.removed, [...oldKeys]);

  // Reading what is gone brings nothing back.
  t.is(admin.ask(RequestCodes.GET_TOPIC_STATS_INFO, { topic: 'T' }).code, 17);
  t.is(admin.queryOffset('G', 'T', 0), -1);
  t.is(admin.ask(RequestCodes.GET_CONSUME_STATS, { consumerGroup: 'G', topic: 'T' }).code, 0);
  t.is(admin.commit('G', 'T', 0, 9).code, 17);
  t.false(bench.topics.has('T'));

  admin.createTopic('T', 2);
  const newKeys = bench.topics.get('T')?.keys ?? [];
  t.true(newKeys.every((key) => !oldKeys.includes(key)));
  bench.ends.set(newKeys[0] as number, 5);
  t.is(admin.queryOffset('G', 'T', 0), 0, 'all five are delivered');
  const stats = admin.ask(RequestCodes.GET_CONSUME_STATS, { consumerGroup: 'G', topic: 'T' }).body.toString();
  t.true(stats.includes('"brokerOffset":5,"consumerOffset":0'));
});

test('topics: the same with a restart between removal and the new topic', (t) => {
  const files = new MemoryFiles();
  const first = new Bench({ files });
  const admin = first.connect();
  admin.createTopic('T', 1);
  admin.beat('a', [{ group: 'G', subscriptions: [subscription('T')] }]);
  first.ends.set(first.key('T', 0), 5);
  admin.commit('G', 'T', 0, 5);
  first.coordinator.stop();
  admin.ask(RequestCodes.DELETE_TOPIC_IN_BROKER, { topic: 'T' });
  // No stop: what was answered must be on disk.
  const second = new Bench({ files });
  const tool = second.connect();
  tool.createTopic('T', 1);
  second.ends.set(second.key('T', 0), 5);
  t.is(tool.queryOffset('G', 'T', 0), 0);
});

test('topics: system topics and blank names cannot be removed, unknown ones do no harm', (t) => {
  const bench = new Bench();
  const admin = bench.connect();
  t.is(admin.ask(RequestCodes.DELETE_TOPIC_IN_BROKER).code, 29);
  t.is(admin.ask(RequestCodes.DELETE_TOPIC_IN_BROKER, { topic: 'SCHEDULE_TOPIC_XXXX' }).code, 29);
  t.is(admin.ask(RequestCodes.DELETE_TOPIC_IN_BROKER, { topic: 'NEVER' }).code, 0);
});

test('topics: the table is served whole or in pages', (t) => {
  const bench = new Bench();
  const admin = bench.connect();
  for (let i = 0; i < 10; i++) admin.createTopic(`T${i}`, 1);
  const whole = admin.json(RequestCodes.GET_ALL_TOPIC_CONFIG) as { topicConfigTable: Record<string, unknown>; dataVersion: unknown };
  const seen: string[] = [];
  for (let from = 0; ; ) {
    const answer = admin.ask(RequestCodes.GET_ALL_TOPIC_CONFIG, {
      topicSeq: from,
      maxTopicNum: 7,
      dataVersion: JSON.stringify(whole.dataVersion),
    });
    const page = JSON.parse(answer.body.toString()) as { topicConfigTable: Record<string, unknown> };
    seen.push(...Object.keys(page.topicConfigTable));
    from += 7;
    if (from >= Number(answer.ext['totalTopicNum'])) break;
  }
  t.deepEqual(seen, Object.keys(whole.topicConfigTable));
});

test('topics: queues of the store keep their keys, others get new ones', (t) => {
  const files = new MemoryFiles();
  const first = new Bench({ files });
  first.connect().createTopic('T', 3);
  const queues = [
    { key: 0, topic: 'T', queueId: 0 },
    { key: 1, topic: 'T', queueId: 2 },
  ];
  const second = new Bench({ files, queues, nextKey: 2, ends: new Map([[1, 44]]) });
  const keys = second.topics.get('T')?.keys as number[];
  t.deepEqual([keys[0], keys[2]], [0, 1]);
  t.true((keys[1] as number) >= 2);
  t.false(second.added.some(({ topic, queueId }) => topic === 'T' && queueId !== 1));
  const stats = second.connect().ask(RequestCodes.GET_TOPIC_STATS_INFO, { topic: 'T' }).body.toString();
  t.true(stats.includes('"queueId":2,"topic":"T"}:{'));
  t.true(stats.includes('"maxOffset":44'));
});

test('topics: a change that cannot be written is refused, told to nobody, and made up for later', (t) => {
  const inner = new MemoryFiles();
  let broken = false;
  const files = new Proxy<Files>(inner, {
    get: (target, name: keyof Files) => {
      if (name === 'sync' && broken) {
        return () => {
          throw new Error('no space');
        };
      }
      return (target[name] as (...args: unknown[]) => unknown).bind(target);
    },
  });
  const bench = new Bench({ files });
  const admin = bench.connect();
  broken = true;
  const answer = admin.createTopic('T', 1);
  t.is(answer.code, 1);
  t.is(answer.remark, 'no space');
  t.false(bench.topics.has('T'));
  broken = false;
  bench.advance(1000);
  t.true(bench.topics.has('T'));
});

test('topics: while answers wait for room no new requests are taken, and none is lost', (t) => {
  const bench = new Bench({ answerRingBytes: 256 * 1024 });
  const admin = bench.connect();
  bench.run();
  bench.answersOpen = false;
  const opaques = Array.from({ length: 300 }, () => admin.send(RequestCodes.GET_ALL_TOPIC_CONFIG));
  bench.run();
  t.is(bench.coordinator.deadlineMs(), bench.clock.steadyMs() + 1, 'it looks for room again soon');
  bench.answersOpen = true;
  bench.run();
  t.is(opaques.filter((opaque) => admin.answers.get(opaque)?.code === 0).length, 300);
});

test('topics: a store with more queues than are allowed is refused at the start, with the setting to raise', (t) => {
  const error = t.throws(() => new Bench({ sets: ['maxQueueCount=64'] }), { code: 'config' });
  t.regex(error?.message ?? '', /maxQueueCount=64/);
});

test('topics: system topics are listed', (t) => {
  const list = new Bench().connect().json(RequestCodes.GET_SYSTEM_TOPIC_LIST_FROM_BROKER) as { topicList: string[] };
  for (const name of ['TBW102', 'CHECKPOINT_TOPIC', 'broker-a', 'DefaultCluster', 'rmq_sys_wheel_timer'])
    t.true(list.topicList.includes(name));
});
