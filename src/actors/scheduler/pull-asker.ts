// Asks the dispatchers for the messages of the levels' queues, with pulls that are held until there are some: one open pull a line.
import { high32, join64, low32 } from '../../base/bytes.ts';
import type { ActorContext } from '../context.ts';
import { Messages, PullStatuses } from '../messages.ts';
import type { Outbox } from '../outbox.ts';
import type { DelayLine } from './delay-line.ts';
import type { Redelivery } from './redelivery.ts';

const PULL_SIZE = 32;
/** Words of a `pulled` before its spans, and of each. */
const SPANS_AT = 9;
const SPAN_WORDS = 3;
const MESSAGE_COUNT = 32;
const HELD_MS = 0x7fff_ffff;
/** All lines ask as one connection. */
const CONNECTION_ID = 0;
/** Answers to the pulls of a predecessor have tokens of another thousand. */
const TOKENS_PER_INCARNATION = 2 ** 20;

export class PullAsker {
  readonly #context: ActorContext;
  readonly #redelivery: Redelivery;
  readonly #dispatchers: readonly Outbox[];
  /** Open pulls by their token. */
  readonly #open = new Map<number, { readonly line: DelayLine; readonly from: number }>();
  readonly #firstToken: number;
  #nextToken = 0;

  constructor(context: ActorContext, redelivery: Redelivery) {
    this.#context = context;
    this.#redelivery = redelivery;
    this.#dispatchers = context.namesOf('dispatch').map((name) => context.outbox(name));
    this.#firstToken = (context.incarnation % 1024) * TOKENS_PER_INCARNATION;
  }

  /** What a predecessor has open is of no use any more. */
  cancelAll(): void {
    for (const outbox of this.#dispatchers) outbox.send(Messages.cancelPulls, [CONNECTION_ID]);
    this.flush();
  }

  /** Where the ring is full it is asked in a later cycle: dispatch drains it. */
  ask(line: DelayLine, nowMs: number): void {
    const from = line.askFrom(nowMs);
    if (from < 0) return;
    const { ring } = this.#dispatchers[line.queueKey % this.#dispatchers.length] as Outbox;
    const at = ring.claim(PULL_SIZE);
    if (at < 0) {
      line.nothing(from, nowMs);
      return;
    }
    const token = this.#firstToken + this.#nextToken;
    this.#nextToken = (this.#nextToken + 1) % TOKENS_PER_INCARNATION;
    const { words } = ring;
    let word = at >> 2;
    words[word++] = token;
    words[word++] = CONNECTION_ID;
    words[word++] = line.queueKey;
    words[word++] = high32(from);
    words[word++] = low32(from);
    words[word++] = MESSAGE_COUNT;
    words[word++] = HELD_MS;
    words[word] = -1;
    ring.commit(Messages.pull);
    line.asked = true;
    this.#open.set(token, { line, from });
  }

  flush(): void {
    for (const outbox of this.#dispatchers) outbox.flush();
  }

  /** Takes one `pulled`. */
  onPulled(words: Int32Array, word: number, nowMs: number): void {
    const token = words[word] as number;
    const pull = this.#open.get(token);
    if (pull === undefined) return; // meant for a predecessor
    this.#open.delete(token);
    const { line, from } = pull;
    const next = join64(words[word + 2] as number, words[word + 3] as number);
    switch (words[word + 1]) {
      case PullStatuses.found:
        this.#onFound(line, from, next, words, word, nowMs);
        break;
      case PullStatuses.beyondEnd:
      case PullStatuses.empty:
        if (next >= from) {
          line.nothing(from, nowMs);
          break;
        }
        this.#context.log.warn('the queue of a delay level ends before its position', {
          level: line.level,
          position: from,
          queueMax: next,
        });
        line.endsAt(next);
        break;
      case PullStatuses.belowStart:
        this.#context.log.warn('delayed messages were deleted before they came due', { level: line.level, from, to: next });
        line.nothing(next, nowMs);
        break;
      case PullStatuses.noMatch:
        line.nothing(next, nowMs);
        break;
      default:
        line.nothing(from, nowMs);
    }
  }

  #onFound(line: DelayLine, from: number, next: number, words: Int32Array, word: number, nowMs: number): void {
    const count = words[word + 8] as number;
    // Where units were passed over, each record says itself where it stands.
    const isRow = next - from === count;
    for (let i = 0, at = word + SPANS_AT; i < count; i++, at += SPAN_WORDS) {
      const position = join64(words[at] as number, words[at + 1] as number);
      const offset = isRow ? from + i : this.#redelivery.queueOffset(position);
      line.fetched(offset, position, words[at + 2] as number, nowMs);
    }
    line.answered(next);
  }
}
