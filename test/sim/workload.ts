// Producers and consumers that work at random on a simulated broker, and the book of what was acknowledged and what was read.
import { assert } from '../../src/base/assert.ts';
import { type Random, SeededRandom } from '../../src/base/random.ts';
import { encodeBatch } from '../../src/message/batch.ts';
import { RequestCodes, ResponseCodes } from '../../src/protocol/codes.ts';
import type { SimBroker } from './sim-broker.ts';
import { type Answer, bodyOf, nameOf, propertiesOf, recordsOf, type SimClient, sendFields } from './sim-client.ts';

export interface WorkloadOptions {
  readonly topics?: readonly string[];
  readonly queueCount?: number;
  readonly producerCount?: number;
  /** Requests of each producer. */
  readonly requestCount?: number;
  readonly bodySizeMax?: number;
  readonly batchCountMax?: number;
  readonly depth?: number;
  /** Connections are cut in the middle of a frame now and then. */
  readonly cuts?: boolean;
  /** Makes the names of two runs on one store differ. */
  readonly prefix?: string;
}

/** A port that nobody listens on for a moment is not asked more often. */
const RECONNECT_MS = 20;
const TAGS = ['A', 'B', 'C', ''];

interface Queue {
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

export class Workload {
  readonly sim: SimBroker;
  readonly book: Book;
  readonly #random: Random;
  readonly #options: Required<WorkloadOptions>;
  /** Producers that are not done, and checks under way. */
  #running = 0;
  #nextName = 0;
  #checker: SimClient;
  #checkCount = 0;

  constructor(sim: SimBroker, options: WorkloadOptions = {}, book?: Book) {
    this.sim = sim;
    this.#random = new SeededRandom(sim.seed ^ 0x10ad);
    this.#options = {
      topics: ['Orders', 'Bills'],
      queueCount: 2,
      producerCount: 3,
      requestCount: 12,
      bodySizeMax: 300,
      batchCountMax: 6,
      depth: 3,
      cuts: true,
      prefix: `s${sim.seed}`,
      ...options,
    };
    this.book = book ?? new Book(this.#options.topics, this.#options.queueCount);
    this.#checker = this.#newChecker();
  }

  get done(): boolean {
    return this.#running === 0 && this.#checkCount === 0;
  }

  start(): void {
    for (let i = 0; i < this.#options.producerCount; i++) {
      this.#running++;
      this.#produce(this.sim.client(), this.#options.requestCount);
    }
  }

  #newChecker(): SimClient {
    const checker = this.sim.client();
    checker.onClosed = () => {
      this.#checkCount = 0;
      this.sim.timers.after(RECONNECT_MS, () => {
        this.#checker = this.#newChecker();
      });
    };
    return checker;
  }

  /** Keeps up to `depth` requests under way until `left` have been sent. */
  #produce(client: SimClient, left: number): void {
    let underWay = 0;
    let stopped = false;
    // What was under way may be stored or not; nobody promised anything.
    client.onClosed = () => {
      if (stopped) return;
      stopped = true;
      this.sim.timers.after(RECONNECT_MS, () => this.#produce(this.sim.client(), left));
    };
    const next = (): void => {
      while (!stopped && left > 0 && underWay < this.#options.depth) {
        left--;
        if (this.#options.cuts && this.#random.below(20) === 0) {
          stopped = true;
          this.#cutMidFrame(client);
          this.#produce(this.sim.client(), left);
          return;
        }
        underWay++;
        const answered = (): void => {
          underWay--;
          next();
        };
        if (!this.#sendOne(client, answered)) underWay--;
      }
      if (!stopped && left === 0 && underWay === 0) {
        stopped = true;
        this.#running--;
      }
    };
    next();
  }

  #cutMidFrame(client: SimClient): void {
    const queue = this.#queue();
    const name = this.#name(queue, 'A');
    client.send(RequestCodes.SEND_MESSAGE_V2, sendFields(queue.topic, queue.queueId, name, 'A'), bodyOf(name, this.#size()), () => {});
    // Some steps later: what was written may have arrived in part.
    client.connection.write(Buffer.from([0, 0, 4, 0, 0, 0]));
    client.cut();
  }

  /** False for a one-way send, which has no answer. */
  #sendOne(client: SimClient, answered: () => void): boolean {
    const queue = this.#queue();
    const kind = this.#random.below(4);
    if (kind === 0) {
      const name = this.#name(queue, 'B');
      client.sendOneway(RequestCodes.SEND_MESSAGE_V2, sendFields(queue.topic, queue.queueId, name, 'B'), bodyOf(name, this.#size()));
      return false;
    }
    const count = kind === 1 ? 1 + this.#random.below(this.#options.batchCountMax) : 1;
    const tags = Array.from({ length: count }, () => TAGS[this.#random.below(TAGS.length)] as string);
    const names = tags.map((tag) => this.#name(queue, tag));
    const onAnswer = (answer: Answer): void => {
      assert(answer.code === ResponseCodes.SUCCESS, `a send is taken code=${answer.code} ${answer.remark} seed=${this.sim.seed}`);
      this.#onAck(queue, Number(answer.ext['queueOffset']), names);
      answered();
    };
    if (kind === 1) {
      const body = encodeBatch(
        names.map((name, i) => ({ flag: 0, body: bodyOf(name, this.#size()), properties: Buffer.from(propertiesOf(name, tags[i])) })),
      );
      client.send(RequestCodes.SEND_BATCH_MESSAGE, sendFields(queue.topic, queue.queueId, `${names[0]}b`, '', true), body, onAnswer);
    } else {
      const name = names[0] as string;
      const ext = sendFields(queue.topic, queue.queueId, name, tags[0]);
      client.send(RequestCodes.SEND_MESSAGE_V2, ext, bodyOf(name, this.#size()), onAnswer);
    }
    return true;
  }

  /** Another connection, which may be another ingress's, sees the acknowledged message from now on. */
  #onAck(queue: Queue, offset: number, names: readonly string[]): void {
    this.book.ack(queue, offset, names);
    if (this.#random.below(4) > 0 || this.#checker.closed) return;
    const { topic, queueId } = queue;
    const end = offset + names.length;
    this.#checkCount++;
    this.#checker.send(RequestCodes.GET_MAX_OFFSET, { topic, queueId }, undefined, (answer) => {
      assert(
        Number(answer.ext['offset']) >= end,
        `max offset ${answer.ext['offset']} is behind the acknowledged ${end} seed=${this.sim.seed}`,
      );
      this.#checkCount--;
    });
    this.#checkCount++;
    this.#checker.pull(topic, queueId, 'checkers', { offset: end - 1 }, (answer) => {
      const seen = answer.code === ResponseCodes.SUCCESS ? recordsOf(answer).map(nameOf)[0] : `code ${answer.code}`;
      assert(seen === names.at(-1), `a pull at ${end - 1} sees ${seen}, not the acknowledged ${names.at(-1)} seed=${this.sim.seed}`);
      this.#checkCount--;
    });
  }

  #queue(): Queue {
    return this.book.queues[this.#random.below(this.book.queues.length)] as Queue;
  }

  #name(queue: Queue, tag: string): string {
    const name = `${this.#options.prefix}-${this.#nextName++}`;
    queue.sent.set(name, tag);
    return name;
  }

  #size(): number {
    return 1 + this.#random.below(this.#options.bodySizeMax);
  }
}

/** Reads one queue from its start by long polling, and keeps what it got. */
export class QueueReader {
  readonly offsets: number[] = [];
  readonly names: string[] = [];
  readonly #client: SimClient;
  readonly #topic: string;
  readonly #queueId: number;
  readonly #group: string;
  readonly #tags: string;
  offset = 0;
  committed = -1;
  stopped = false;

  constructor(client: SimClient, topic: string, queueId: number, group: string, tags = '*') {
    this.#client = client;
    this.#topic = topic;
    this.#queueId = queueId;
    this.#group = group;
    this.#tags = tags;
  }

  start(): void {
    const commits = this.offset % 3 === 1;
    if (commits) this.committed = this.offset;
    const options = { offset: this.offset, suspendMs: 2_000, tags: this.#tags, ...(commits ? { commitOffset: this.offset } : {}) };
    this.#client.pull(this.#topic, this.#queueId, this.#group, options, (answer) => this.#onAnswer(answer));
  }

  #onAnswer(answer: Answer): void {
    const { sim } = this.#client;
    const known: readonly number[] = [
      ResponseCodes.SUCCESS,
      ResponseCodes.PULL_NOT_FOUND,
      ResponseCodes.PULL_RETRY_IMMEDIATELY,
      ResponseCodes.TOPIC_NOT_EXIST,
    ];
    assert(known.includes(answer.code), `pull of ${this.#topic}/${this.#queueId} code=${answer.code} ${answer.remark} seed=${sim.seed}`);
    if (answer.code === ResponseCodes.SUCCESS) {
      for (const record of recordsOf(answer)) {
        this.offsets.push(record.queueOffset);
        this.names.push(nameOf(record));
      }
    }
    if (answer.code !== ResponseCodes.TOPIC_NOT_EXIST) {
      const next = Number(answer.ext['nextBeginOffset']);
      const moves = answer.code !== ResponseCodes.PULL_NOT_FOUND;
      assert(moves ? next > this.offset : next === this.offset, `next ${next} after ${this.offset} code=${answer.code} seed=${sim.seed}`);
      this.offset = next;
    }
    if (!this.stopped) this.start();
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
