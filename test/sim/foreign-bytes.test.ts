// Many connections, frames cut and glued at random, clients gone mid-frame: each body and property is its own, also when all is read again.
import test from 'ava';
import { encodeBatch } from '../../src/message/batch.ts';
import { RequestCodes, ResponseCodes } from '../../src/protocol/codes.ts';
import { readQueue } from './ledger.ts';
import { SimBroker, type SimOptions } from './sim-broker.ts';
import { bodyOf, nameOf, propertiesOf, type SimClient, sendFields } from './sim-client.ts';

const CONNECTION_COUNT = 25;
const REQUEST_COUNT = 10;
const QUEUE_COUNT = 2;

/** The size of a body follows from its name, so that a record checks itself. */
function sizeOf(name: string): number {
  let hash = 7;
  for (const letter of name) hash = (Math.imul(hash, 31) + letter.charCodeAt(0)) >>> 0;
  return 1 + (hash % 8 === 0 ? hash % 12_000 : hash % 700);
}

function noteOf(name: string): string {
  return `${name}/`.repeat(1 + (sizeOf(name) % 9));
}

function propertiesTextOf(name: string): string {
  return `${propertiesOf(name)}note\x01${noteOf(name)}\x02`;
}

function send(client: SimClient, queueId: number, name: string, count: number, onAnswer: (code: number) => void): void {
  if (count === 1) {
    const ext = { ...sendFields('Orders', queueId, name), i: propertiesTextOf(name) };
    client.send(RequestCodes.SEND_MESSAGE_V2, ext, bodyOf(name, sizeOf(name)), (answer) => onAnswer(answer.code));
    return;
  }
  const names = Array.from({ length: count }, (_, i) => `${name}.${i}`);
  const entry = (one: string) => ({ flag: 0, body: bodyOf(one, sizeOf(one)), properties: Buffer.from(propertiesTextOf(one)) });
  const body = encodeBatch(names.map(entry));
  client.send(RequestCodes.SEND_BATCH_MESSAGE, sendFields('Orders', queueId, name, '', true), body, (answer) => onAnswer(answer.code));
}

function checkAll(sim: SimBroker): number {
  const client = sim.client();
  let count = 0;
  for (let queueId = 0; queueId < QUEUE_COUNT; queueId++) {
    for (const record of readQueue(client, 'Orders', queueId)) {
      const name = nameOf(record);
      const whole =
        bodyOf(name, sizeOf(name)).equals(record.body) && record.properties.get('note') === noteOf(name) && record.topic === 'Orders';
      if (!whole) throw new Error(`foreign bytes in ${name} position=${record.position} seed=${sim.seed}`);
      count++;
    }
  }
  return count;
}

test('foreign bytes: bodies and properties of many connections stay apart, also rebuilt from the log (BR-56)', async (t) => {
  const options: SimOptions = {
    overrides: { mappedFileSizeCommitLog: 131_072, mappedFileSizeConsumeQueue: 1_000, maxMessageSize: 65_536 },
  };
  for (let seed = 1; seed <= 6; seed++) {
    const sim = await SimBroker.start(seed, options);
    let acked = 0;
    for (let connection = 0; connection < CONNECTION_COUNT; connection++) {
      const client = sim.client();
      const cutAt = sim.random.below(3) === 0 ? sim.random.below(REQUEST_COUNT) : REQUEST_COUNT;
      for (let i = 0; i < cutAt; i++) {
        const count = sim.random.below(4) === 0 ? 1 + sim.random.below(5) : 1;
        send(client, sim.random.below(QUEUE_COUNT), `c${seed}-${connection}-${i}`, count, (code) => {
          t.is(code, ResponseCodes.SUCCESS);
          acked += count;
        });
        for (let step = sim.random.below(4); step > 0; step--) sim.runner.step(sim.clock.steadyMs());
      }
      if (cutAt === REQUEST_COUNT) continue;
      client.connection.write(Buffer.from([0, 0, 8, 0, 0, 0, 1]));
      client.onClosed = () => {};
      for (let step = sim.random.below(60); step > 0; step--) sim.runner.step(sim.clock.steadyMs());
      client.cut();
    }
    sim.runner.runFor(1_000);
    const count = checkAll(sim);
    t.true(count >= acked && acked > CONNECTION_COUNT * 3, `${count} records, ${acked} acknowledged`);
    sim.assertHealthy();
    // Everything but the log is made anew.
    const files = sim.kill();
    for (const folder of ['consumequeue', 'index']) files.remove(`/store/${folder}`);
    const next = await SimBroker.start(seed + 100, { ...options, files, clock: sim.clock });
    t.is(checkAll(next), count);
    next.assertHealthy();
  }
});

test('foreign bytes: a wrong request is refused by the name of its field, and nothing found is told as that (BR-64)', async (t) => {
  const sim = await SimBroker.start(9);
  const client = sim.client();
  t.is(client.askSend('Orders', 0, 'm0').code, 0);
  const query = { topic: 'Orders', key: 'none', maxNum: 10, beginTimestamp: 0, endTimestamp: Number.MAX_SAFE_INTEGER };
  const refused = (code: number, ext: Record<string, string | number>, field: string): void => {
    const answer = client.ask(code, ext);
    t.true(answer.code !== ResponseCodes.SUCCESS && answer.code !== ResponseCodes.QUERY_NOT_FOUND, `${code} ${answer.code}`);
    t.true(answer.remark?.includes(field) ?? false, `${code}: ${answer.remark}`);
  };
  for (const field of Object.keys(query)) {
    const { [field]: _, ...rest } = query as Record<string, string | number>;
    refused(RequestCodes.QUERY_MESSAGE, rest, field);
  }
  refused(RequestCodes.QUERY_MESSAGE, { ...query, maxNum: 'many' }, 'maxNum');
  refused(RequestCodes.QUERY_MESSAGE, { ...query, beginTimestamp: '1.5' }, 'beginTimestamp');
  refused(RequestCodes.SEARCH_OFFSET_BY_TIMESTAMP, { topic: 'Orders', queueId: 0, timestamp: 'now' }, 'timestamp');
  refused(RequestCodes.SEARCH_OFFSET_BY_TIMESTAMP, { topic: 'Orders', timestamp: 1 }, 'queueId');
  refused(RequestCodes.GET_MAX_OFFSET, { queueId: 0 }, 'topic');
  refused(RequestCodes.QUERY_CONSUMER_OFFSET, { topic: 'Orders', queueId: 0 }, 'consumerGroup');
  refused(RequestCodes.VIEW_MESSAGE_BY_ID, {}, 'offset');
  const unknown = client.ask(9_999);
  t.is(unknown.code, ResponseCodes.REQUEST_CODE_NOT_SUPPORTED);
  t.true(unknown.remark?.includes('9999') ?? false, unknown.remark);
  const nothing = client.ask(RequestCodes.QUERY_MESSAGE, query);
  t.is(nothing.code, ResponseCodes.QUERY_NOT_FOUND);
  t.is(nothing.body.length, 0);
  sim.assertHealthy();
});
