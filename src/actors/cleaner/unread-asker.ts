// Asks all dispatchers whether some group has not read a part of the log, and collects their answers.
import { high32, low32 } from '../../base/bytes.ts';
import type { RingHandler, RingReader } from '../../runtime/ring.ts';
import type { ActorContext } from '../context.ts';
import { Messages } from '../messages.ts';

/** Mail taken in one cycle: a queue that begins costs some system calls. */
const MAIL_COUNT_MAX = 8;

export class UnreadAsker {
  readonly #context: ActorContext;
  readonly #dispatchers: readonly string[];
  readonly #mail: readonly { ring: RingReader; handler: RingHandler }[];
  #token: number;
  /** Answers that are still to come. */
  #openCount = 0;
  #unread = false;
  #justAnswered = false;

  /** @param onOther gets mail that is no answer. */
  constructor(context: ActorContext, onOther: (ring: RingReader, word: number) => true) {
    this.#context = context;
    this.#dispatchers = context.namesOf('dispatch');
    this.#mail = context.inboxes.map(({ ring }) => ({
      ring,
      handler: { onRecord: (type, at) => (type === Messages.unreadAnswered ? this.#take(ring, at >> 2) : onOther(ring, at >> 2)) },
    }));
    // Answers to a former incarnation are not taken.
    this.#token = context.incarnation << 20;
  }

  get isWaiting(): boolean {
    return this.#openCount > 0;
  }

  /** Of the last question that was answered by all. */
  get isUnread(): boolean {
    return this.#unread;
  }

  ask(position: number): void {
    this.#token++;
    this.#unread = false;
    this.#openCount = this.#dispatchers.length;
    for (const name of this.#dispatchers) {
      const outbox = this.#context.outbox(name);
      outbox.send(Messages.askUnread, [this.#token, high32(position), low32(position)]);
      outbox.flush();
    }
  }

  /** Answers that still come are passed over. */
  giveUp(): void {
    this.#token++;
    this.#openCount = 0;
  }

  /** Takes mail; returns how much. */
  drain(): number {
    const before = this.#openCount;
    let count = 0;
    for (const { ring, handler } of this.#mail) count += ring.drain(handler, MAIL_COUNT_MAX);
    this.#justAnswered = before > 0 && this.#openCount === 0;
    return count;
  }

  /** The last answer came with the last `drain`. */
  get justAnswered(): boolean {
    return this.#justAnswered;
  }

  #take({ words }: RingReader, word: number): true {
    if (words[word] !== this.#token || this.#openCount === 0) return true;
    this.#openCount--;
    if (words[word + 1] !== 0) this.#unread = true;
    return true;
  }
}
