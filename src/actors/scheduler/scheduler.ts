// Delivers delayed messages: follows the queues of the delay levels, and hands what comes due to the log again under its real topic.
import { join64 } from '../../base/bytes.ts';
import { DelayHistory } from '../../core/delay-levels.ts';
import { DueClock } from '../../core/due-clock.ts';
import { unpackDiskState } from '../../core/retention.ts';
import { SystemTopics } from '../../message/names.ts';
import type { Actor } from '../../runtime/actor.ts';
import type { RingHandler, RingReader } from '../../runtime/ring.ts';
import type { ActorContext, Inbox } from '../context.ts';
import { Positions } from '../context.ts';
import { AppendStatuses, Messages } from '../messages.ts';
import { PartAssembler } from '../part-assembler.ts';
import type { DelayLine } from './delay-line.ts';
import { DelayPositions } from './delay-positions.ts';
import { Deliveries } from './deliveries.ts';
import { PullAsker } from './pull-asker.ts';
import { Redelivery } from './redelivery.ts';

const MAIL_COUNT_MAX = 4096;
/** While anything waits the clocks are looked at this often: a wall clock that is set forward makes messages due. */
const LOOK_MS = 1_000;

interface MailLine {
  readonly ring: RingReader;
  readonly handler: RingHandler;
}

export class Scheduler implements Actor {
  readonly name: string;
  readonly #context: ActorContext;
  readonly #history: DelayHistory;
  readonly #clock = new DueClock();
  readonly #redelivery: Redelivery;
  readonly #deliveries: Deliveries;
  readonly #asker: PullAsker;
  readonly #positions: DelayPositions;
  readonly #mail: readonly MailLine[];
  /** Of a predecessor's directory nothing is known, and what is still in the ring was meant for it. */
  #directory: 'known' | 'coming' | 'awaited';
  #lines: readonly DelayLine[] = [];
  #logMin = 0;
  #deadlineMs = Number.POSITIVE_INFINITY;

  constructor(context: ActorContext) {
    this.name = context.name;
    this.#context = context;
    this.#history = new DelayHistory(context.boot.delayLists);
    this.#redelivery = new Redelivery(context);
    this.#deliveries = new Deliveries(context, this.#clock, this.#redelivery);
    this.#asker = new PullAsker(context, this.#redelivery);
    this.#positions = new DelayPositions(context, this.#redelivery);
    this.#directory = context.incarnation === 0 ? 'coming' : 'awaited';
    this.#mail = context.inboxes.map((inbox) => ({ ring: inbox.ring, handler: this.#handlerOf(inbox) }));
  }

  start(): void {
    const { incarnation } = this.#context;
    if (incarnation === 0) return;
    const coordinator = this.#context.outbox('coordinator');
    coordinator.send(Messages.schedulerStarted, [incarnation]);
    coordinator.flush();
    this.#asker.cancelAll();
  }

  doWork(): number {
    const { clock, positions } = this.#context;
    let work = this.#drain();
    if (this.#directory !== 'known') return work;
    const nowMs = clock.steadyMs();
    this.#clock.look(clock.wallMs(), nowMs, positions.get(Positions.appended));
    const isStopping = positions.get(Positions.stopping) === 1;
    const mayDeliver = !isStopping && this.#mayStore();
    if (mayDeliver) for (const line of this.#lines) work += this.#deliveries.deliver(line, nowMs);
    if (!isStopping) for (const line of this.#lines) this.#asker.ask(line, nowMs);
    this.#deliveries.flush();
    this.#asker.flush();
    work += this.#positions.look(nowMs);
    this.#letGo();
    this.#deadlineMs = this.#nextMs(nowMs, mayDeliver);
    return work;
  }

  deadlineMs(): number {
    return this.#deadlineMs;
  }

  /**
   * The last but the coordinator: nothing was sent since the broker is stopping, all that was sent before has come back, and the log behind
   * it is synced, so that the positions say all that was delivered.
   */
  stop(): void {
    while (this.#drain() > 0);
    this.#positions.saveChanges(this.#context.clock.steadyMs());
    this.#positions.close();
    this.#redelivery.close();
  }

  /** A successor writes the same files. */
  abandon(): void {
    this.#positions.close();
  }

  #drain(): number {
    let work = 0;
    for (const { ring, handler } of this.#mail) work += ring.drain(handler, MAIL_COUNT_MAX);
    return work;
  }

  /** A log that refuses sends takes no delayed messages either: they wait, and keep their order. */
  #mayStore(): boolean {
    const { positions } = this.#context;
    return positions.get(Positions.readOnly) === 0 && unpackDiskState(positions.get(Positions.diskState)).refuses === 0;
  }

  #nextMs(nowMs: number, mayDeliver: boolean): number {
    let next = this.#positions.writeAtMs;
    let waits = false;
    for (const line of this.#lines) {
      next = Math.min(next, line.askAtMs);
      if (!line.hasWaiting) continue;
      waits = true;
      if (mayDeliver) next = Math.min(next, this.#deliveries.dueAtMs(line, nowMs));
    }
    return waits ? Math.min(next, nowMs + LOOK_MS) : next;
  }

  /** Files that retention has taken are not held open. */
  #letGo(): void {
    const logMin = this.#context.positions.get(Positions.logMin);
    if (logMin === this.#logMin) return;
    this.#logMin = logMin;
    this.#redelivery.records.refresh();
  }

  #handlerOf({ from, ring }: Inbox): RingHandler {
    if (from === 'coordinator') return this.#directoryHandler(ring);
    if (from === 'commit-log') {
      return {
        onRecord: (_type, at) => {
          const { words } = ring;
          const word = at >> 2;
          const stored = words[word + 1] === AppendStatuses.stored;
          const position = stored ? join64(words[word + 4] as number, words[word + 5] as number) : -1;
          this.#deliveries.onAck(words[word] as number, position, this.#context.clock.steadyMs());
          return true;
        },
      };
    }
    return {
      onRecord: (_type, at) => {
        this.#asker.onPulled(ring.words, at >> 2, this.#context.clock.steadyMs());
        return true;
      },
    };
  }

  #directoryHandler(ring: RingReader): RingHandler {
    const parts = new PartAssembler(ring);
    return {
      onRecord: (type, at) => {
        if (this.#directory === 'awaited' && type !== Messages.directoryBegins) return true;
        if (type === Messages.topicChanged) this.#redelivery.onTopic(parts.takeJson(at));
        else if (type === Messages.directoryBegins) this.#directory = 'coming';
        else if (type === Messages.directoryEnds && this.#directory === 'coming') this.#open();
        return true;
      },
    };
  }

  #open(): void {
    this.#directory = 'known';
    this.#lines = this.#positions.open(this.#history, (level) => this.#redelivery.queueKey(SystemTopics.schedule, level - 1));
  }
}
