// The actor that keeps groups, offsets, topics and their rules: frames and notes in, decisions made and written, answers out.
import { AssertionError } from '../../base/assert.ts';
import { errorText } from '../../base/errors.ts';
import { RateLimit } from '../../base/rate-limit.ts';
import { ResponseCodes } from '../../protocol/codes.ts';
import { encodeResponse } from '../../protocol/header.ts';
import type { Actor } from '../../runtime/actor.ts';
import { CounterIds } from '../../runtime/counters.ts';
import type { RingHandler, RingReader } from '../../runtime/ring.ts';
import type { LookUpsAnswered, ReadCounts } from '../answer-messages.ts';
import type { ActorContext } from '../context.ts';
import { type ConnectionOpened, type EnsureGroup, type EnsureTopic, Messages, type PeerState, type TopicEnsured } from '../messages.ts';
import type { Outbox } from '../outbox.ts';
import { PartAssembler } from '../part-assembler.ts';
import { Desk } from './desk.ts';
import { handlers } from './handlers/table.ts';
import { onPulledCommit, onResetPulled } from './pull-notes.ts';
import { onPushReply } from './push-reply.ts';
import { badRequest, LATER, type Reply, type Request, readFrame, refuse } from './request.ts';
import { timedAnswer } from './time-gaps.ts';

/** Mail taken from one ingress before the others have their turn. */
const MAIL_LIMIT = 256;
const ROOM_POLL_MS = 1;
const SAVE_RETRY_MS = 1000;
const LOG_INTERVAL_MS = 10_000;

/** What goes out once the changes of this pass are on disk; a text: they could not be written. */
type Outgoing = (failure: string | null) => void;

interface Desktop {
  readonly ring: RingReader;
  readonly handler: RingHandler;
}

export class Coordinator implements Actor {
  readonly name: string;
  readonly desk: Desk;
  readonly #context: ActorContext;
  readonly #mail: readonly Desktop[];
  readonly #dispatchers: readonly Outbox[];
  /** Of the ingresses, and of the scheduler. */
  readonly #others: readonly Outbox[];
  readonly #outgoing: Outgoing[] = [];
  readonly #faultLimit = new RateLimit(LOG_INTERVAL_MS);
  #offsetsDueMs = Number.POSITIVE_INFINITY;
  #saveRetryMs = Number.POSITIVE_INFINITY;
  #noteRetryMs = 0;

  constructor(context: ActorContext) {
    this.name = context.name;
    this.#context = context;
    this.desk = new Desk(context);
    const names = context.namesOf('ingress');
    this.#others = [...names, ...context.namesOf('scheduler')].map((name) => context.outbox(name));
    this.#dispatchers = context.namesOf('dispatch').map((name) => context.outbox(name));
    this.#mail = context.inboxes.map(({ from, ring }) => ({ ring, handler: this.#readerOf(names.indexOf(from), ring) }));
  }

  start(): void {
    this.desk.load();
    this.desk.commit();
    this.#flush();
  }

  doWork(): number {
    const { clock } = this.#context;
    let work = this.#flush();
    // Answers that found no room go out first; whoever asks more waits in front of us meanwhile.
    if (!this.#isCongested()) for (const { ring, handler } of this.#mail) work += ring.drain(handler, MAIL_LIMIT);
    const now = clock.steadyMs();
    work += this.desk.membership.tick(now) + this.desk.tick(now) + this.desk.traffic.tick(now);
    for (const { request, reply, changes } of this.desk.takeLate()) this.#queueAnswer(request, reply, changes);
    this.#save(now);
    // After the save: what it changed is registered at once, and answers that wait for that are held.
    work += this.desk.registrar.tick(now) + this.#saveOffsets(now);
    // The registrar may have learnt something that changes topics.
    if (this.desk.topics.dirty) this.#save(now);
    return work + this.#flush();
  }

  deadlineMs(): number {
    const { membership, registrar, traffic } = this.desk;
    // Whoever makes room in a ring does not ring for it.
    if (this.#isCongested()) return this.#context.clock.steadyMs() + ROOM_POLL_MS;
    const untilMs = Math.min(membership.nextMs(), this.desk.nextMs(), registrar.nextMs(), traffic.nextMs());
    return Math.min(untilMs, this.#offsetsDueMs, this.#saveRetryMs);
  }

  stop(): void {
    this.desk.saveOffsets();
    this.desk.commit();
    this.desk.close();
    this.#flush();
  }

  #readerOf(ingress: number, ring: RingReader): RingHandler {
    const parts = new PartAssembler(ring);
    return {
      onRecord: (type, at) => {
        this.#take(ingress, ring, parts, type, at);
        return true;
      },
    };
  }

  #take(ingress: number, ring: RingReader, parts: PartAssembler, type: number, at: number): void {
    const { links, lookUps, registrar } = this.desk;
    switch (type) {
      case Messages.frame: {
        const frame = parts.takeFrame(at);
        if (frame !== null) this.#onFrame(ingress, parts.connectionId, frame);
        return;
      }
      case Messages.commitOffset:
        onPulledCommit(this.desk, ingress, ring, at);
        return;
      case Messages.connectionOpened: {
        const opened = parts.takeJson<ConnectionOpened>(at);
        if (opened !== null) links.open(ingress, opened.connectionId, opened.host, opened.port);
        return;
      }
      case Messages.connectionClosed: {
        const link = links.close(ingress, ring.words[at >> 2] as number);
        if (link !== undefined) this.desk.linkClosed(link.id);
        return;
      }
      case Messages.ingressStarted:
        parts.clear();
        if ((ring.words[at >> 2] as number) > 0) this.desk.ingressRestarted(ingress);
        return;
      case Messages.schedulerStarted:
        this.desk.schedulerRestarted();
        return;
      case Messages.ensureTopic: {
        const wish = parts.takeJson<EnsureTopic>(at);
        if (wish !== null) this.#onEnsure(ingress, wish);
        return;
      }
      case Messages.ensureGroup: {
        const wish = parts.takeJson<EnsureGroup>(at);
        if (wish !== null) this.desk.groups.ensure(wish.group);
        return;
      }
      case Messages.resetPulled:
        onResetPulled(this.desk, ingress, ring, at);
        return;
      case Messages.lookUpsAnswered: {
        const answered = parts.takeJson<LookUpsAnswered>(at);
        if (answered !== null) lookUps.onAnswered(answered);
        return;
      }
      case Messages.pushReply: {
        const frame = parts.takeFrame(at);
        if (frame !== null) onPushReply(this.desk, ingress, parts.connectionId, frame);
        return;
      }
      case Messages.readCounts:
        this.desk.traffic.onReads(parts.takeJson<ReadCounts>(at));
        return;
      case Messages.peerState: {
        const state = parts.takeJson<PeerState>(at);
        if (state !== null) registrar.onPeerState(state);
        return;
      }
    }
  }

  #onFrame(ingress: number, connectionId: number, frame: Buffer): void {
    const read = readFrame(frame);
    if (typeof read === 'string') {
      this.#fault('frame could not be read', { fault: read });
      return;
    }
    const { header, body } = read;
    const link = this.desk.links.find(ingress, connectionId);
    if (header.isResponse) {
      // Name servers are asked over connections of our own, which are no links.
      if (link !== undefined) this.desk.calls.onResponse(link, header, body);
      else if (ingress === 0) this.desk.registrar.onResponse(connectionId, header, body);
      return;
    }
    const request: Request = { header, body, ingress, connectionId, link };
    const changesBefore = this.desk.changeCount;
    const reply = this.#handle(request);
    if (reply !== LATER) this.#queueAnswer(request, reply, this.desk.changeCount !== changesBefore);
  }

  #queueAnswer(request: Request, reply: Reply, changes: boolean): void {
    if (!request.header.isOneway) this.#outgoing.push((failure) => this.#answer(request, reply, changes ? failure : null));
  }

  #handle(request: Request): Reply | typeof LATER {
    const { code } = request.header;
    const handler = handlers.get(code);
    if (handler === undefined) return refuse(ResponseCodes.REQUEST_CODE_NOT_SUPPORTED, ` request type ${code} not supported`);
    try {
      return handler(this.desk, request);
    } catch (error) {
      if (error instanceof AssertionError) throw error;
      this.#fault('request failed', { code, error: errorText(error) });
      return badRequest(errorText(error));
    }
  }

  #answer(request: Request, reply: Reply, failure: string | null): void {
    const { counters } = this.#context;
    const final = failure === null ? reply : badRequest(failure);
    if (final.code !== ResponseCodes.SUCCESS) counters.add(CounterIds.refusedRequests, 1);
    const timed = timedAnswer(request, final);
    if (timed !== null) {
      this.desk.outboxOf(request.ingress).sendJson(Messages.timedAnswer, timed);
      return;
    }
    const frame = encodeResponse(request.header, final.code, final.remark, final.ext, final.body);
    const send = (): void => this.desk.outboxOf(request.ingress).sendFrame(Messages.answer, request.connectionId, frame);
    if (final.afterRegistration) this.desk.registrar.hold(send);
    else send();
  }

  #onEnsure(ingress: number, wish: EnsureTopic): void {
    const { topics, groups, registrar } = this.desk;
    const changesBefore = this.desk.changeCount;
    const reply = topics.ensure(wish, (group) => groups.ensure(group));
    const made = this.desk.changeCount !== changesBefore;
    this.#outgoing.push((failure) => {
      const ensured: TopicEnsured =
        failure === null
          ? { token: wish.token, code: reply.code, remark: reply.remark ?? '' }
          : { token: wish.token, code: ResponseCodes.SYSTEM_ERROR, remark: failure };
      const send = (): void => this.desk.outboxOf(ingress).sendJson(Messages.topicEnsured, ensured);
      // Whoever sent the first message may ask for the topic's route as soon as that is acknowledged.
      if (made && failure === null) registrar.hold(send);
      else send();
    });
  }

  /** Writes changes and lets the answers out. Where that fails, those that asked for a change are told why, and it is tried again. */
  #save(now: number): void {
    let failure: string | null = null;
    try {
      this.desk.commit();
      this.#saveRetryMs = Number.POSITIVE_INFINITY;
    } catch (error) {
      if (error instanceof AssertionError) throw error;
      failure = errorText(error);
      this.#saveRetryMs = now + SAVE_RETRY_MS;
      this.#fault('configuration could not be written; it is tried again', { error: failure });
    }
    this.#noteOffsets(now);
    for (const send of this.#outgoing.splice(0)) send(failure);
  }

  /** Where it fails the offsets wait for the next writing of their table, and a kill before it costs repeats, no messages. */
  #noteOffsets(now: number): void {
    if (now < this.#noteRetryMs) return;
    try {
      this.desk.noteOffsets();
    } catch (error) {
      if (error instanceof AssertionError) throw error;
      this.#noteRetryMs = now + SAVE_RETRY_MS;
      this.#fault('committed offsets could not be noted; they are written with their table', { error: errorText(error) });
    }
  }

  #saveOffsets(now: number): number {
    const { flushConsumerOffsetInterval } = this.#context.settings;
    if (!this.desk.offsetsDirty) this.#offsetsDueMs = Number.POSITIVE_INFINITY;
    else if (this.#offsetsDueMs === Number.POSITIVE_INFINITY) this.#offsetsDueMs = now + flushConsumerOffsetInterval;
    if (now < this.#offsetsDueMs) return 0;
    try {
      this.desk.saveOffsets();
      this.#offsetsDueMs = Number.POSITIVE_INFINITY;
    } catch (error) {
      if (error instanceof AssertionError) throw error;
      this.#offsetsDueMs = now + SAVE_RETRY_MS;
      this.#fault('offsets could not be written; it is tried again', { error: errorText(error) });
    }
    return 1;
  }

  #isCongested(): boolean {
    return this.#dispatchers.some((outbox) => outbox.hasWaiting) || this.#others.some((outbox) => outbox.hasWaiting);
  }

  /** Dispatch first: nobody may use a queue that its dispatcher does not know. */
  #flush(): number {
    let work = 0;
    for (const outbox of this.#dispatchers) if (outbox.flush()) work++;
    if (this.#dispatchers.some((outbox) => outbox.hasWaiting)) return work;
    for (const outbox of this.#others) if (outbox.flush()) work++;
    return work;
  }

  #fault(message: string, fields: Record<string, unknown>): void {
    const suppressed = this.#faultLimit.admit(this.#context.clock.steadyMs());
    if (suppressed >= 0) this.#context.log.warn(message, { ...fields, suppressed });
  }
}
