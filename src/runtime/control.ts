// The control plane between the main thread and the actor threads: the one door to comlink.
//
// Comlink alone leaves a call to a dead worker pending for ever and drops error codes, so every call is raced with the worker's
// end and a time limit, and failures travel as data. A thread that sleeps in Atomics.wait sees no messages: a word in shared
// memory counts the calls under way, and its doorbell is rung, so that it gives its event loop a turn.
import type { Worker } from 'node:worker_threads';
import * as Comlink from 'comlink';
import nodeEndpointModule from 'comlink/dist/umd/node-adapter.js';
import { type ErrorCode, ErrorCodes, errorText, RingmqError } from '../base/errors.ts';

// The adapter is a UMD file whose types claim a default export that the module system wraps once more.
const nodeEndpoint = nodeEndpointModule as unknown as (port: unknown) => Comlink.Endpoint;

export type Outcome = { readonly ok: true } | { readonly ok: false; readonly code: string; readonly message: string };

/** What a thread lets the main thread ask of it. */
export interface ThreadControl {
  /** Builds and starts an actor of this thread. */
  startActor(name: string): Promise<Outcome>;
  stopActor(name: string): Promise<Outcome>;
  /** Hands over what start found in the store; before the first startActor. */
  boot(boot: unknown): Promise<Outcome>;
}

export interface FailureReport {
  readonly actor: string;
  readonly message: string;
}

/** Counts the control calls under way to one thread. */
export class ControlFlag {
  readonly #words: Int32Array;
  readonly #index: number;

  constructor(memory: SharedArrayBuffer, index: number) {
    this.#words = new Int32Array(memory);
    this.#index = index;
  }

  begin(): void {
    Atomics.add(this.#words, this.#index, 1);
  }

  end(): void {
    Atomics.sub(this.#words, this.#index, 1);
  }

  readonly pending = (): boolean => Atomics.load(this.#words, this.#index) > 0;
}

/** Worker side: serves the calls of the main thread. */
export function serveControl(port: unknown, control: ThreadControl): void {
  Comlink.expose(control, nodeEndpoint(port));
}

/** Runs a step and gives its failure as data: a code would not survive the way between threads. */
export async function outcomeOf(step: () => void | Promise<void>): Promise<Outcome> {
  try {
    await step();
    return { ok: true };
  } catch (error) {
    return { ok: false, code: error instanceof RingmqError ? error.code : '', message: errorText(error) };
  }
}

/** Main side: calls with a time limit that reject when the worker ends. */
export class ThreadLink {
  readonly #remote: Comlink.Remote<ThreadControl>;
  readonly #flag: ControlFlag;
  readonly #ring: () => void;
  readonly #ended: Promise<never>;

  constructor(worker: Worker, flag: ControlFlag, ring: () => void) {
    this.#remote = Comlink.wrap<ThreadControl>(nodeEndpoint(worker));
    this.#flag = flag;
    this.#ring = ring;
    this.#ended = new Promise((_, reject) => {
      // Comes before 'exit' and says why, such as a file that cannot be loaded or memory that ran out.
      worker.once('error', (error) => reject(new RingmqError(ErrorCodes.closed, 'thread failed', {}, error)));
      worker.once('exit', (code) => reject(new RingmqError(ErrorCodes.closed, 'thread ended', { exitCode: code })));
    });
    this.#ended.catch(() => {}); // nobody may be waiting when it ends
  }

  boot(boot: unknown, limitMs: number): Promise<void> {
    return this.#call('boot', () => this.#remote.boot(boot), limitMs);
  }

  startActor(name: string, limitMs: number): Promise<void> {
    return this.#call(`start of ${name}`, () => this.#remote.startActor(name), limitMs);
  }

  stopActor(name: string, limitMs: number): Promise<void> {
    return this.#call(`stop of ${name}`, () => this.#remote.stopActor(name), limitMs);
  }

  release(): void {
    this.#remote[Comlink.releaseProxy]();
  }

  async #call(what: string, call: () => Promise<Outcome>, limitMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new RingmqError(ErrorCodes.timeout, `${what} took too long`, { limitMs })), limitMs);
    });
    this.#flag.begin();
    this.#ring();
    try {
      const outcome = await Promise.race([call(), this.#ended, late]);
      if (!outcome.ok) throw new RingmqError((outcome.code || ErrorCodes.closed) as ErrorCode, outcome.message);
    } finally {
      clearTimeout(timer);
      this.#flag.end();
    }
  }
}
