// Owns sockets: cuts their bytes into frames, sends each frame down its path, and writes what comes back.
import type { Actor } from '../../runtime/actor.ts';
import { CounterIds } from '../../runtime/counters.ts';
import type { RingHandler, RingReader } from '../../runtime/ring.ts';
import type { LookUpsAsked } from '../answer-messages.ts';
import type { ActorContext, Inbox } from '../context.ts';
import { Messages } from '../messages.ts';
import { Connections } from './connections.ts';
import { Desk } from './desk.ts';
import { FrameRouter } from './frame-router.ts';
import { Gatherings } from './gathering.ts';
import { Listeners } from './listeners.ts';
import { LookUpPath } from './look-up-path.ts';
import { PullPath } from './pull-path.ts';
import { QueryPath } from './query-path.ts';
import { QueueUnitsPath } from './queue-units-path.ts';
import { Relay } from './relay.ts';
import { ReplyPath } from './reply-path.ts';
import { SendAnswers } from './send-answers.ts';
import { SendBackPath } from './send-back-path.ts';
import { SendGate } from './send-gate.ts';
import { SendPath } from './send-path.ts';
import { StoreHost } from './store-host.ts';
import { TimedAnswers } from './timed-answers.ts';

const MAIL_COUNT_MAX = 1024;
/** How long stop waits for answers that are still to come. */
const DRAIN_MS_MAX = 3_000;

interface MailLine {
  readonly ring: RingReader;
  readonly handler: RingHandler;
}

export class Ingress implements Actor {
  readonly name: string;
  readonly #context: ActorContext;
  readonly #desk: Desk;
  readonly #answers: SendAnswers;
  readonly #gate: SendGate;
  readonly #sends: SendPath;
  readonly #pulls: PullPath;
  readonly #lookUps: LookUpPath;
  readonly #gatherings: Gatherings;
  readonly #queries: QueryPath;
  readonly #relay: Relay;
  readonly #replies: ReplyPath;
  readonly #connections: Connections;
  readonly #listeners: Listeners;
  readonly #mail: MailLine[] = [];
  #stopped: (() => void) | null = null;
  #stopAtMs = Number.POSITIVE_INFINITY;

  constructor(context: ActorContext) {
    this.name = context.name;
    this.#context = context;
    const firstToken = context.random.below(2 ** 31);
    const host = new StoreHost();
    this.#desk = new Desk(context);
    this.#answers = new SendAnswers(this.#desk, host, firstToken);
    this.#gate = new SendGate(context, this.#answers.pending);
    this.#sends = new SendPath(this.#desk, this.#answers, this.#gate, host);
    this.#pulls = new PullPath(this.#desk, firstToken, context.settings.heldPullCountMax);
    this.#lookUps = new LookUpPath(this.#desk, firstToken);
    this.#gatherings = new Gatherings(this.#lookUps);
    this.#queries = new QueryPath(this.#desk, firstToken);
    const inboxOf = (name: string): RingReader => (context.inboxes.find((inbox) => inbox.from === name) as Inbox).ring;
    const timed = new TimedAnswers(this.#desk, this.#gatherings);
    this.#relay = new Relay(this.#desk, inboxOf('coordinator'), (peerId) => this.#connections.handlerFor(peerId, false), {
      onGroup: (change) => this.#pulls.onGroup(change),
      onTopic: (change) => this.#pulls.onTopic(change),
      onReadAnew: (client, group, topics) => this.#pulls.askAgain(client, group, topics),
      onLookUps: (asked) => this.#answerLookUps(asked),
      onReplyPushed: (pushed) => this.#replies.onPushed(pushed),
      onTimedAnswer: (answer) => timed.onMessage(answer),
    });
    this.#replies = new ReplyPath(this.#desk, this.#sends, host, firstToken);
    const sendBacks = new SendBackPath(this.#desk, this.#answers, this.#gate, host);
    const units = new QueueUnitsPath(this.#desk, this.#gatherings);
    const paths = [this.#sends, sendBacks, this.#pulls, this.#lookUps, this.#queries, units, this.#relay, this.#replies] as const;
    const router = new FrameRouter(this.#desk, ...paths);
    this.#connections = new Connections(this.#desk, router, (client) => this.#forget(client));
    this.#listeners = new Listeners(context, this.#connections, host);
    for (const inbox of context.inboxes) if (inbox.from !== 'coordinator') this.#mail.push(this.#mailLine(inbox));
  }

  async start(): Promise<void> {
    this.#relay.announce();
    await this.#listeners.open();
  }

  doWork(): number {
    this.#desk.pass++;
    let work = this.#relay.drain();
    for (const { ring, handler } of this.#mail) {
      work += handler === this.#answers ? this.#answers.drain(ring) : ring.drain(handler, MAIL_COUNT_MAX);
    }
    const nowMs = this.#context.clock.steadyMs();
    this.#gatherings.work();
    this.#gate.look(nowMs);
    work += this.#answers.release() + this.#replies.store();
    work += this.#connections.offerAgain();
    this.#sends.publish();
    this.#desk.reads.report(nowMs);
    this.#desk.flushMail();
    this.#desk.flushOutputs();
    this.#connections.sweep(nowMs);
    this.#desk.records.sweep(nowMs);
    this.#context.counters.set(CounterIds.heldAnswers, this.#answers.pending.count);
    this.#checkStopped();
    return work;
  }

  deadlineMs(): number {
    const roomMs = this.#gatherings.deadlineMs(this.#context.clock.steadyMs());
    const answersMs = Math.min(this.#answers.deadlineMs(), this.#gate.deadlineMs(), roomMs, this.#desk.reads.deadlineMs());
    return Math.min(answersMs, this.#connections.nextSweepMs, this.#desk.quietUntilMs, this.#stopAtMs);
  }

  /** No new connections and frames; what is under way is answered; then the sockets close. */
  async stop(): Promise<void> {
    await this.#listeners.close();
    this.#connections.stopReading();
    await new Promise<void>((resolve) => {
      this.#stopped = resolve;
      this.#stopAtMs = this.#context.clock.steadyMs() + DRAIN_MS_MAX;
      this.#checkStopped();
      this.#context.wake();
    });
    this.#connections.closeAll();
    this.#desk.records.close();
  }

  /** Ports and connections go; what their closing still tells the others goes out with the mail of the next incarnation. */
  abandon(): void {
    this.#listeners.close().catch(() => {});
    this.#connections.destroyAll();
  }

  /** Questions of the coordinator, which has no ring to the dispatchers' answers: all values go back together. */
  #answerLookUps({ token, lookUps }: LookUpsAsked): void {
    this.#gatherings.add(null, lookUps, (values) => {
      this.#desk.coordinator.sendJson(Messages.lookUpsAnswered, { token, values });
    });
  }

  #checkStopped(): void {
    if (this.#stopped === null) return;
    // Held pulls are no reason to wait: their clients ask again wherever the broker is next.
    const underWay = this.#answers.pending.count + this.#lookUps.pending.count + this.#queries.pending.count + this.#replies.count;
    if (underWay > 0 && this.#context.clock.steadyMs() < this.#stopAtMs) return;
    this.#stopAtMs = Number.POSITIVE_INFINITY;
    const resolve = this.#stopped;
    this.#stopped = null;
    resolve();
  }

  #forget(client: Parameters<PullPath['forget']>[0]): void {
    this.#pulls.forget(client);
    this.#lookUps.pending.forget(client);
    this.#gatherings.forget(client);
    this.#queries.pending.forget(client);
    this.#replies.forget(client);
  }

  #mailLine(inbox: Inbox): MailLine {
    const { ring, from } = inbox;
    if (from === 'commit-log') return { ring, handler: this.#answers };
    if (from === 'indexer') {
      return {
        ring,
        handler: {
          onRecord: (_type, at) => {
            this.#queries.onAnswer(ring, at);
            return true;
          },
        },
      };
    }
    return {
      ring,
      handler: {
        onRecord: (type, at) => {
          if (type === Messages.pulled) this.#pulls.onPulled(ring.words, at >> 2);
          else this.#lookUps.onAnswer(ring, at);
          return true;
        },
      },
    };
  }
}
