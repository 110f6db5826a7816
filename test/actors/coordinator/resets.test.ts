// Resets by the coordinator: what is set, who is told, whose commits count, and what is left after a restart.
import test from 'ava';
import { Messages } from '../../../src/actors/messages.ts';
import { high32, low32 } from '../../../src/base/bytes.ts';
import { encodeOffsetTable } from '../../../src/protocol/bodies/message-queue.ts';
import { RequestCodes } from '../../../src/protocol/codes.ts';
import { HeaderCodecs } from '../../../src/protocol/frame.ts';
import { encodeFrame } from '../../../src/protocol/header.ts';
import { MemoryFiles } from '../../../src/store/files/memory-files.ts';
import { Bench, type BenchOptions } from './bench.ts';
import { type Client, subscription } from './client.ts';

const member = { group: 'G', subscriptions: [subscription('T')] };

function withQueues(options: BenchOptions = {}, end = 100): { bench: Bench; client: Client } {
  const bench = new Bench(options);
  const client = bench.connect();
  client.createTopic('T', 2);
  client.ask(RequestCodes.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, Buffer.from('{"groupName":"G"}'));
  for (let queueId = 0; queueId < 2; queueId++) bench.ends.set(bench.key('T', queueId), end);
  return { bench, client };
}

function reset(client: Client, more: Record<string, string | number> = {}): ReturnType<Client['ask']> {
  return client.ask(RequestCodes.INVOKE_BROKER_TO_RESET_OFFSET, { topic: 'T', group: 'G', timestamp: 5, isForce: true, ...more });
}

function table(...offsets: number[]): string {
  return encodeOffsetTable(offsets.map((offset, queueId) => [{ topic: 'T', brokerName: 'broker-a', queueId }, offset])).toString();
}

/** What an ingress reports of a pull. */
function pulled(bench: Bench, client: Client, queueId: number, knows: 0 | 1): void {
  const epoch = bench.groups.get('G')?.resets?.find((each) => each.queueId === queueId)?.epoch ?? -1;
  bench.outboxOf(0).send(Messages.resetPulled, [epoch, client.connectionId, knows]);
  bench.run();
}

test('resets: to a time, to the end, to an offset of one queue, and never out of the queue', (t) => {
  const { bench, client } = withQueues();
  bench.ingress.lookUp = (key, _kind, timeMs) => (key === bench.key('T', 0) ? 40 : 400) + timeMs;
  const byTime = reset(client);
  t.is(byTime.code, 0);
  t.is(byTime.body.toString(), table(45, 100), 'never beyond the end');
  t.is(client.queryOffset('G', 'T', 0), 45);
  t.is(reset(client, { timestamp: -1 }).body.toString(), table(100, 100));
  t.is(reset(client, { queueId: 0, offset: 7 }).body.toString(), table(7));
  t.is(client.queryOffset('G', 'T', 0), 7);
  t.is(client.queryOffset('G', 'T', 1), 100, 'the other queue stays');
  bench.begins.set(bench.key('T', 0), 50);
  t.is(reset(client, { queueId: 0, offset: 49 }).code, 1);
  t.is(reset(client, { queueId: 0, offset: 102 }).code, 1);
  t.is(reset(client, { queueId: 0, offset: 101 }).body.toString(), table(100));
  t.is(reset(client, { timestamp: 0 }).body.toString(), table(50, 100), 'nor before its begin (BR-10)');
  t.is(reset(client, { queueId: 2 }).code, 29);
  t.is(reset(client, { topic: 'NOTOPIC' }).code, 17);
  t.is(reset(client, { group: 'NOGROUP' }).code, 26);
});

test('resets: a tool is told where the queues could not be looked up, and nothing is changed', (t) => {
  const { bench, client } = withQueues();
  client.commit('G', 'T', 0, 90);
  bench.ingress.lookUp = null;
  const opaque = client.send(RequestCodes.INVOKE_BROKER_TO_RESET_OFFSET, { topic: 'T', group: 'G', timestamp: 5, isForce: true });
  bench.advance(9_999);
  t.false(client.answers.has(opaque));
  bench.advance(1);
  t.is(client.answers.get(opaque)?.code, 1);
  t.is(client.queryOffset('G', 'T', 0), 90);
});

test('resets: late commits lose, alone and along with pulls, until their connection has pulled after it was told (BR-08)', (t) => {
  const { bench, client } = withQueues();
  const consumer = bench.connect();
  consumer.beat('a', [member]);
  consumer.commit('G', 'T', 0, 90);
  reset(client, { queueId: 0, offset: 20 });
  const reason = 'Offset has been previously reset';
  const along = (offset: number): void => {
    bench.outboxOf(0).send(Messages.commitOffset, [0, high32(offset), low32(offset), 1, 1, consumer.connectionId], Buffer.from('GT'));
    bench.run();
  };
  t.like(consumer.commit('G', 'T', 0, 91), { code: 0, remark: reason });
  along(91);
  pulled(bench, consumer, 0, 0);
  t.like(consumer.commit('G', 'T', 0, 91), { code: 0, remark: reason });
  along(91);
  t.is(client.queryOffset('G', 'T', 0), 20);
  pulled(bench, consumer, 0, 1);
  t.is(consumer.commit('G', 'T', 0, 21).remark, undefined);
  along(22);
  t.is(client.queryOffset('G', 'T', 0), 22);
  const other = bench.connect();
  t.like(other.commit('G', 'T', 0, 91), { code: 0, remark: reason });
  bench.advance(61_000);
  t.is(bench.groups.get('G')?.resets, null, 'nobody hears of it any more');
  t.is(other.commit('G', 'T', 0, 30).remark, undefined);
});

test('resets: they survive a restart until somebody knows of them, and the file is written before the answer (BR-08)', (t) => {
  const files = new MemoryFiles();
  const { bench, client } = withQueues({ files });
  client.commit('G', 'T', 0, 90);
  bench.advance(10_000);
  reset(client, { timestamp: -1, queueId: 0, offset: 20 });
  const ends = new Map([0, 1].map((queueId) => [bench.key('T', queueId), 100]));
  const queues = [...ends.keys()].map((key, queueId) => ({ key, topic: 'T', queueId }));
  const second = new Bench({ files, queues, nextKey: 2000, ends });
  const again = second.connect();
  t.is(again.queryOffset('G', 'T', 0), 20);
  t.like(second.groups.get('G')?.resets?.[0], { topic: 'T', queueId: 0, offset: 20, state: 'open' });
  again.commit('G', 'T', 0, 91);
  t.is(again.queryOffset('G', 'T', 0), 20);
  pulled(second, again, 0, 0);
  pulled(second, again, 0, 1);
  again.commit('G', 'T', 0, 25);
  second.advance(10_000);
  const third = new Bench({ files, queues, nextKey: 2000, ends });
  t.is(third.connect().queryOffset('G', 'T', 0), 25);
  t.is(third.groups.get('G')?.resets, null);
});

test('resets: one that cannot be written is not answered with success', (t) => {
  const files = new MemoryFiles();
  const { client } = withQueues({ files });
  files.makeFolder('/store/config/offsetResets.json.tmp');
  t.not(reset(client, { timestamp: -1 }).code, 0);
});

test('resets: a topic or a group that goes takes them along (BR-12)', (t) => {
  const { bench, client } = withQueues();
  reset(client, { timestamp: -1 });
  client.ask(RequestCodes.DELETE_TOPIC_IN_BROKER, { topic: 'T' });
  client.createTopic('T', 2);
  bench.advance(100);
  t.is(bench.groups.get('G')?.resets, null);
  t.is(client.commit('G', 'T', 0, 3).remark, undefined);
});

test('resets: without the server side each member is asked to move, in the form that the tool speaks', (t) => {
  const { bench, client } = withQueues({ sets: ['useServerSideResetOffset=false'] });
  bench.ingress.lookUp = (key) => (key === bench.key('T', 0) ? 45 : 95);
  t.is(reset(client).code, 206, 'nobody is online');
  const consumers = [bench.connect(), bench.connect()];
  consumers.forEach((consumer, i) => {
    consumer.beat(`c${i}`, [member]);
  });
  for (const queueId of [0, 1]) client.commit('G', 'T', queueId, 60);
  t.is(reset(client, { isForce: 'false' }).body.toString(), table(45, 60), 'only backwards');
  t.is(reset(client).body.toString(), table(45, 95));
  for (const consumer of consumers) {
    const asked = consumer.requests.filter(({ header }) => header.code === RequestCodes.RESET_CONSUMER_CLIENT_OFFSET);
    t.is(asked.length, 2);
    const last = asked.at(-1);
    t.like(last?.header.fields(), { topic: 'T', group: 'G', timestamp: '5', isForce: 'true' });
    t.true(last?.header.isOneway);
    t.is(last?.body.toString(), table(45, 95));
  }
  const [consumer] = consumers as [Client, Client];
  consumer.commit('G', 'T', 0, 61);
  t.is(client.queryOffset('G', 'T', 0), 45, 'a commit from before it has moved');
  consumer.commit('G', 'T', 0, 45);
  consumer.commit('G', 'T', 0, 46);
  t.is(client.queryOffset('G', 'T', 0), 46);
  const parts = { code: RequestCodes.INVOKE_BROKER_TO_RESET_OFFSET, opaque: 4711, flag: 0, codec: HeaderCodecs.json, version: 400 };
  client.sendFrame(encodeFrame({ ...parts, language: 'CPP', ext: { topic: 'T', group: 'G', timestamp: 5, isForce: true } }));
  bench.run();
  t.is(
    consumer.requests.at(-1)?.body.toString(),
    '{"offsetTable":[{"brokerName":"broker-a","offset":45,"queueId":0,"topic":"T"},{"brokerName":"broker-a","offset":95,"queueId":1,"topic":"T"}]}',
  );
});

test('resets: a group that takes over offsets of another is moved there, members or not', (t) => {
  const { bench, client } = withQueues();
  client.ask(RequestCodes.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, Buffer.from('{"groupName":"H"}'));
  for (const queueId of [0, 1]) client.commit('G', 'T', queueId, 30 + queueId);
  const clone = (more: Record<string, string> = {}): number =>
    client.ask(RequestCodes.CLONE_GROUP_OFFSET, { srcGroup: 'G', destGroup: 'H', topic: 'T', ...more }).code;
  t.is(clone(), 0);
  t.is(client.queryOffset('H', 'T', 1), 31);
  t.is(client.commit('H', 'T', 1, 50).remark, undefined, 'nobody had to be told');
  bench.connect().beat('h', [{ ...member, group: 'H' }]);
  t.is(clone({ topic: '' }), 0, 'all topics');
  t.is(client.queryOffset('H', 'T', 1), 31);
  t.is(bench.groups.get('H')?.resets?.length, 2);
  t.is(clone({ topic: 'NOTOPIC' }), 0);
  t.is(client.ask(RequestCodes.CLONE_GROUP_OFFSET, { srcGroup: 'G', destGroup: 'NOGROUP', topic: 'T' }).code, 26);
});
