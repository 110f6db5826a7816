// The book of what a broker has acknowledged, and the check of all its promises against what can be read.
import { assert } from '../../src/base/assert.ts';
import { RequestCodes, ResponseCodes } from '../../src/protocol/codes.ts';
import type { SimBroker } from './sim-broker.ts';
import { nameOf, recordsOf, type SimClient } from './sim-client.ts';

export interface Queue {
  readonly topic: string;
  readonly queueId: number;
  /** Acknowledged: name by offset. */
  readonly acked: Map<number, string>;
  /** Tag of everything sent to it, acknowledged or not. */
  readonly sent: Map<string, string>;
}

/** What the broker has promised. */
export class Book {
  readonly queues: Queue[] = [];
  ackCount = 0;

  constructor(topics: readonly string[], queueCount: number) {
    for (const topic of topics) {
      for (let queueId = 0; queueId < queueCount; queueId++) this.queues.push({ topic, queueId, acked: new Map(), sent: new Map() });
    }
  }

  ack(queue: Queue, offset: number, names: readonly string[]): void {
    names.forEach((name, i) => {
      const before = queue.acked.get(offset + i);
      assert(
        before === undefined,
        `two acknowledgements share an offset ${queue.topic}/${queue.queueId} offset=${offset + i} ${before} ${name}`,
      );
      queue.acked.set(offset + i, name);
    });
    this.ackCount += names.length;
  }

  /** First offset that nothing acknowledged has reached. */
  endOf(queue: Queue): number {
    return Math.max(-1, ...queue.acked.keys()) + 1;
  }
}

/** The promises against what can be read now: each queue from its start, by a client of its own. */
export function checkBook(sim: SimBroker, book: Book): void {
  const client = sim.client();
  for (const queue of book.queues) {
    const { topic, queueId, acked, sent } = queue;
    const where = `${topic}/${queueId} seed=${sim.seed}`;
    const all = readAll(client, topic, queueId, '*');
    all.forEach(({ offset }, i) => {
      assert(offset === i, `offsets have a gap at ${i}: ${offset} ${where}`);
    });
    for (const [offset, name] of acked)
      assert(all[offset]?.name === name, `acknowledged ${name} at ${offset}, found ${all[offset]?.name} ${where}`);
    const names = all.map((entry) => entry.name);
    assert(new Set(names).size === names.length, `a message is there twice ${where}`);
    for (const name of names) assert(sent.has(name), `nobody sent ${name} ${where}`);
    const tagged = readAll(client, topic, queueId, 'A || C').map((entry) => entry.name);
    const wanted = names.filter((name) => ['A', 'C'].includes(sent.get(name) as string));
    assert(tagged.join() === wanted.join(), `by tags: ${tagged} wanted: ${wanted} ${where}`);
    if (acked.size > 0) {
      const end = client.askNumber(RequestCodes.GET_MAX_OFFSET, topic, queueId);
      assert(end === all.length, `max offset ${end} of ${all.length} messages ${where}`);
    }
  }
}

function readAll(client: SimClient, topic: string, queueId: number, tags: string): { offset: number; name: string }[] {
  const all: { offset: number; name: string }[] = [];
  for (let offset = 0; ; ) {
    const answer = client.askPull(topic, queueId, 'auditors', { offset, tags });
    if (answer.code === ResponseCodes.PULL_NOT_FOUND || answer.code === ResponseCodes.TOPIC_NOT_EXIST) return all;
    if (answer.code === ResponseCodes.SUCCESS) {
      for (const record of recordsOf(answer)) all.push({ offset: record.queueOffset, name: nameOf(record) });
    } else assert(answer.code === ResponseCodes.PULL_RETRY_IMMEDIATELY, `code ${answer.code} ${answer.remark} seed=${client.sim.seed}`);
    const next = Number(answer.ext['nextBeginOffset']);
    assert(next > offset, `a pull at ${offset} leads to ${next} code=${answer.code} ${answer.remark} seed=${client.sim.seed}`);
    offset = next;
  }
}
