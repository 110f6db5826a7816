// Request and reply through a whole broker: the reply reaches the client that asked, and is stored; whatever fails is the replier's to know.
import test from 'ava';
import { formatProperties } from '../../src/message/properties.ts';
import { RequestCodes } from '../../src/protocol/codes.ts';
import { encodeSendRequest, SendRequest } from '../../src/protocol/commands/send-message.ts';
import type { ExtFields } from '../../src/protocol/header.ts';
import { SimBroker } from './sim-broker.ts';
import { type BrokerRequest, recordsOf, type SimClient } from './sim-client.ts';

const REPLIES = 'DefaultCluster_REPLY_TOPIC';
const codes = [RequestCodes.SEND_REPLY_MESSAGE, RequestCodes.SEND_REPLY_MESSAGE_V2];

function replyFields(code: number, name: string, to: string | null): ExtFields {
  const request = new SendRequest();
  request.group = 'repliers';
  request.topic = REPLIES;
  request.defaultTopic = 'TBW102';
  request.defaultTopicQueueCount = 2;
  request.queueId = 0;
  request.bornTimeMs = 1_700_000_000_000;
  const properties = new Map([
    ['UNIQ_KEY', name],
    ['MSG_TYPE', 'reply'],
    ['CORRELATION_ID', `for ${name}`],
  ]);
  if (to !== null) properties.set('REPLY_TO_CLIENT', to);
  request.properties = formatProperties(properties);
  return encodeSendRequest(code, request);
}

function asker(sim: SimBroker, clientId: string, answer: number | null = 0): { client: SimClient; pushed: BrokerRequest[] } {
  const client = sim.client();
  const pushed: BrokerRequest[] = [];
  client.onRequest = (request) => {
    if (request.code !== RequestCodes.PUSH_REPLY_MESSAGE_TO_CLIENT) return;
    pushed.push(request);
    if (answer !== null) client.reply(request.opaque, answer);
  };
  client.await(client.beat({ clientId, producerGroups: ['askers'] }));
  return { client, pushed };
}

function stored(client: SimClient): string[] {
  const answer = client.askPull(REPLIES, 0, 'watchers', { offset: 0 });
  return answer.code === 0 ? recordsOf(answer).map((record) => Buffer.from(record.body).toString()) : [];
}

test('request-reply: the reply reaches the asker with its content, is stored, and answered with where', async (t) => {
  for (const code of codes) {
    for (let seed = 1; seed <= 5; seed++) {
      const sim = await SimBroker.start(seed);
      const { pushed } = asker(sim, 'p1');
      const replier = sim.client();
      const answer = replier.ask(code, replyFields(code, 'r1', 'p1'), Buffer.from('re: hello'));
      t.is(answer.code, 0, answer.remark);
      t.is(answer.ext['queueOffset'], '0');
      t.regex(answer.ext['msgId'] ?? '', /^[0-9A-F]{32}$/);
      t.is(answer.ext['transactionId'], 'r1');
      const [request] = pushed;
      t.is(request?.body.toString(), 're: hello');
      t.like(request?.ext, { producerGroup: 'repliers', topic: REPLIES, queueId: '0', bornTimestamp: '1700000000000' });
      t.regex(request?.ext['properties'] ?? '', /CORRELATION_ID\x01for r1\x02.*PUSH_REPLY_TIME\x01\d+\x02$/);
      t.regex(request?.ext['bornHost'] ?? '', /^127\.0\.0\.1:\d+$/);
      t.regex(request?.ext['storeHost'] ?? '', /:\d+$/);
      t.false('replyToClient' in (request?.ext ?? {}));
      t.deepEqual(stored(replier), ['re: hello']);
      sim.assertHealthy();
    }
  }
});

test('request-reply: the replier does not wait with the rest of what it sends; a slow asker ends in an error after 10 s', async (t) => {
  const sim = await SimBroker.start(7);
  const { pushed } = asker(sim, 'slow', null);
  const replier = sim.client();
  const startMs = sim.clock.steadyMs();
  const reply = replier.send(
    RequestCodes.SEND_REPLY_MESSAGE_V2,
    replyFields(RequestCodes.SEND_REPLY_MESSAGE_V2, 'r1', 'slow'),
    Buffer.from('r'),
  );
  t.is(replier.askSend('Orders', 0, 'm1').code, 0);
  t.is(sim.clock.steadyMs(), startMs);
  t.is(pushed.length, 1);
  t.false(replier.answers.has(reply));
  const answer = replier.await(reply);
  t.is(answer.atMs - startMs, 10_000);
  t.is(answer.code, 1);
  t.is(answer.remark, 'push reply message to slowfail.');
  sim.runner.runFor(10);
  t.deepEqual(stored(replier), ['r'], 'kept for whoever looks after it');
  sim.assertHealthy();
});

test('request-reply: an asker that is gone, refuses or is not named is an error for the replier only', async (t) => {
  const sim = await SimBroker.start(8);
  const replier = sim.client();
  const code = RequestCodes.SEND_REPLY_MESSAGE_V2;
  const ask = (to: string | null): string | undefined => {
    const answer = replier.ask(code, replyFields(code, 'r', to), Buffer.from('r'));
    t.is(answer.code, 1);
    return answer.remark;
  };
  t.is(ask('nobody'), 'push reply message fail, channel of <nobody> not found.');
  t.is(ask(null), 'reply message properties[REPLY_TO_CLIENT] is null');
  asker(sim, 'refuses', 1);
  t.is(ask('refuses'), 'push reply message to refusesfail.');
  const { client, pushed } = asker(sim, 'leaves', null);
  const reply = replier.send(code, replyFields(code, 'r', 'leaves'), Buffer.from('r'));
  sim.runner.runUntil(() => pushed.length === 1);
  client.cut();
  t.is(replier.await(reply).remark, 'push reply message to leavesfail.');
  t.is(replier.askSend('Orders', 0, 'm1').code, 0);
  sim.assertHealthy();
});

test('request-reply: without storing, or without a body to store, the answer says that nothing was stored', async (t) => {
  for (const storeReplyMessageEnable of [true, false]) {
    const sim = await SimBroker.start(9, { settings: { storeReplyMessageEnable } });
    const { pushed } = asker(sim, 'p1');
    const replier = sim.client();
    const code = RequestCodes.SEND_REPLY_MESSAGE;
    const answer = replier.ask(code, replyFields(code, 'r', 'p1'), storeReplyMessageEnable ? undefined : Buffer.from('r'));
    t.is(answer.code, 0);
    t.like(answer.ext, { msgId: '0', queueId: '0', queueOffset: '0' });
    t.is(pushed.length, 1);
    t.deepEqual(stored(replier), []);
    sim.assertHealthy();
  }
});

test('request-reply: many replies over one connection, each to its asker', async (t) => {
  const sim = await SimBroker.start(10);
  const askers = ['p0', 'p1', 'p2'].map((id) => asker(sim, id));
  const replier = sim.client();
  const replies: number[] = [];
  for (let i = 0; i < 60; i++) {
    const code = codes[i % 2] as number;
    replies.push(replier.send(code, replyFields(code, `r${i}`, `p${i % 3}`), Buffer.from(`re: ${i}`)));
  }
  for (const reply of replies) t.is(replier.await(reply).code, 0);
  askers.forEach(({ pushed }, i) => {
    t.deepEqual(
      pushed.map(({ body }) => body.toString()),
      Array.from({ length: 20 }, (_, n) => `re: ${n * 3 + i}`),
    );
  });
  sim.assertHealthy();
});
