// Whatever a request's fields and body say, it is answered, the broker goes on, and who has nothing to do with it notices nothing.
import test from 'ava';
import fc from 'fast-check';
import { errorText } from '../../src/base/errors.ts';
import { RequestCodes } from '../../src/protocol/codes.ts';
import { type Mutant, mutant, oneFieldMutants, soundHeartbeat, soundRequests, TARGET } from './request-mutants.ts';
import { SimBroker } from './sim-broker.ts';
import { type Answer, nameOf, recordsOf, type SimClient } from './sim-client.ts';

/** Brokers, each of which gets so many mutants. SIM_SEEDS sets another number. */
const RUNS = Number(process.env['SIM_SEEDS'] ?? 40);
const MUTANTS = 40;
const COUNT = 5;
const pullCodes: readonly number[] = [RequestCodes.PULL_MESSAGE, RequestCodes.LITE_PULL_MESSAGE];

async function startWithBystander(seed: number): Promise<SimBroker> {
  const sim = await SimBroker.start(seed, { settings: { brokerName: 'broker-a' } });
  const client = sim.client();
  for (let i = 0; i < COUNT; i++) expectDone(client.askSend('Orders', 0, `m${i}`));
  const config = { groupName: 'Readers', retryMaxTimes: 7 };
  expectDone(client.ask(RequestCodes.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, Buffer.from(JSON.stringify(config))));
  expectDone(client.ask(RequestCodes.UPDATE_CONSUMER_OFFSET, { consumerGroup: 'Readers', topic: 'Orders', queueId: 0, commitOffset: 3 }));
  for (let i = 0; i < COUNT; i++) expectDone(client.askSend(TARGET.topic, 0, `t${i}`, 10, 'a'));
  return sim;
}

function expectDone({ code, remark }: Answer): void {
  if (code !== 0) throw new Error(`code ${code} ${remark}`);
}

/** All that belongs to the bystander, as it is asked for. */
function bystanderOf(sim: SimBroker): unknown {
  const client = sim.client();
  const seen = {
    names: recordsOf(client.askPull('Orders', 0, 'Readers')).map(nameOf),
    other: client.askPull('Orders', 1, 'Readers').code,
    max: client.askNumber(RequestCodes.GET_MAX_OFFSET, 'Orders', 0),
    offset: client.askNumber(RequestCodes.QUERY_CONSUMER_OFFSET, 'Orders', 0, 'offset', { consumerGroup: 'Readers' }),
    topic: client.ask(RequestCodes.GET_TOPIC_CONFIG, { topic: 'Orders' }).body.toString(),
    group: client.ask(RequestCodes.GET_SUBSCRIPTIONGROUP_CONFIG, { group: 'Readers' }).body.toString(),
  };
  client.connection.destroy();
  return seen;
}

/** The answer; null where there is to be none, or where a pull has waited for so long that its connection was idle. */
function exchange(client: SimClient, { code, ext, body, oneway }: Mutant): Answer | null {
  if (oneway) {
    client.sendOneway(code, ext, body);
    return null;
  }
  try {
    return client.ask(code, ext, body);
  } catch (error) {
    if (client.closed && pullCodes.includes(code)) return null;
    throw error;
  }
}

/** Connected as the member and producer that the requests speak of; it answers what it is asked. */
function connect(sim: SimBroker): SimClient {
  const client = sim.client();
  client.onRequest = ({ opaque }) => client.reply(opaque, 0, Buffer.from('{}'));
  return client;
}

/** What one mutant removed is there again for the next. */
function prepare(client: SimClient): void {
  const { code, ext, body } = soundHeartbeat();
  client.ask(code, ext, body);
  if (client.askNumber(RequestCodes.GET_MAX_OFFSET, TARGET.topic, 0) === 0) client.askSend(TARGET.topic, 0, 'again', 10, 'a');
}

function tryMutants(sim: SimBroker, mutants: Iterable<Mutant & { readonly what?: string }>): void {
  let client = connect(sim);
  for (const each of mutants) {
    if (client.closed) client = connect(sim);
    try {
      prepare(client);
      const answer = exchange(client, each);
      if (answer !== null && answer.code !== 0 && (answer.remark ?? '') === '') throw new Error(`code ${answer.code} without a text`);
      sim.assertHealthy();
    } catch (error) {
      throw new Error(`${each.what ?? `code=${each.code}`}: ${errorText(error)}`);
    }
  }
  sim.runner.runFor(100);
  sim.assertHealthy();
  client.connection.destroy();
}

test('mutated requests: each of the sound ones is understood', async (t) => {
  const sim = await startWithBystander(1);
  const client = connect(sim);
  for (const { code, ext, body } of soundRequests) {
    prepare(client);
    const answer = client.ask(code, ext, body);
    t.notRegex(answer.remark ?? '', /request field|body:|not supported|malformed/, `${code}: ${answer.remark}`);
  }
  sim.assertHealthy();
});

test('mutated requests: each field of each request may be absent, out of range, strange or long', async (t) => {
  const sim = await startWithBystander(2);
  const before = bystanderOf(sim);
  tryMutants(sim, oneFieldMutants());
  t.deepEqual(bystanderOf(sim), before);
  t.deepEqual(sim.fatal, []);
});

test('mutated requests: each is answered, with a text where it is refused, and changes nothing of others', async (t) => {
  const property = fc.asyncProperty(
    fc.integer({ min: 1, max: 1_000_000 }),
    fc.array(mutant, { minLength: MUTANTS, maxLength: MUTANTS }),
    async (seed, mutants) => {
      const sim = await startWithBystander(seed);
      const before = JSON.stringify(bystanderOf(sim));
      tryMutants(sim, mutants);
      const after = JSON.stringify(bystanderOf(sim));
      if (after !== before) throw new Error(`a bystander sees another state\nbefore=${before}\nafter=${after}`);
      if (sim.fatal.length > 0) throw new Error(sim.fatal.join('; '));
    },
  );
  try {
    await fc.assert(property, { numRuns: RUNS, seed: 6 });
    t.pass();
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause.stack : '';
    t.fail(`${errorText(error)}\n${cause}`);
  }
});
