// Requests of tools that a consumer answers, and replies that are handed to the client that asked.
import test from 'ava';
import { Messages } from '../../../src/actors/messages.ts';
import { encodeConsumerStatus } from '../../../src/protocol/bodies/message-queue.ts';
import { RequestCodes } from '../../../src/protocol/codes.ts';
import { HeaderCodecs } from '../../../src/protocol/frame.ts';
import { encodeFrame } from '../../../src/protocol/header.ts';
import { Bench } from './bench.ts';
import { type Client, subscription } from './client.ts';

const member = { group: 'G', subscriptions: [subscription('T')] };

function withConsumer(): { bench: Bench; tool: Client; consumer: Client } {
  const bench = new Bench();
  const tool = bench.connect();
  tool.createTopic('T', 1);
  const consumer = bench.connect();
  consumer.beat('c1', [member]);
  bench.advance(1000);
  consumer.requests.length = 0;
  return { bench, tool, consumer };
}

function askInfo(bench: Bench, tool: Client, clientId = 'c1', more: Record<string, string> = {}): number {
  const opaque = tool.send(RequestCodes.GET_CONSUMER_RUNNING_INFO, { consumerGroup: 'G', clientId, ...more });
  bench.run();
  return opaque;
}

function lastOpaque(client: Client): number {
  return client.requests.at(-1)?.header.opaque ?? -1;
}

test("relays: running information is the consumer's own, with the fields of the question and as it answered", (t) => {
  const { bench, tool, consumer } = withConsumer();
  const asked = askInfo(bench, tool, 'c1', { jstackEnable: 'true' });
  t.false(tool.answers.has(asked));
  const [request] = consumer.requests;
  t.like(request?.header.fields(), { consumerGroup: 'G', clientId: 'c1', jstackEnable: 'true' });
  consumer.reply(lastOpaque(consumer), 0, {}, Buffer.from('{"jstack":"main"}'));
  bench.run();
  t.is(tool.answers.get(asked)?.body.toString(), '{"jstack":"main"}');
  const refused = askInfo(bench, tool);
  consumer.reply(lastOpaque(consumer), 1, {}, undefined, 'The Consumer Group <G> not exist in this consumer');
  bench.run();
  t.like(tool.answers.get(refused), { code: 1, remark: 'The Consumer Group <G> not exist in this consumer' });
});

test('relays: a consumer that is absent, too old, slow or gone, and an answer that comes too late', (t) => {
  const { bench, tool, consumer } = withConsumer();
  const absent = tool.answers.get(askInfo(bench, tool, 'nobody@1'));
  t.is(absent?.code, 1);
  t.true(absent?.remark?.includes('nobody@1'));
  const slow = askInfo(bench, tool);
  const late = lastOpaque(consumer);
  bench.advance(9_999);
  t.false(tool.answers.has(slow));
  bench.advance(1);
  t.is(tool.answers.get(slow)?.code, 207);
  consumer.reply(late, 0, {}, Buffer.from('late'));
  bench.run();
  const gone = askInfo(bench, tool);
  consumer.reply(late, 0, {}, Buffer.from('twice'));
  bench.run();
  t.false(tool.answers.has(gone), 'an answer to another question');
  consumer.close();
  bench.run();
  t.is(tool.answers.get(gone)?.code, 1);
  t.is(bench.coordinator.desk.calls.size, 0);
});

test('relays: the consumer gets the message that it shall consume, and the flags of topic and group', (t) => {
  const { bench, tool, consumer } = withConsumer();
  const ext = { consumerGroup: 'G', clientId: 'c1', msgId: '0', topic: 'T' };
  const asked = tool.send(RequestCodes.CONSUME_MESSAGE_DIRECTLY, ext, Buffer.from('record'));
  bench.run();
  const request = consumer.requests[0];
  t.is(request?.body.toString(), 'record');
  t.like(request?.header.fields(), { ...ext, brokerName: 'broker-a', topicSysFlag: '0', groupSysFlag: '0' });
  consumer.reply(lastOpaque(consumer), 0, {}, Buffer.from('{"consumeResult":"CR_SUCCESS"}'));
  bench.run();
  t.is(tool.answers.get(asked)?.body.toString(), '{"consumeResult":"CR_SUCCESS"}');
});

test('relays: the offsets that members hold, of all that answer in time', (t) => {
  const { bench, tool, consumer } = withConsumer();
  const silent = bench.connect();
  silent.beat('c2', [member]);
  bench.advance(1000);
  t.is(tool.ask(RequestCodes.INVOKE_BROKER_TO_GET_CONSUMER_STATUS, { topic: 'T', group: 'NOBODY' }).code, 206);
  const all = tool.send(RequestCodes.INVOKE_BROKER_TO_GET_CONSUMER_STATUS, { topic: 'T', group: 'G' });
  bench.run();
  const queue = { topic: 'T', brokerName: 'broker-a', queueId: 0 };
  const status = encodeConsumerStatus({ messageQueueTable: [[queue, 4]], consumerTable: new Map() });
  consumer.reply(lastOpaque(consumer), 0, {}, status);
  bench.advance(4_999);
  t.false(tool.answers.has(all));
  bench.advance(1);
  t.is(
    tool.answers.get(all)?.body.toString(),
    '{"consumerTable":{"c1":{{"brokerName":"broker-a","queueId":0,"topic":"T"}:4}},"messageQueueTable":{}}',
  );
  const one = tool.send(RequestCodes.INVOKE_BROKER_TO_GET_CONSUMER_STATUS, { topic: 'T', group: 'G', clientAddr: 'c1' });
  bench.run();
  consumer.reply(lastOpaque(consumer), 0, {}, status);
  bench.run();
  t.true(tool.answers.get(one)?.body.toString().includes('"c1"'));
  const none = tool.ask(RequestCodes.INVOKE_BROKER_TO_GET_CONSUMER_STATUS, { topic: 'T', group: 'G', clientAddr: 'c9' });
  t.is(none.body.toString(), '{"consumerTable":{},"messageQueueTable":{}}');
});

test('relays: a reply goes to the newest connection of the client that asked; without one it fails at once', (t) => {
  const bench = new Bench();
  const [old, asker] = [bench.connect(), bench.connect()];
  old.beat('p1', [], ['P']);
  asker.beat('p1', [], ['P', 'Q']);
  const push = (token: number, to: string): void => {
    const parts = { code: 326, opaque: 0, flag: 0, codec: HeaderCodecs.json, version: 477, language: 'JAVA' };
    const frame = encodeFrame({ ...parts, ext: { topic: 'R', replyToClient: to }, body: Buffer.from('reply') });
    bench.outboxOf(0).sendFrame(Messages.pushReply, token, frame);
    bench.run();
  };
  push(1, 'p1');
  t.is(old.requests.length, 0);
  const request = asker.requests[0];
  t.deepEqual(request?.header.fields(), { topic: 'R' });
  t.is(request?.body.toString(), 'reply');
  asker.reply(lastOpaque(asker), 0);
  bench.run();
  push(2, 'p1');
  asker.reply(lastOpaque(asker), 1);
  bench.run();
  push(3, 'nobody');
  push(4, 'p1');
  bench.advance(10_000);
  push(5, 'p1');
  asker.close();
  bench.run();
  push(6, 'p1');
  old.close();
  bench.run();
  const failed = 'push reply message to p1fail.';
  t.deepEqual(bench.ingress.replies, [
    { token: 1, fault: null },
    { token: 2, fault: failed },
    { token: 3, fault: 'push reply message fail, channel of <nobody> not found.' },
    { token: 4, fault: failed },
    { token: 5, fault: failed },
    { token: 6, fault: failed },
  ]);
});
