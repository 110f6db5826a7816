// Where pulls begin and go on: beyond the end, past what does not match, through short pages, and where a new group starts.
import test from 'ava';
import { encodeBatch } from '../../src/message/batch.ts';
import { decodeConsumerIds } from '../../src/protocol/bodies/consumer-ids.ts';
import type { ConsumerData } from '../../src/protocol/bodies/heartbeat.ts';
import { RequestCodes, ResponseCodes } from '../../src/protocol/codes.ts';
import { SimBroker } from './sim-broker.ts';
import { bodyOf, nameOf, propertiesOf, recordsOf, type SimClient, sendFields } from './sim-client.ts';

function consumer(group: string, topic: string, from: string): ConsumerData {
  return {
    group,
    consumeType: 'CONSUME_PASSIVELY',
    messageModel: 'CLUSTERING',
    consumeFromWhere: from,
    subscriptions: [{ topic, expression: '*', type: 'TAG', tags: [], codes: [], version: '1', classFilter: false }],
    unitMode: false,
  };
}

function startOffset(client: SimClient, group: string, topic: string, queueId: number): number {
  return client.askNumber(RequestCodes.QUERY_CONSUMER_OFFSET, topic, queueId, 'offset', { consumerGroup: group });
}

/** Names from an offset to the end, going on by what each answer says. */
function readFrom(client: SimClient, topic: string, queueId: number, offset: number, tags = '*'): string[] {
  const names: string[] = [];
  for (;;) {
    const answer = client.askPull(topic, queueId, 'readers', { offset, tags });
    if (answer.code === ResponseCodes.SUCCESS) names.push(...recordsOf(answer).map(nameOf));
    else if (answer.code !== ResponseCodes.PULL_RETRY_IMMEDIATELY) return names;
    offset = Number(answer.ext['nextBeginOffset']);
  }
}

test('positions: BR-03: a pull beyond the end is sent to the end, one below the start to the start', async (t) => {
  const sim = await SimBroker.start(1);
  const client = sim.client();
  for (let i = 0; i < 10; i++) client.askSend('Orders', 0, `m${i}`);
  for (const offset of [11, 50, 2 ** 40]) {
    const answer = client.askPull('Orders', 0, 'readers', { offset, suspendMs: 30_000 });
    t.is(answer.code, ResponseCodes.PULL_OFFSET_MOVED);
    t.is(answer.ext['nextBeginOffset'], '10');
  }
  const atEnd = client.askPull('Orders', 0, 'readers', { offset: 10 });
  t.is(atEnd.code, ResponseCodes.PULL_NOT_FOUND);
  t.is(atEnd.ext['nextBeginOffset'], '10');
  const below = client.askPull('Orders', 0, 'readers', { offset: -1 });
  t.is(below.code, ResponseCodes.PULL_OFFSET_MOVED);
  t.is(below.ext['nextBeginOffset'], '0');
});

test('positions: BR-07: a new group from the last message gets what comes after it joined, and nothing older', async (t) => {
  for (let seed = 1; seed <= 20; seed++) {
    const sim = await SimBroker.start(seed);
    const client = sim.client();
    for (let i = 0; i < 10; i++) client.askSend('Orders', 0, `old${i}`);
    sim.runner.runFor(5);
    const member = sim.client();
    t.is(member.await(member.beat({ consumers: [consumer('late', 'Orders', 'CONSUME_FROM_LAST_OFFSET')] })).code, 0);
    sim.runner.runFor(5);
    client.askSend('Orders', 0, 'new');
    const offset = startOffset(member, 'late', 'Orders', 0);
    t.is(offset, 10, `seed ${seed}`);
    t.deepEqual(readFrom(member, 'Orders', 0, offset), ['new']);
    t.is(startOffset(member, 'late', 'Orders', 1), 0);
    const early = sim.client();
    early.await(early.beat({ clientId: 'e', consumers: [consumer('early', 'Orders', 'CONSUME_FROM_FIRST_OFFSET')] }));
    t.is(startOffset(early, 'early', 'Orders', 0), 0);
  }
});

test('positions: BR-102: 200 seeds of a group that starts on an empty queue while messages are sent: none is skipped', async (t) => {
  for (let seed = 1; seed <= 200; seed++) {
    const sim = await SimBroker.start(seed);
    const member = sim.client();
    const producer = sim.client();
    const request = { topic: 'Orders', queueId: 0 };
    member.ask(RequestCodes.UPDATE_AND_CREATE_TOPIC, {
      topic: 'Orders',
      defaultTopic: 'TBW102',
      readQueueNums: 2,
      writeQueueNums: 2,
      perm: 6,
      topicFilterType: 'SINGLE_TAG',
      topicSysFlag: 0,
      order: false,
    });
    const beat = member.beat({ consumers: [consumer('late', 'Orders', 'CONSUME_FROM_LAST_OFFSET')] });
    member.await(beat);
    let sent = 0;
    let start = -1;
    // From here on every message is one that was sent after the start.
    const asks = 1 + sim.random.below(3);
    for (let i = 0; i < 8; i++) {
      if (i === asks) {
        member.send(RequestCodes.QUERY_CONSUMER_OFFSET, { consumerGroup: 'late', ...request }, undefined, (answer) => {
          start = answer.code === 0 ? Number(answer.ext['offset']) : Number.NaN;
        });
      }
      producer.send(RequestCodes.SEND_MESSAGE_V2, sendFields('Orders', 0, `m${i}`), bodyOf('m', 10), () => {
        sent++;
      });
      const steps = sim.random.below(40);
      for (let step = 0; step < steps; step++) sim.runner.step(sim.clock.steadyMs() + 1);
    }
    sim.runner.runUntil(() => sent === 8 && start !== -1);
    t.is(start, 0, `seed ${seed}`);
    t.is(readFrom(member, 'Orders', 0, start).length, 8);
    sim.assertHealthy();
  }
});

test('positions: BR-07: 200 seeds of a heartbeat among sends: the start lies where the group joined', async (t) => {
  for (let seed = 1; seed <= 200; seed++) {
    const sim = await SimBroker.start(seed);
    const producer = sim.client();
    const member = sim.client();
    producer.askSend('Orders', 0, 'old');
    let acked = 1;
    let sent = 1;
    let joined = false;
    let ackedBeforeBeat = 0;
    let sentBeforeJoin = 0;
    const beatAt = 1 + sim.random.below(6);
    // Messages and the joining are ordered by time: within one millisecond either order is right.
    for (let i = 0; i < 8; i++) {
      if (i === beatAt) {
        sim.runner.runFor(1);
        ackedBeforeBeat = acked;
        member.beat({ consumers: [consumer('late', 'Orders', 'CONSUME_FROM_LAST_OFFSET')] });
      }
      sent++;
      producer.send(RequestCodes.SEND_MESSAGE_V2, sendFields('Orders', 0, `m${i}`), bodyOf('m', 10), () => {
        acked++;
      });
      const steps = sim.random.below(60);
      for (let step = 0; step < steps; step++) {
        sim.runner.step(sim.clock.steadyMs() + 1);
        if (!joined && member.answers.size > 0) {
          joined = true;
          sentBeforeJoin = sent;
        }
      }
    }
    sim.runner.runUntil(() => acked === sent && member.answers.size > 0);
    const start = startOffset(member, 'late', 'Orders', 0);
    const latest = joined ? sentBeforeJoin : sent;
    t.true(start >= ackedBeforeBeat && start <= latest, `seed ${seed}: ${start} not in ${ackedBeforeBeat}..${latest}`);
    t.is(readFrom(member, 'Orders', 0, start).length, sent - start);
    sim.assertHealthy();
  }
});

test('positions: BR-28: a page cut short by its bytes, count or scan says where to go on', async (t) => {
  const sim = await SimBroker.start(3, { overrides: { maxMessageSize: 131_072 } });
  const client = sim.client();
  const names = Array.from({ length: 100 }, (_, i) => `m${i}`);
  for (const [i, name] of names.entries()) t.is(client.askSend('Orders', 0, name, 60_000, i === 99 ? 'A' : 'B').code, 0);
  const page = client.askPull('Orders', 0, 'readers', { maxCount: 32 });
  t.is(recordsOf(page).length, 4);
  t.is(page.ext['nextBeginOffset'], '4');
  t.is(page.ext['maxOffset'], '100');
  t.is(recordsOf(client.askPull('Orders', 0, 'readers', { offset: 10, maxCount: 3 })).length, 3);
  t.deepEqual(readFrom(client, 'Orders', 0, 0), names);
  t.deepEqual(readFrom(client, 'Orders', 0, 0, 'A'), ['m99']);
});

test('positions: BR-45: concurrent batches and singles of many connections share no offset', async (t) => {
  for (let seed = 1; seed <= 5; seed++) {
    const sim = await SimBroker.start(seed);
    const opener = sim.client();
    opener.askSend('Orders', 0, 'first');
    const byOffset = new Map<number, string>([[0, 'first']]);
    let answers = 0;
    let requests = 0;
    for (let connection = 0; connection < 20; connection++) {
      const client = sim.client();
      for (let i = 0; i < 10; i++) {
        const name = `c${connection}.${i}`;
        const single = sim.random.below(3) === 0;
        const names = single ? [name] : Array.from({ length: 10 }, (_, n) => `${name}.${n}`);
        requests++;
        const code = single ? RequestCodes.SEND_MESSAGE_V2 : RequestCodes.SEND_BATCH_MESSAGE;
        const entry = (one: string) => ({ flag: 0, body: bodyOf(one, 20), properties: Buffer.from(propertiesOf(one)) });
        const body = single ? bodyOf(name, 20) : encodeBatch(names.map(entry));
        client.send(code, sendFields('Orders', 0, name, '', !single), body, (answer) => {
          answers++;
          const first = Number(answer.ext['queueOffset']);
          names.forEach((one, n) => {
            t.false(byOffset.has(first + n));
            byOffset.set(first + n, one);
          });
        });
      }
    }
    sim.runner.runUntil(() => answers === requests);
    const read = readFrom(opener, 'Orders', 0, 0);
    t.is(read.length, byOffset.size);
    read.forEach((name, offset) => {
      if (byOffset.get(offset) !== name) t.fail(`${name} at ${offset}, answered ${byOffset.get(offset)} seed ${seed}`);
    });
  }
});

test('positions: BR-72: where nothing matches, each answer moves on by a bounded step, and the match is found', async (t) => {
  const sim = await SimBroker.start(4);
  const client = sim.client();
  const count = 5_000;
  for (let i = 0; i < count; i += 250) {
    const names = Array.from({ length: 250 }, (_, n) => `b${i + n}`);
    const entries = names.map((name) => ({ flag: 0, body: bodyOf(name, 5), properties: Buffer.from(propertiesOf(name, 'B')) }));
    t.is(client.ask(RequestCodes.SEND_BATCH_MESSAGE, sendFields('Orders', 0, `b${i}`, '', true), encodeBatch(entries)).code, 0);
  }
  let offset = 0;
  let answers = 0;
  while (offset < count) {
    const answer = client.askPull('Orders', 0, 'readers', { offset, tags: 'A', suspendMs: 30_000, commitOffset: offset });
    t.is(answer.code, ResponseCodes.PULL_RETRY_IMMEDIATELY);
    const next = Number(answer.ext['nextBeginOffset']);
    t.true(next > offset);
    offset = next;
    answers++;
  }
  t.true(answers > 1 && answers < 20, `${answers} answers`);
  const waiting = client.pull('Orders', 0, 'readers', { offset, tags: 'A', suspendMs: 30_000, commitOffset: offset });
  sim.runner.runFor(100);
  t.is(startOffset(client, 'readers', 'Orders', 0), count);
  client.askSend('Orders', 0, 'a', 10, 'A');
  t.deepEqual(recordsOf(client.await(waiting)).map(nameOf), ['a']);
});

test('positions: BR-101: 100 seeds of a heartbeat whose connection closes at once: no ghost stays in the group', async (t) => {
  for (let seed = 1; seed <= 100; seed++) {
    const sim = await SimBroker.start(seed);
    const stays = sim.client();
    stays.await(stays.beat({ clientId: 'stays', consumers: [consumer('team', 'Orders', 'CONSUME_FROM_FIRST_OFFSET')] }));
    for (let i = 0; i < 5; i++) {
      const ghost = sim.client();
      ghost.beat({ clientId: `ghost${i}`, consumers: [consumer('team', 'Orders', 'CONSUME_FROM_FIRST_OFFSET')] });
      const steps = sim.random.below(40);
      for (let step = 0; step < steps; step++) sim.runner.step(sim.clock.steadyMs());
      if (sim.random.below(2) === 0) ghost.cut();
      else ghost.connection.end();
    }
    sim.runner.runFor(10);
    const answer = stays.ask(RequestCodes.GET_CONSUMER_LIST_BY_GROUP, { consumerGroup: 'team' });
    const ids = decodeConsumerIds(answer.body);
    t.deepEqual(ids.ok && ids.value, ['stays'], `seed ${seed}`);
    sim.assertHealthy();
  }
});
