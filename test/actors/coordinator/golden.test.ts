// Requests captured from stock clients, asked of a coordinator that has their topics and groups: the codes are those of Apache's broker.
import test from 'ava';
import { handlers } from '../../../src/actors/coordinator/handlers/table.ts';
import { RequestCodes } from '../../../src/protocol/codes.ts';
import { goldenAbsent, goldenClients, goldenFrames, goldenProbes } from '../../protocol/golden.ts';
import { Bench } from './bench.ts';
import type { Client } from './client.ts';

/** What the state of a fresh coordinator cannot repeat: who was connected, what was committed, what had been removed. */
const ofState: ReadonlySet<number> = new Set([
  RequestCodes.QUERY_CONSUMER_OFFSET,
  RequestCodes.GET_CONSUMER_LIST_BY_GROUP,
  RequestCodes.GET_CONSUMER_CONNECTION_LIST,
  RequestCodes.GET_PRODUCER_CONNECTION_LIST,
  RequestCodes.GET_CONSUMER_RUNNING_INFO,
  RequestCodes.CONSUME_MESSAGE_DIRECTLY,
  RequestCodes.INVOKE_BROKER_TO_GET_CONSUMER_STATUS,
  RequestCodes.INVOKE_BROKER_TO_RESET_OFFSET,
  // SQL is not served yet.
  RequestCodes.CHECK_CLIENT_CONFIG,
]);
const missing: ReadonlySet<number> = new Set([17, 26]);

function prepare(bench: Bench, admin: Client, ext: Record<string, unknown>): void {
  const topic = String(ext['topic'] ?? '');
  if (topic !== '' && !bench.topics.has(topic)) admin.createTopic(topic, 4);
  const group = String(ext['consumerGroup'] ?? ext['group'] ?? '');
  if (group !== '') admin.ask(RequestCodes.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, Buffer.from(JSON.stringify({ groupName: group })));
}

for (const name of goldenClients()) {
  test(`golden: requests of ${name} get the code that Apache gave`, (t) => {
    const frames = goldenFrames(name);
    const byNumber = new Map(frames.map((frame) => [frame.n, frame]));
    let compared = 0;
    for (const frame of frames) {
      if (frame.dir !== 'c2s' || (frame.flag & 1) !== 0 || !handlers.has(frame.code) || frame.conn.startsWith('ns')) continue;
      const bench = new Bench();
      const admin = bench.connect();
      const answer = byNumber.get(frame.pair ?? -1);
      if (!missing.has(answer?.code ?? 0)) prepare(bench, admin, frame.ext ?? {});
      const client = bench.connect();
      client.sendFrame(Buffer.from(frame.b64, 'base64'));
      bench.run();
      const got = client.answers.get(frame.opaque);
      if ((frame.flag & 2) !== 0) {
        t.is(got, undefined, `${frame.name} is one-way`);
        continue;
      }
      t.truthy(got, `${frame.name} n=${frame.n} is answered`);
      if (answer === undefined || ofState.has(frame.code)) continue;
      compared++;
      t.is(got?.code, answer.code, `${frame.name} n=${frame.n} ${got?.remark ?? ''}`);
      if (got?.code === 0) t.deepEqual(Object.keys(got.ext).sort(), Object.keys(answer.ext ?? {}).sort(), `${frame.name} n=${frame.n}`);
    }
    t.log(`${compared} answers compared`);
    t.pass();
  });
}

/** Where RingMQ means to differ, or the probe leans on what other probes did before. */
const otherwise: Readonly<Record<string, number>> = {
  'query offset, unknown group, young queue': 0,
  'query offset, empty queue': 0,
  'update offset while a reset waits': 0,
  'check client, good SQL': 1,
  'check client, bad SQL': 1,
};

test('golden: probes in their order get the code that Apache gave', (t) => {
  if (goldenAbsent !== undefined) {
    t.log(goldenAbsent);
    t.pass();
    return;
  }
  const bench = new Bench();
  const client = bench.connect();
  let compared = 0;
  for (const probe of goldenProbes()) {
    // The record that 309 needs is looked up by an ingress.
    if (probe.to !== 'broker' || !handlers.has(probe.code) || probe.code === RequestCodes.CONSUME_MESSAGE_DIRECTLY) continue;
    client.answers.clear();
    client.sendFrame(Buffer.from(probe.request, 'base64'));
    bench.run();
    const [got] = client.answers.values();
    if (probe.answer === null) {
      t.is(got, undefined, probe.name);
      continue;
    }
    compared++;
    t.is(got?.code, otherwise[probe.name] ?? probe.answer, `${probe.name}: ${got?.remark ?? ''}`);
  }
  t.true(compared > 40, `${compared} probes compared`);
});

test('golden: required fields that are absent or senseless are refused by name, never with silence', (t) => {
  const bench = new Bench();
  const client = bench.connect();
  for (const code of [14, 15, 17, 34, 35, 38, 46, 200, 202, 203, 204, 207, 208, 215, 300, 343, 345, 351, 352, 353]) {
    const answer = client.ask(code);
    t.not(answer.code, 0, `code ${code}`);
    t.truthy(answer.remark, `code ${code}`);
  }
  const wrong = client.ask(RequestCodes.QUERY_CONSUMER_OFFSET, { consumerGroup: 'G', topic: 'T', queueId: 'zero' });
  t.regex(wrong.remark ?? '', /queueId/);
  const unknown = client.ask(9999);
  t.deepEqual([unknown.code, unknown.remark], [3, ' request type 9999 not supported']);
});
