// What all paths of an ingress share: connections, mail, the directory, and how an answer gets to its connection.
import { Arena } from '../../base/arena.ts';
import { encodeFrame, encodeResponse, type Header, RESPONSE_FLAG } from '../../protocol/header.ts';
import { BROKER_VERSION } from '../../protocol/versions.ts';
import { CounterIds } from '../../runtime/counters.ts';
import type { SharedNumbers } from '../../runtime/shared-numbers.ts';
import type { ActorContext } from '../context.ts';
import type { Outbox } from '../outbox.ts';
import { RecordReader } from '../record-reader.ts';
import { ChunkPool } from './chunk-pool.ts';
import type { ClientConnection } from './client-connection.ts';
import { Directory } from './directory.ts';
import type { Ask } from './pending-asks.ts';
import { ReadCounter } from './read-counter.ts';

type Ext = Record<string, string | number | boolean>;

/** So long an offset that was committed with a pull may lie before the coordinator looks at it. */
const QUIET_MS = 10;

export class Desk {
  readonly context: ActorContext;
  readonly directory = new Directory();
  readonly arena: Arena;
  readonly pool: ChunkPool;
  readonly clients = new Map<number, ClientConnection>();
  readonly records: RecordReader;
  readonly reads: ReadCounter;
  readonly commitLog: Outbox;
  readonly dispatches: readonly Outbox[];
  readonly coordinator: Outbox;
  readonly indexer: Outbox;
  readonly positions: SharedNumbers;
  /** Connections with answers to send at the end of this cycle. */
  readonly #dirty: ClientConnection[] = [];
  /** When the coordinator is told of quiet mail; Infinity while there is none. */
  quietUntilMs = Number.POSITIVE_INFINITY;
  /** Connections whose next frame could not be taken. */
  stalled: ClientConnection[] = [];
  /** Number of the duty cycle. */
  pass = 0;

  constructor(context: ActorContext) {
    this.context = context;
    this.arena = Arena.of(context.output.memory);
    this.pool = new ChunkPool(context.output);
    this.positions = context.positions;
    this.commitLog = context.outbox('commit-log');
    this.dispatches = context.namesOf('dispatch').map((name) => context.outbox(name));
    this.coordinator = context.outbox('coordinator');
    this.indexer = context.outbox('indexer');
    this.records = new RecordReader(context);
    this.reads = new ReadCounter(this);
  }

  dispatchOf(queueKey: number): Outbox {
    return this.dispatches[queueKey % this.dispatches.length] as Outbox;
  }

  /** Answers a request that was judged here; one-way requests get nothing. */
  answer(client: ClientConnection, request: Header, code: number, remark?: string, ext?: Ext, body?: Uint8Array): void {
    if (code !== 0) this.context.counters.add(CounterIds.refusedRequests, 1);
    if (request.isOneway) return;
    this.send(client, encodeResponse(request, code, remark, ext, body));
  }

  /** As `answer`, long after the request was read. */
  refuse({ client, codec, opaque, oneway }: Ask, code: number, remark: string, ext?: Ext): void {
    this.context.counters.add(CounterIds.refusedRequests, 1);
    if (!oneway) this.send(client, encodeFrame({ codec, opaque, code, flag: RESPONSE_FLAG, version: BROKER_VERSION, remark, ext }));
  }

  send(client: ClientConnection, frame: Buffer): void {
    if (client.closed) return;
    this.touch(client);
    client.send(frame);
  }

  /** Its output leaves at the end of this cycle. */
  touch(client: ClientConnection): void {
    if (!client.hasOutput) this.#dirty.push(client);
    this.context.counters.add(CounterIds.responses, 1);
  }

  flushOutputs(): void {
    for (const client of this.#dirty) client.flush();
    this.#dirty.length = 0;
  }

  flushMail(): void {
    this.commitLog.flush();
    for (const outbox of this.dispatches) outbox.flush();
    this.indexer.flush();
    this.coordinator.flush();
    if (this.coordinator.isQuiet) this.#wakeCoordinator();
    else this.quietUntilMs = Number.POSITIVE_INFINITY;
  }

  /** Waking the coordinator for each commit that rides on a pull would cost more than the pull. */
  #wakeCoordinator(): void {
    const nowMs = this.context.clock.steadyMs();
    if (this.quietUntilMs === Number.POSITIVE_INFINITY) this.quietUntilMs = nowMs + QUIET_MS;
    if (nowMs < this.quietUntilMs) return;
    this.quietUntilMs = Number.POSITIVE_INFINITY;
    this.coordinator.wake();
  }

  /** The frame under way stays in the decoder; it is offered again when there may be room. */
  stall(client: ClientConnection): false {
    if (!client.stalled) this.context.counters.add(CounterIds.mailFull, 1);
    return this.#pause(client);
  }

  /** The same where the connection has had its share of this pass: it goes on in the next one. */
  takeTurns(client: ClientConnection): false {
    this.context.wake();
    return this.#pause(client);
  }

  #pause(client: ClientConnection): false {
    if (!client.stalled) {
      client.stalled = true;
      client.connection.pause();
      this.stalled.push(client);
    }
    return false;
  }
}
