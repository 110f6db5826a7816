// Answers what ingress asks of the queues: pulls (at once, later when a message arrives, or when their time is over) and look-ups.
import { assert } from '../../base/assert.ts';
import { high32, join64, low32 } from '../../base/bytes.ts';
import type { HeldPull, HeldPulls } from '../../core/held-pulls.ts';
import type { RingHandler } from '../../runtime/ring.ts';
import type { ConsumeQueues } from '../../store/consume-queues.ts';
import type { ActorContext, Inbox } from '../context.ts';
import { Messages, type PullStatus, PullStatuses } from '../messages.ts';
import type { Outbox } from '../outbox.ts';
import { LookUpDesk } from './look-up-desk.ts';
import { PullScan } from './pull-scan.ts';

const ANSWER_HEAD_WORDS = 9;
const SPAN_WORDS = 3;

export class PullDesk {
  readonly #context: ActorContext;
  readonly #queues: ConsumeQueues;
  readonly #held: HeldPulls;
  readonly #catchUp: () => boolean;
  readonly #scan: PullScan;
  readonly #lookUps: LookUpDesk;
  /** By index of the asker: the ingresses, then the scheduler. */
  readonly #outboxes: Outbox[] = [];
  readonly #askers: readonly string[];

  /** @param catchUp follows the log and the news of queues some way; true when nothing of them is left. */
  constructor(context: ActorContext, queues: ConsumeQueues, held: HeldPulls, catchUp: () => boolean) {
    this.#context = context;
    this.#queues = queues;
    this.#held = held;
    this.#catchUp = catchUp;
    this.#scan = new PullScan(context.settings, context.positions);
    this.#lookUps = new LookUpDesk(context, queues);
    this.#askers = [...context.namesOf('ingress'), ...context.namesOf('scheduler')];
    for (const name of this.#askers) this.#outboxes.push(context.outbox(name));
  }

  handlerFor(inbox: Inbox): RingHandler {
    const ingress = this.#askers.indexOf(inbox.from);
    const { ring } = inbox;
    const outbox = this.#outboxes[ingress] as Outbox;
    return {
      onRecord: (type, at) => {
        const words = ring.words;
        const word = at >> 2;
        if (type === Messages.pull) return this.#onPull(ingress, words, word);
        if (type === Messages.lookUp) {
          return this.#isCaughtUp(words[word + 1] as number) && this.#lookUps.answer(outbox, words, word);
        }
        assert(type === Messages.cancelPulls, `no such message type=${type}`);
        this.#held.cancelConnection(ingress, words[word] as number);
        return true;
      },
    };
  }

  /** False leaves the pull in the ring: its queue is still behind, or its answer would not fit into the answer ring now. */
  #onPull(ingress: number, words: Int32Array, word: number): boolean {
    const queueKey = words[word + 2] as number;
    if (!this.#isCaughtUp(queueKey)) return false;
    const tagCount = words[word + 7] as number;
    const suspendMs = words[word + 6] as number;
    const pull: HeldPull = {
      token: words[word] as number,
      ingress,
      connectionId: words[word + 1] as number,
      queueKey,
      offset: join64(words[word + 3] as number, words[word + 4] as number),
      maxCount: words[word + 5] as number,
      codes: tagCount < 0 ? null : Array.from(words.subarray(word + 8, word + 8 + tagCount)),
      dueMs: this.#context.clock.steadyMs() + suspendMs,
      ready: false,
      heapAt: -1,
    };
    return this.#answer(pull, suspendMs > 0);
  }

  /** A message that was acknowledged is seen by every pull and look-up that comes after: those that come too early wait. */
  #isCaughtUp(queueKey: number): boolean {
    return this.#seesEnd(queueKey) || this.#catchUp() || this.#seesEnd(queueKey);
  }

  #seesEnd(queueKey: number): boolean {
    const queue = this.#queues.get(queueKey);
    return queue !== undefined && queue.offsetMax >= this.#context.queueEnds.get(queueKey);
  }

  #answer(pull: HeldPull, mayHold: boolean): boolean {
    const queue = this.#queues.get(pull.queueKey);
    const scan = this.#scan;
    let status = queue === undefined ? scan.unknown() : scan.run(queue, pull.offset, pull.maxCount, pull.codes);
    // Queues that cannot be written just now are behind the log: the end that the client knows is right.
    if (status === PullStatuses.beyondEnd && pull.offset <= this.#context.queueEnds.get(pull.queueKey)) {
      scan.nextOffset = pull.offset;
      status = PullStatuses.atEnd;
    }
    if (mayHold && (status === PullStatuses.atEnd || (status === PullStatuses.empty && pull.offset === 0)) && this.#held.tryAdd(pull))
      return true;
    return this.#send(pull, status);
  }

  #send(pull: HeldPull, status: PullStatus): boolean {
    const scan = this.#scan;
    const { ring } = this.#outboxes[pull.ingress] as Outbox;
    const at = ring.claim((ANSWER_HEAD_WORDS + scan.spanCount * SPAN_WORDS) * 4);
    if (at < 0) return false;
    const words = ring.words;
    let word = at >> 2;
    words[word++] = pull.token;
    words[word++] = status;
    words[word++] = high32(scan.nextOffset);
    words[word++] = low32(scan.nextOffset);
    words[word++] = high32(scan.minOffset);
    words[word++] = low32(scan.minOffset);
    words[word++] = high32(scan.maxOffset);
    words[word++] = low32(scan.maxOffset);
    words[word++] = scan.spanCount;
    for (let i = 0; i < scan.spanCount; i++) {
      words[word++] = high32(scan.positions[i] as number);
      words[word++] = low32(scan.positions[i] as number);
      words[word++] = scan.sizes[i] as number;
    }
    ring.commit(Messages.pulled);
    return true;
  }

  /** Answers the held pulls of a queue that a new message made ready. */
  answerReady(queueKey: number): void {
    for (const pull of this.#held.takeReady(queueKey)) this.#answerOrKeep(pull);
  }

  /** Answers the held pulls whose time is over; returns how many. */
  answerDue(nowMs: number): number {
    let count = 0;
    for (let pull = this.#held.takeDue(nowMs); pull !== undefined; pull = this.#held.takeDue(nowMs)) {
      count++;
      if (!this.#answerOrKeep(pull)) break;
    }
    return count;
  }

  answerAll(): void {
    for (const pull of this.#held.takeAll()) this.#answer(pull, false);
    this.flush();
  }

  dropQueue(queueKey: number): void {
    for (const pull of this.#held.takeQueue(queueKey)) {
      this.#scan.unknown();
      this.#send(pull, PullStatuses.unknownQueue);
    }
  }

  flush(): void {
    for (const outbox of this.#outboxes) outbox.flush();
  }

  /** Where the answer ring is full the pull is held again and due at once: the ring is drained without conditions. */
  #answerOrKeep(pull: HeldPull): boolean {
    if (this.#answer(pull, false)) return true;
    this.#held.tryAdd({ ...pull, dueMs: 0, ready: true });
    return false;
  }
}
