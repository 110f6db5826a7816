// Questions about entries of queues, which only dispatchers know: an ingress asks them and brings back all answers together.
import type { ActorContext } from '../context.ts';
import { type LookUpsAnswered, type LookUpsAsked, Messages } from '../messages.ts';

/** Questions under way at once. */
const ASKED_COUNT_MAX = 1000;
/** They end with an ingress that fails. */
const ANSWER_MS = 10_000;

type OnValues = (values: readonly number[] | null) => void;

export class LookUpAsker {
  readonly #context: ActorContext;
  /** In the order of asking, and so of their deadlines. */
  readonly #waiting = new Map<number, { readonly deadlineMs: number; readonly onValues: OnValues }>();
  #lastToken = 0;

  constructor(context: ActorContext) {
    this.#context = context;
  }

  nextMs(): number {
    for (const { deadlineMs } of this.#waiting.values()) return deadlineMs;
    return Number.POSITIVE_INFINITY;
  }

  /** The values in the order of the questions; null where no answer came. */
  ask(lookUps: LookUpsAsked['lookUps'], onValues: OnValues): void {
    if (this.#waiting.size >= ASKED_COUNT_MAX) {
      onValues(null);
      return;
    }
    const token = ++this.#lastToken;
    this.#waiting.set(token, { deadlineMs: this.#context.clock.steadyMs() + ANSWER_MS, onValues });
    const asked: LookUpsAsked = { token, lookUps };
    this.#context.outbox('ingress-0').sendJson(Messages.askLookUps, asked);
  }

  onAnswered({ token, values }: LookUpsAnswered): void {
    const waiting = this.#waiting.get(token);
    this.#waiting.delete(token);
    waiting?.onValues(values);
  }

  tick(steadyMs: number): number {
    let count = 0;
    for (const [token, { deadlineMs, onValues }] of this.#waiting) {
      if (deadlineMs > steadyMs) break;
      this.#waiting.delete(token);
      onValues(null);
      count++;
    }
    return count;
  }
}
