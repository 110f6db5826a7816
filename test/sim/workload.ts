// Producers that send at random to a simulated broker, each over a connection that may be cut, and check what they are told.
import { assert } from '../../src/base/assert.ts';
import { type Random, SeededRandom } from '../../src/base/random.ts';
import { encodeBatch } from '../../src/message/batch.ts';
import { RequestCodes, ResponseCodes } from '../../src/protocol/codes.ts';
import { Book, type Queue } from './book.ts';
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
