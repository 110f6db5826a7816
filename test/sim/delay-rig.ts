// Helpers for delayed messages in a simulated broker: sending them, and what their real queues hold.
import { assert } from '../../src/base/assert.ts';
import { encodeBatch } from '../../src/message/batch.ts';
import { encodeProperties, formatProperties } from '../../src/message/properties.ts';
import type { MessageRecord } from '../../src/message/record-decode.ts';
import { RequestCodes } from '../../src/protocol/codes.ts';
import type { ExtFields } from '../../src/protocol/header.ts';
import type { SimBroker } from './sim-broker.ts';
import { type Answer, recordsOf, type SimClient, sendFields } from './sim-client.ts';

export const SCHEDULE = 'SCHEDULE_TOPIC_XXXX';

/** Properties are those given, in their order, and UNIQ_KEY. */
export function fieldsWith(topic: string, queueId: number, name: string, properties: Readonly<Record<string, string>>): ExtFields {
  const all = new Map([['UNIQ_KEY', name], ...Object.entries(properties)]);
  return { ...sendFields(topic, queueId, name), i: formatProperties(all) };
}

export function sendDelayed(client: SimClient, topic: string, name: string, level: number | string, queueId = 0): Answer {
  return sendWith(client, topic, name, { DELAY: String(level) }, queueId);
}

export function sendWith(
  client: SimClient,
  topic: string,
  name: string,
  properties: Readonly<Record<string, string>>,
  queueId = 0,
): Answer {
  const fields = fieldsWith(topic, queueId, name, properties);
  return client.ask(RequestCodes.SEND_MESSAGE_V2, fields, Buffer.from(name));
}

/** All that a queue holds. */
export function held(client: SimClient, topic: string, queueId = 0): MessageRecord[] {
  const records: MessageRecord[] = [];
  for (let offset = 0; ; ) {
    const answer = client.askPull(topic, queueId, 'readers', { offset });
    const found = answer.code === 0 ? recordsOf(answer) : [];
    if (found.length === 0) return records;
    records.push(...found);
    offset = Number(answer.ext['nextBeginOffset']);
  }
}

export function namesHeld(client: SimClient, topic: string, queueId = 0): string[] {
  return held(client, topic, queueId).map((record) => record.properties.get('UNIQ_KEY') ?? '');
}

/** Runs until a queue of the topic holds so many, at most so long. */
export function runUntilHeld(
  sim: SimBroker,
  client: SimClient,
  topic: string,
  count: number,
  limitMs: number,
  queueId = 0,
): MessageRecord[] {
  const untilMs = sim.clock.steadyMs() + limitMs;
  for (;;) {
    const records = held(client, topic, queueId);
    if (records.length >= count) return records;
    assert(sim.clock.steadyMs() < untilMs, `${records.length} of ${count} messages after ${limitMs} ms seed=${sim.seed}`);
    sim.runner.runFor(100);
  }
}

/** The body of a batch request, a message for each of the properties. */
export function batchOf(all: readonly Readonly<Record<string, string>>[]): Uint8Array {
  return encodeBatch(
    all.map((properties, i) => ({
      flag: 0,
      body: Buffer.from(`b${i}`),
      properties: encodeProperties(new Map([['UNIQ_KEY', `b${i}`], ...Object.entries(properties)])),
    })),
  );
}
