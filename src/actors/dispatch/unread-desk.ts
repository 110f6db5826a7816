// Answers the cleaner: is there a message before a position of the log that some group has not read?
import { join64 } from '../../base/bytes.ts';
import type { RingHandler } from '../../runtime/ring.ts';
import type { ConsumeQueue } from '../../store/consume-queue.ts';
import type { ConsumeQueues } from '../../store/consume-queues.ts';
import type { ActorContext, Inbox } from '../context.ts';
import { Messages } from '../messages.ts';

/** Queues looked at in one cycle: each may cost a read. */
const QUEUE_COUNT_MAX = 64;

export class UnreadDesk {
  readonly #context: ActorContext;
  readonly #queues: ConsumeQueues;
  readonly #inbox: Inbox;
  readonly #handler: RingHandler;
  #token = 0;
  #position = 0;
  #walk: Iterator<[number, ConsumeQueue]> | null = null;
  /** Where the last answer was yes it is likely to be yes again. */
  #lastKey = -1;

  constructor(context: ActorContext, queues: ConsumeQueues, inbox: Inbox) {
    this.#context = context;
    this.#queues = queues;
    this.#inbox = inbox;
    this.#handler = { onRecord: (_type, at) => this.#onAsk(at >> 2) };
  }

  /** A newer question takes the place of one that is still open. Returns how much it did. */
  work(): number {
    const asked = this.#inbox.ring.drain(this.#handler, 1);
    return asked + (this.#walk === null ? 0 : this.#look(this.#walk));
  }

  #onAsk(word: number): true {
    const { words } = this.#inbox.ring;
    this.#token = words[word] as number;
    this.#position = join64(words[word + 1] as number, words[word + 2] as number);
    this.#walk = this.#queues.all();
    const last = this.#queues.get(this.#lastKey);
    if (last !== undefined && this.#isUnread(this.#lastKey, last)) this.#answer(1);
    return true;
  }

  #look(walk: Iterator<[number, ConsumeQueue]>): number {
    for (let count = 0; count < QUEUE_COUNT_MAX; count++) {
      const next = walk.next();
      if (next.done) return this.#answer(0);
      const [key, queue] = next.value;
      if (this.#isUnread(key, queue)) {
        this.#lastKey = key;
        return this.#answer(1);
      }
    }
    return QUEUE_COUNT_MAX;
  }

  #isUnread(key: number, queue: ConsumeQueue): boolean {
    const read = this.#context.queueReads.get(key) - 1;
    if (read < 0) return false;
    const offset = Math.max(read, queue.offsetMin);
    return offset < queue.offsetMax && queue.isBelow(offset, this.#position);
  }

  #answer(unread: number): number {
    this.#walk = null;
    const outbox = this.#context.outbox('cleaner');
    outbox.send(Messages.unreadAnswered, [this.#token, unread]);
    outbox.flush();
    return 1;
  }
}
