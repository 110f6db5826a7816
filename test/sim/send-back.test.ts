// Messages that a consumer sends back: what is stored of them, where, and what is refused.
import test from 'ava';
import { bodyDistance } from '../../src/message/record-layout.ts';
import { RequestCodes, ResponseCodes } from '../../src/protocol/codes.ts';
import { CounterIds } from '../../src/runtime/counters.ts';
import { askSendBack, putGroup, queueOf, SCHEDULE, sendBack } from './retry-rig.ts';
import { SimBroker, type SimOptions } from './sim-broker.ts';
import { nameOf, recordsOf, type SimClient, sendFields } from './sim-client.ts';

/** One ingress: a counter of it is the broker's. */
async function started(options: SimOptions = {}): Promise<{ sim: SimBroker; client: SimClient }> {
  const sim = await SimBroker.start(1, { ingressCount: 1, ...options });
  return { sim, client: sim.client() };
}

function positionOf(client: SimClient, topic: string, offset = 0): number {
  return recordsOf(client.askPull(topic, 0, 'lookers', { offset, maxCount: 1 }))[0]?.position ?? -1;
}

test('send-back: a message waits in the queue of its delay, with its origin, its content, and one try more', async (t) => {
  const { sim, client } = await started();
  const sent = client.askSend('Orders', 0, 'm0', 20, 'red');
  const source = queueOf(client, 'Orders')[0];
  const answer = askSendBack(client, 'G', source?.position ?? -1, 0, { originTopic: 'Orders', originMsgId: 'm0', unitMode: false });
  t.is(answer.code, 0, answer.remark);
  t.deepEqual(answer.ext, {});
  t.deepEqual(queueOf(client, '%RETRY%G'), [], 'not before its time');
  const [copy] = queueOf(client, SCHEDULE, 2);
  t.like(copy, { topic: SCHEDULE, queueId: 2, reconsumeTimes: 1, flag: source?.flag, bornTimeMs: source?.bornTimeMs });
  t.deepEqual(copy?.body, source?.body);
  t.deepEqual(copy?.bornHost, source?.bornHost);
  t.deepEqual(Object.fromEntries(copy?.properties ?? []), {
    ...Object.fromEntries(source?.properties ?? []),
    RETRY_TOPIC: 'Orders',
    ORIGIN_MESSAGE_ID: sent.ext['msgId'],
    WAIT: 'false',
    DELAY: '3',
    REAL_TOPIC: '%RETRY%G',
    REAL_QID: '0',
  });
  t.is(sim.countersOf('ingress-0').get(CounterIds.sendBacks), 1);
  await sim.stop();
  sim.assertHealthy();
});

test('send-back: levels go up with the tries, and what is past its tries is dead at once (BR-35)', async (t) => {
  const { sim, client } = await started();
  client.askSend('Orders', 0, 'm0');
  let position = positionOf(client, 'Orders');
  // The copy that waits stands in for the one that is given out: only its topic is another one.
  for (const level of [3, 4]) {
    t.is(askSendBack(client, 'G', position, 0, { originTopic: 'Orders', maxReconsumeTimes: 2 }).code, 0);
    position = queueOf(client, SCHEDULE, level - 1)[0]?.position ?? -1;
  }
  t.is(askSendBack(client, 'G', position, 18, { originTopic: 'Orders', maxReconsumeTimes: 2 }).code, 0);
  const [dead] = queueOf(client, '%DLQ%G');
  t.is(dead?.reconsumeTimes, 3);
  t.deepEqual(queueOf(client, SCHEDULE, 17), []);
  for (const name of ['DELAY', 'REAL_TOPIC', 'REAL_QID', 'TIMER_DELAY_SEC']) t.false(dead?.properties.has(name), name);
  t.is(sim.countersOf('ingress-0').get(CounterIds.deadLetters), 1);
  await sim.stop();
});

test('send-back: a dead letter has its origin in full, at once or after a try (BR-36)', async (t) => {
  const { sim, client } = await started();
  const sent = client.askSend('Orders', 0, 'm0', 20, 'red');
  const [source] = queueOf(client, 'Orders');
  const position = source?.position ?? -1;
  putGroup(client, 'NEVER', { retryMaxTimes: 0 });
  putGroup(client, 'ONCE', { retryMaxTimes: 1 });
  t.is(askSendBack(client, 'NEVER', position, 1).code, 0);
  t.is(askSendBack(client, 'ONCE', position, 1).code, 0);
  t.is(askSendBack(client, 'ONCE', queueOf(client, SCHEDULE, 0)[0]?.position ?? -1, 1).code, 0);
  for (const [group, times] of [
    ['NEVER', 1],
    ['ONCE', 2],
  ] as const) {
    const [dead] = queueOf(client, `%DLQ%${group}`);
    t.is(dead?.reconsumeTimes, times, group);
    t.is(dead?.properties.get('RETRY_TOPIC'), 'Orders');
    t.is(dead?.properties.get('ORIGIN_MESSAGE_ID'), sent.ext['msgId']);
    for (const [name, value] of source?.properties ?? []) t.is(dead?.properties.get(name), value, name);
    t.deepEqual(dead?.body, source?.body);
  }
  const config = client.ask(RequestCodes.GET_TOPIC_CONFIG, { topic: '%DLQ%NEVER' }).body.toString();
  t.regex(config, /"perm":6.*"readQueueNums":1.*"writeQueueNums":1/);
  await sim.stop();
});

test('send-back: level -1 is dead at once, a level above the highest waits the longest', async (t) => {
  const { sim, client } = await started();
  client.askSend('Orders', 0, 'm0');
  client.askSend('Orders', 0, 'm1');
  t.is(askSendBack(client, 'G', positionOf(client, 'Orders', 0), -1).code, 0);
  t.deepEqual(queueOf(client, '%DLQ%G').map(nameOf), ['m0']);
  t.is(askSendBack(client, 'G', positionOf(client, 'Orders', 1), 99).code, 0);
  t.is(queueOf(client, SCHEDULE, 17)[0]?.properties.get('DELAY'), '18');
  await sim.stop();
});

test('send-back: a position at which no message begins is refused, whatever it is', async (t) => {
  const { sim, client } = await started();
  for (let i = 0; i < 3; i++) client.askSend('Orders', 0, `m${i}`, 40);
  const starts = queueOf(client, 'Orders').map((record) => record.position);
  const end = sim.position('appended');
  const places = [-1, -5_000_000_000, end, end + 1, 2 ** 40, '9223372036854775807', '-9223372036854775808', 'x', ''];
  for (let position = 0; position < end; position++) if (!starts.includes(position)) places.push(position);
  const codes = places.map((place) => askSendBack(client, 'G', place as number, 1));
  t.deepEqual(new Set(codes.map(({ code }) => code)), new Set([ResponseCodes.SYSTEM_ERROR]));
  t.regex(codes[0]?.remark ?? '', /^look message by offset failed, -1: it is no position in the log first=0 end=\d+$/);
  t.regex(codes.at(-1)?.remark ?? '', /^look message by offset failed, \d+: (no message begins there|the log ends before it)/);
  t.is(sim.position('appended'), end, 'nothing was stored');
  await sim.stop();
  sim.assertHealthy();
});

test('send-back: a record that somebody wrote into a body is no message', async (t) => {
  const { sim, client } = await started();
  client.askSend('Orders', 0, 'm0');
  const whole = client.askPull('Orders', 0, 'lookers').body;
  const sent = client.ask(RequestCodes.SEND_MESSAGE_V2, sendFields('Orders', 0, 'm1'), whole);
  t.is(sent.code, 0);
  const inside = positionOf(client, 'Orders', 1) + bodyDistance(0);
  const answer = askSendBack(client, 'G', inside, 1);
  t.is(answer.code, ResponseCodes.SYSTEM_ERROR);
  t.regex(answer.remark ?? '', /no message begins there$/);
  await sim.stop();
});

test('send-back: a message of another topic than the client says is refused', async (t) => {
  const { sim, client } = await started();
  client.askSend('Orders', 0, 'm0');
  const position = positionOf(client, 'Orders');
  const wrong = askSendBack(client, 'G', position, 1, { originTopic: 'Payments' });
  t.is(wrong.code, ResponseCodes.SYSTEM_ERROR);
  t.regex(wrong.remark ?? '', /is of topic Orders, not of originTopic Payments/);
  t.is(askSendBack(client, 'G', position, 1).code, 0, 'who does not say it is believed');
  await sim.stop();
});

test('send-back: a group that is missing is made where that is allowed, else refused', async (t) => {
  for (const allowed of [true, false]) {
    const { sim, client } = await started({ settings: { autoCreateSubscriptionGroup: allowed } });
    client.askSend('Orders', 0, 'm0');
    const position = positionOf(client, 'Orders');
    const answer = askSendBack(client, 'NEW', position, 1);
    t.is(answer.code, allowed ? 0 : ResponseCodes.SUBSCRIPTION_GROUP_NOT_EXIST, answer.remark);
    if (!allowed) t.regex(answer.remark ?? '', /^subscription group not exist, NEW/);
    t.is(queueOf(client, SCHEDULE, 0).length, allowed ? 1 : 0);
    const bad = askSendBack(client, 'no such name', position, 1);
    t.is(bad.code, ResponseCodes.SUBSCRIPTION_GROUP_NOT_EXIST);
    t.regex(bad.remark ?? '', /illegal characters/);
    await sim.stop();
    sim.assertHealthy();
  }
});

test('send-back: a group that was removed comes back with its first failure', async (t) => {
  const { sim, client } = await started();
  putGroup(client, 'G', { retryMaxTimes: 0 });
  client.askSend('Orders', 0, 'm0');
  client.ask(RequestCodes.DELETE_SUBSCRIPTIONGROUP, { groupName: 'G' });
  t.is(askSendBack(client, 'G', positionOf(client, 'Orders'), 1).code, 0);
  t.is(queueOf(client, SCHEDULE, 0).length, 1, 'with default settings');
  await sim.stop();
});

test('send-back: a group without retry queues drops what it sends back, and that is counted', async (t) => {
  const { sim, client } = await started();
  putGroup(client, 'G', { retryQueueNums: 0 });
  client.askSend('Orders', 0, 'm0');
  const end = sim.position('appended');
  t.is(askSendBack(client, 'G', positionOf(client, 'Orders'), 1).code, 0);
  t.is(askSendBack(client, 'G', 999_999, 1).code, 0, 'it is not even looked for');
  t.is(sim.position('appended'), end);
  t.is(sim.countersOf('ingress-0').get(CounterIds.sendBacksDropped), 2);
  await sim.stop();
});

test('send-back: a broker or a retry topic that may not be written refuses', async (t) => {
  const { sim, client } = await started({ overrides: { brokerPermission: 4 } });
  client.askSend('Orders', 0, 'm0');
  const position = positionOf(client, 'Orders');
  putGroup(client, 'G');
  const closed = askSendBack(client, 'G', position, 1);
  t.is(closed.code, ResponseCodes.NO_PERMISSION);
  t.regex(closed.remark ?? '', /^the broker\[.*\] sending message is forbidden$/);
  await sim.stop();
  const second = await started();
  second.client.askSend('Orders', 0, 'm0');
  putGroup(second.client, 'G');
  const fields = {
    topic: '%RETRY%G',
    readQueueNums: 1,
    writeQueueNums: 1,
    perm: 4,
    topicFilterType: 'SINGLE_TAG',
    topicSysFlag: 0,
    order: false,
  };
  t.is(second.client.ask(RequestCodes.UPDATE_AND_CREATE_TOPIC, fields).code, 0);
  const refused = askSendBack(second.client, 'G', positionOf(second.client, 'Orders'), 1);
  t.is(refused.code, ResponseCodes.NO_PERMISSION);
  t.is(refused.remark, 'the topic[%RETRY%G] sending message is forbidden');
  await second.sim.stop();
});

test('send-back: one try is taken once, from however many clients with one id (BR-18, BR-25)', async (t) => {
  const { sim, client } = await started();
  const twin = sim.client();
  client.askSend('Orders', 0, 'm0');
  const position = positionOf(client, 'Orders');
  const asked = [
    [client, sendBack(client, 'G', position, 1)],
    [twin, sendBack(twin, 'G', position, 1)],
    [client, sendBack(client, 'G', position, 1)],
  ] as const;
  for (const [one, opaque] of asked) t.is(one.await(opaque).code, 0);
  t.is(askSendBack(twin, 'G', position, -1).code, 0);
  t.is(queueOf(client, SCHEDULE, 0).length, 1);
  t.deepEqual(queueOf(client, '%DLQ%G'), []);
  t.is(askSendBack(client, 'H', position, 1).code, 0);
  t.is(queueOf(client, SCHEDULE, 0).length, 2, 'another group has its own');
  sim.runner.runFor(1_000);
  t.is(askSendBack(client, 'G', position, 1).code, 0);
  t.is(queueOf(client, SCHEDULE, 0).length, 3, 'its copy was due: this is a failure of its own');
  await sim.stop();
  sim.assertHealthy();
});

test('send-back: the same try asked for many times at once is one, in whatever order they come (BR-18)', async (t) => {
  for (let seed = 1; seed <= 20; seed++) {
    const sim = await SimBroker.start(seed, { ingressCount: 1 });
    const client = sim.client();
    const twin = sim.client();
    putGroup(client, 'G');
    client.askSend('Orders', 0, 'm0');
    const position = positionOf(client, 'Orders');
    const asked = [client, twin, client, twin, client, twin].map((one) => [one, sendBack(one, 'G', position, 1)] as const);
    for (const [one, opaque] of asked) t.is(one.await(opaque).code, 0);
    t.is(queueOf(client, SCHEDULE, 0).length, 1, `seed ${seed}`);
    sim.assertHealthy();
  }
});

test('send-back: more retry queues get their share, and all are read (BR-37)', async (t) => {
  const { sim, client } = await started();
  putGroup(client, 'G', { retryQueueNums: 1 });
  putGroup(client, 'G', { retryQueueNums: 2 });
  for (let i = 0; i < 20; i++) client.askSend('Orders', 0, `m${i}`);
  for (const { position } of queueOf(client, 'Orders')) t.is(askSendBack(client, 'G', position, 1).code, 0);
  const queues = queueOf(client, SCHEDULE, 0).map((record) => record.properties.get('REAL_QID'));
  t.is(queues.length, 20);
  t.deepEqual(new Set(queues), new Set(['0', '1']));
  t.regex(client.ask(RequestCodes.GET_TOPIC_CONFIG, { topic: '%RETRY%G' }).body.toString(), /"readQueueNums":2.*"writeQueueNums":2/);
  await sim.stop();
});

test('send-back: one-way it is stored and not answered, over a connection that closes it is stored', async (t) => {
  const { sim, client } = await started();
  client.askSend('Orders', 0, 'm0');
  client.askSend('Orders', 0, 'm1');
  putGroup(client, 'G');
  const fields = (offset: number) => ({ group: 'G', offset, delayLevel: 1 });
  client.sendOneway(RequestCodes.CONSUMER_SEND_MSG_BACK, fields(positionOf(client, 'Orders', 0)));
  const other = sim.client();
  const second = positionOf(client, 'Orders', 1);
  other.ask(RequestCodes.GET_MAX_OFFSET, { topic: 'Orders', queueId: 0 });
  other.send(RequestCodes.CONSUMER_SEND_MSG_BACK, fields(second));
  sim.runner.runUntil(() => sim.countersOf('ingress-0').get(CounterIds.sendBacks) === 2);
  other.cut();
  sim.runner.runFor(10);
  t.is(queueOf(client, SCHEDULE, 0).length, 2);
  await sim.stop();
  sim.assertHealthy();
});
