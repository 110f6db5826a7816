// Turns the log into consume queues, answers pulls from them, and holds those that have to wait for a message.
import { assert } from '../../base/assert.ts';
import { ErrorCodes, errorText, RingmqError } from '../../base/errors.ts';
import { RateLimit } from '../../base/rate-limit.ts';
import { DelayHistory } from '../../core/delay-levels.ts';
import { HeldPulls } from '../../core/held-pulls.ts';
import type { Actor } from '../../runtime/actor.ts';
import { CounterIds } from '../../runtime/counters.ts';
import type { FeedHandler } from '../../runtime/feed.ts';
import type { RingHandler } from '../../runtime/ring.ts';
import type { ConsumeQueue } from '../../store/consume-queue.ts';
import { ConsumeQueues } from '../../store/consume-queues.ts';
import type { OnFirst } from '../../store/queue-files.ts';
import { storeFolders } from '../../store/store-folders.ts';
import type { ActorContext, Inbox } from '../context.ts';
import { Positions, writtenSlot } from '../context.ts';
import { LogFollower } from '../log-follower.ts';
import { Messages, RecordFlags } from '../messages.ts';
import type { Outbox } from '../outbox.ts';
import { PartAssembler } from '../part-assembler.ts';
import { MinOffsets } from './min-offsets.ts';
import { PullDesk } from './pull-desk.ts';
import { QueueBook } from './queue-book.ts';
import { UnreadDesk } from './unread-desk.ts';
import { WrittenTrail } from './written-trail.ts';

const FOLLOW_COUNT_MAX = 8 * 1024;
const ASK_COUNT_MAX = 512;
/**
 * So many queues are written in one go, and so often in an interval: more queues than this wait longer (10,000 for 10 s), or opening and
 * writing thousands of files each second would cost more than the messages. Whatever a crash finds unwritten is made again from the log.
 */
const FLUSH_COUNT_MAX = 100;
const FLUSH_PARTS = 10;
/**
 * Making the first file of a queue takes 0.2-0.4 ms: no more than a tenth of this thread's time goes into it here. A queue whose newest 64
 * units are all unwritten is written at its next message all the same.
 */
const FLUSH_SHARE = 10;
const FLUSH_COUNT_STEP = 10;
/** Queues that cannot be written are tried again this often; meanwhile what they have is served. */
const STUCK_RETRY_MS = 1_000;
const STUCK_LINE_MS = 60_000;

export class Dispatch implements Actor, FeedHandler {
  readonly name: string;
  readonly #context: ActorContext;
  readonly #queues: ConsumeQueues;
  readonly #book: QueueBook;
  readonly #held: HeldPulls;
  readonly #desk: PullDesk;
  readonly #follower: LogFollower;
  readonly #trail: WrittenTrail;
  readonly #trailSlot: number;
  readonly #control: { inbox: Inbox; handler: RingHandler }[] = [];
  readonly #asks: { inbox: Inbox; handler: RingHandler }[] = [];
  readonly #minOffsets: MinOffsets;
  readonly #unread: UnreadDesk[] = [];
  readonly #delays: DelayHistory;
  readonly #stuckLines = new RateLimit(STUCK_LINE_MS);
  /** Following the log failed for want of room for queue files: not before this time again. */
  #stuckUntilMs = Number.NEGATIVE_INFINITY;
  /** Keys of queues with held pulls that became ready in this cycle. */
  readonly #ready = new Set<number>();
  /** Queues that recovery has cut are incomplete until the log was followed to this position: asks wait in their rings. */
  #servesFrom = 0;
  #flushAtMs: number;
  /** Records before this position were counted by a predecessor, or by an earlier process. */
  #countsFrom: number;
  /** Of the newest record that was followed; 0 before the first. */
  #recordPosition = 0;
  #recordTimeMs = 0;
  #deadlineMs = Number.POSITIVE_INFINITY;

  constructor(context: ActorContext) {
    this.name = context.name;
    this.#context = context;
    const { settings, files } = context;
    const folder = storeFolders(settings.storePathRootDir).consumeQueue;
    const { mappedFileSizeConsumeQueue, queueFileCountMax } = settings;
    const { abnormal } = context.boot;
    const onFirst = announcer(context.outbox('cleaner'));
    this.#queues = new ConsumeQueues(files, folder, mappedFileSizeConsumeQueue, queueFileCountMax, false, abnormal, onFirst);
    this.#book = new QueueBook(context, this.#queues);
    this.#delays = new DelayHistory(context.boot.delayLists);
    this.#held = new HeldPulls(settings.heldPullCountMax, context.namesOf('ingress').length);
    this.#follower = new LogFollower(context, this, this.#book.keyOf);
    this.#trail = new WrittenTrail(this.#follower.position);
    this.#trailSlot = writtenSlot(context.namesOf('dispatch').length, context.index);
    this.#desk = new PullDesk(context, this.#queues, this.#held, () => this.#catchUp());
    const counted = context.incarnation === 0 ? Positions.appended : Positions.dispatched + context.index;
    this.#countsFrom = context.positions.get(counted);
    this.#flushAtMs = context.clock.steadyMs() + settings.flushIntervalConsumeQueue;
    this.#minOffsets = new MinOffsets(context, this.#queues);
    for (const inbox of context.inboxes) {
      if (inbox.from === 'cleaner') this.#unread.push(new UnreadDesk(context, this.#queues, inbox));
      else if (inbox.from === 'coordinator') this.#control.push({ inbox, handler: this.#controlHandler(inbox) });
      else this.#asks.push({ inbox, handler: this.#desk.handlerFor(inbox) });
    }
  }

  start(): void {
    const { positions, boot } = this.#context;
    this.#queues.correctMin(positions.get(Positions.logMin));
    this.#book.open(boot.queues);
    this.#servesFrom = positions.get(Positions.appended);
    positions.set(Positions.dispatched + this.#context.index, this.#follower.position);
    positions.set(this.#trailSlot, this.#trail.end);
  }

  doWork(): number {
    let work = 0;
    for (const { inbox, handler } of this.#control) work += inbox.ring.drain(handler, ASK_COUNT_MAX);
    work += this.#follow();
    for (const desk of this.#unread) work += desk.work();
    if (this.#follower.position >= this.#servesFrom) {
      for (const { inbox, handler } of this.#asks) work += inbox.ring.drain(handler, ASK_COUNT_MAX);
    }
    const nowMs = this.#context.clock.steadyMs();
    work += this.#desk.answerDue(nowMs) + this.#minOffsets.follow(nowMs);
    if (nowMs >= this.#flushAtMs) this.#flush(nowMs);
    this.#desk.flush();
    this.#context.outbox('cleaner').flush();
    this.#context.counters.set(CounterIds.heldPulls, this.#held.clientCount);
    this.#deadlineMs = Math.min(this.#held.nextDueMs(), this.#minOffsets.deadlineMs());
    const isWritten = this.#queues.dirtyCount === 0 && this.#trail.end >= this.#follower.position;
    if (!isWritten) this.#deadlineMs = Math.min(this.#deadlineMs, this.#flushAtMs);
    if (!this.#follower.caughtUp && nowMs < this.#stuckUntilMs) this.#deadlineMs = Math.min(this.#deadlineMs, this.#stuckUntilMs);
    return work;
  }

  deadlineMs(): number {
    return this.#deadlineMs;
  }

  /** Leaves queue files that agree with the log to its last byte: then the store may be marked as cleanly closed. */
  stop(): void {
    this.#desk.answerAll();
    while (!this.#follower.caughtUp && !this.#isStuck) this.#follow();
    this.#follower.close();
    this.#queues.flushAll();
    this.#queues.syncAll();
    this.#queues.close();
  }

  onEntry(key: number, queueOffset: number, position: number, size: number, tagsCode: number, storeTimeMs: number, flags: number): void {
    this.#recordPosition = position;
    this.#recordTimeMs = storeTimeMs;
    if ((flags & RecordFlags.noQueueOffset) !== 0 || !this.#book.owns(key)) return;
    const queue = this.#queues.get(key);
    if (queue === undefined) {
      // The coordinator published the queue before any ingress could use its key, so the news is in the mail.
      for (const { inbox, handler } of this.#control) inbox.ring.drain(handler, ASK_COUNT_MAX);
    }
    const known = this.#queues.get(key);
    if (known === undefined) return; // removed meanwhile
    // As stock brokers keep them, who look for nothing else in these queues.
    const code = known.isSchedule ? storeTimeMs + this.#delays.delayMsOf(known.queueId + 1, queueOffset) : tagsCode;
    if (known.append(queueOffset, position, size, code) === 'gap') this.#bridgeGap(known, queueOffset, position, size, code);
    if (position >= this.#countsFrom) (this.#context.queueBytes[key] as number) += size;
    if (this.#held.arrived(key, tagsCode)) this.#ready.add(key);
  }

  /** The log lacks messages that this queue once had: their places are filled, so that no later message moves to another offset. */
  #bridgeGap(queue: ConsumeQueue, queueOffset: number, position: number, size: number, tagsCode: number): void {
    const { topic, queueId, offsetMax } = queue;
    this.#context.log.error('messages are missing in the log; their offsets stay empty', {
      topic,
      queueId,
      from: offsetMax,
      to: queueOffset - 1,
    });
    queue.skipTo(queueOffset);
    assert(queue.append(queueOffset, position, size, tagsCode) !== 'gap', 'the gap is filled');
  }

  #catchUp(): boolean {
    for (const { inbox, handler } of this.#control) inbox.ring.drain(handler, ASK_COUNT_MAX);
    this.#follow();
    return this.#follower.caughtUp || this.#isStuck;
  }

  get #isStuck(): boolean {
    return this.#context.clock.steadyMs() < this.#stuckUntilMs;
  }

  /** The log keeps what queue files have no room for: it is followed again from there, and nothing is passed over. */
  #poll(): number {
    if (this.#stuckUntilMs > 0 && this.#isStuck) return 0;
    try {
      return this.#follower.poll(FOLLOW_COUNT_MAX);
    } catch (error) {
      if (!(error instanceof RingmqError) || error.code !== ErrorCodes.io) throw error;
      const nowMs = this.#context.clock.steadyMs();
      this.#stuckUntilMs = nowMs + STUCK_RETRY_MS;
      const suppressed = this.#stuckLines.admit(nowMs);
      if (suppressed >= 0)
        this.#context.log.error('consume queues cannot be written: new messages are not delivered until they can', {
          error: errorText(error),
          suppressed,
        });
      return 0;
    }
  }

  #follow(): number {
    const count = this.#poll();
    if (count > 0) this.#context.positions.set(Positions.dispatched + this.#context.index, this.#follower.position);
    if (this.#ready.size > 0) {
      for (const key of this.#ready) this.#desk.answerReady(key);
      this.#ready.clear();
    }
    return count;
  }

  #flush(nowMs: number): void {
    const { flushIntervalConsumeQueue } = this.#context.settings;
    this.#flushAtMs = nowMs + flushIntervalConsumeQueue;
    try {
      if (this.#flushPart(nowMs) > 0) this.#flushAtMs = nowMs + flushIntervalConsumeQueue / FLUSH_PARTS;
    } catch (error) {
      // The log has everything; the units stay in memory and are written by a later flush.
      this.#context.log.error('writing consume queues failed, trying again', { error: errorText(error) });
    }
    this.#publishWritten();
  }

  /** Returns how many queues are left. */
  #flushPart(nowMs: number): number {
    const { clock, settings } = this.#context;
    const untilMs = nowMs + settings.flushIntervalConsumeQueue / FLUSH_PARTS / FLUSH_SHARE;
    let left = 0;
    for (let count = 0; count < FLUSH_COUNT_MAX; count += FLUSH_COUNT_STEP) {
      left = this.#queues.flushSome(FLUSH_COUNT_STEP);
      if (left === 0 || clock.steadyMs() >= untilMs) break;
    }
    return left;
  }

  /** The flusher makes it stable, and a start after a kill reads on from there. */
  #publishWritten(): void {
    const { positions } = this.#context;
    const trail = this.#trail;
    trail.note(this.#follower.position, this.#recordPosition, this.#recordTimeMs);
    trail.advance(this.#queues.unwrittenFrom());
    if (trail.end === positions.get(this.#trailSlot)) return;
    positions.set(this.#trailSlot, trail.end);
    positions.set(this.#trailSlot + 1, trail.position);
    positions.set(this.#trailSlot + 2, trail.timeMs);
  }

  #controlHandler(inbox: Inbox): RingHandler {
    const parts = new PartAssembler(inbox.ring);
    return {
      onRecord: (type, at) => {
        if (type === Messages.queuesAdded) this.#book.onAdded(parts.takeJson(at));
        else if (type === Messages.queuesRemoved) this.#book.onRemoved(parts.takeJson(at), (key) => this.#desk.dropQueue(key));
        else assert(false, `no such message type=${type}`);
        return true;
      },
    };
  }
}

/** Tells the cleaner of queues that begin: making their files, of thousands in a few seconds, would take this thread half its time. */
function announcer(cleaner: Outbox): OnFirst {
  return (topic, queueId) => {
    const name = Buffer.from(topic);
    if (!cleaner.hasWaiting) cleaner.send(Messages.queueBegun, [queueId, name.length], name);
  };
}
