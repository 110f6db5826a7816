// One store and the brokers that are killed over it, one after another: start, look at what is there, load, kill.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { type Random, SeededRandom } from '../../src/base/random.ts';
import { runCheck } from '../../src/check-command.ts';
import { encodeBatch } from '../../src/message/batch.ts';
import { RequestCodes, ResponseCodes } from '../../src/protocol/codes.ts';
import { folderFor, type Program, runBroker, smallSettings, spawnBroker } from '../system/program.ts';
import { sendExt, WireClient } from '../system/wire-client.ts';
import { bodyOf, Ledger } from './ledger.ts';

const TOPIC = 'Crash';
const QUEUE_COUNT = 6;
const CONNECTION_COUNT = 3;
const IN_FLIGHT = 8;
const BATCH_COUNT_MAX = 6;
const BODY_SIZE_MAX = 3_000;
const ACKS_MAX = 240;
/** Every so many rounds all messages are read, else those that are new. */
const WHOLE_EVERY = 20;
/** The checker looks at every so many killed stores. */
const LOOK_EVERY = 4;
const START_KILL_MS_MAX = 600;

/** Small files, so that each kind of them rolls, and short intervals, so that all that happens in minutes happens in a round. */
const laneSettings: Readonly<Record<string, string | number>> = {
  logLevel: 'warn',
  maxMessageSize: 65_536,
  tailWindowSizeBytes: 1_048_576,
  appendRingSizeBytes: 524_288,
  mappedFileSizeCommitLog: 1_048_576,
  flushIntervalCommitLog: 20,
  flushCommitLogLeastPages: 0,
  flushIntervalConsumeQueue: 20,
  flushConsumeQueueThoroughInterval: 60,
};

export class Lane {
  readonly ledger = new Ledger(QUEUE_COUNT);
  readonly store: string;
  killCount = 0;
  readonly #t: ExecutionContext;
  readonly #name: string;
  readonly #random: Random;
  readonly #sets: Readonly<Record<string, string | number>>;
  #sent = 0;

  constructor(t: ExecutionContext, name: string, seed: number, sets: Readonly<Record<string, string | number>>) {
    this.#t = t;
    this.#name = name;
    this.#random = new SeededRandom(seed);
    this.#sets = { ...laneSettings, ...sets };
    this.store = folderFor(t);
  }

  /** One kill. Throws where a broker does not start any more. */
  async round(number: number): Promise<void> {
    if (number > 0 && this.#random.below(4) === 0) this.#forgetPlace();
    if (number > 0 && this.#random.below(8) === 0) {
      await this.#killStarting();
      return;
    }
    const program = await runBroker(this.#t, { store: this.store, sets: this.#sets });
    const clients = await this.#open(program);
    try {
      if (number === 0) await clients[0]?.createTopic(TOPIC, QUEUE_COUNT);
      if (number % WHOLE_EVERY === WHOLE_EVERY - 1) this.ledger.forgetSeen();
      await this.#check(clients);
      await this.#loadAndKill(program, clients);
    } finally {
      for (const client of clients) client.close();
    }
  }

  /** Reads all messages from a broker that then stops in good order. */
  async finish(): Promise<void> {
    const program = await runBroker(this.#t, { store: this.store, sets: this.#sets });
    const clients = await this.#open(program);
    this.ledger.forgetSeen();
    await this.#check(clients);
    for (const client of clients) client.close();
    this.#t.deepEqual(await program.stop(), { code: 0, signal: null });
    this.#t.false(existsSync(join(this.store, 'abort')));
    await this.#lookAtStore(/^The store is sound: /m);
  }

  #open(program: Program): Promise<WireClient[]> {
    return Promise.all(Array.from({ length: CONNECTION_COUNT }, () => WireClient.open(program.portOf('broker'))));
  }

  /** As after a failure of the machine: the next start trusts nothing but what the checkpoint vouches for. */
  #forgetPlace(): void {
    const path = join(this.store, 'abort');
    if (existsSync(path)) writeFileSync(path, readFileSync(path, 'latin1').split('\n', 1)[0] ?? '');
  }

  /** What lies there while no broker runs: sound but for what the next start repairs. */
  async #lookAtStore(allowed: RegExp): Promise<void> {
    let report = '';
    const add = (text: string): void => {
      report += text;
    };
    const sets = Object.entries({ ...smallSettings, ...this.#sets }).flatMap(([name, value]) => ['--set', `${name}=${value}`]);
    const code = await runCheck([this.store, ...sets], { out: add, err: add });
    if (code !== 0 || !allowed.test(report)) throw new Error(`the checker ends with ${code}: ${report}`);
  }

  async #killStarting(): Promise<void> {
    const program = spawnBroker(this.#t, { store: this.store, sets: this.#sets });
    const timer = setTimeout(() => program.child.kill('SIGKILL'), this.#random.below(START_KILL_MS_MAX));
    await program.exited;
    clearTimeout(timer);
    await this.#lookAtStore(/sound/);
    this.#t.is(program.child.signalCode, 'SIGKILL', program.stderr);
    this.killCount++;
  }

  async #check(clients: readonly WireClient[]): Promise<void> {
    const queueIds = Array.from({ length: QUEUE_COUNT }, (_, i) => i);
    await Promise.all(queueIds.map((queueId) => this.#checkQueue(clients[queueId % clients.length] as WireClient, queueId)));
  }

  async #checkQueue(client: WireClient, queueId: number): Promise<void> {
    for (;;) {
      const from = this.ledger.checkedTo(queueId);
      const answer = await client.pull(TOPIC, from, { queueId });
      if (answer.code !== ResponseCodes.SUCCESS) {
        this.ledger.seenAll(queueId, Number(answer.ext['maxOffset']));
        return;
      }
      this.ledger.see(queueId, answer.body);
      if (this.ledger.checkedTo(queueId) === from) throw new Error(`a pull brings nothing queue=${queueId} offset=${from}`);
    }
  }

  async #loadAndKill(program: Program, clients: readonly WireClient[]): Promise<void> {
    const end = this.ledger.ackedCount + 1 + this.#random.below(ACKS_MAX);
    const kill = (): void => {
      if (this.ledger.ackedCount >= end) program.child.kill('SIGKILL');
    };
    const loops = clients.flatMap((client) => Array.from({ length: IN_FLIGHT }, () => this.#send(client, clients.indexOf(client), kill)));
    await Promise.all(loops);
    const exit = await program.exited;
    this.#t.is(exit.signal, 'SIGKILL', program.stderr);
    this.killCount++;
    if (this.killCount % LOOK_EVERY === 0) await this.#lookAtStore(/sound/);
  }

  /** Sends until the connection is gone. */
  async #send(client: WireClient, index: number, onAcked: () => void): Promise<void> {
    while (!client.closed) {
      const queueId = this.#random.below(QUEUE_COUNT);
      const batch = this.#random.below(5) === 0;
      const names = Array.from({ length: batch ? 1 + this.#random.below(BATCH_COUNT_MAX) : 1 }, () => this.#nextName(index));
      const bodies = names.map(bodyOf);
      const body = batch ? encodeBatch(bodies.map((each) => ({ flag: 0, body: each, properties: Buffer.alloc(0) }))) : bodies[0];
      const code = batch ? RequestCodes.SEND_BATCH_MESSAGE : RequestCodes.SEND_MESSAGE_V2;
      const answer = await client.ask(code, sendExt(TOPIC, { queueId, batch }), body);
      if (answer === null) return;
      if (answer.code === ResponseCodes.SUCCESS) this.ledger.acked(queueId, Number(answer.ext['queueOffset']), names);
      onAcked();
    }
  }

  #nextName(index: number): string {
    return `${this.#name}${index}.${this.#sent++}.${this.#random.below(BODY_SIZE_MAX)}`;
  }
}
