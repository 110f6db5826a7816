// What an ingress does for the coordinator besides carrying frames, as far as its tests need it: look-ups in queues, replies pushed.
import { type LookUpsAnswered, type LookUpsAsked, Messages, type ReplyPushed } from '../../../src/actors/messages.ts';
import type { Outbox } from '../../../src/actors/outbox.ts';
import type { PartAssembler } from '../../../src/actors/part-assembler.ts';

export class PlayedIngress {
  readonly replies: ReplyPushed[] = [];
  /** Answers what the coordinator asks of queues; null: it gets no answer. */
  lookUp: ((key: number, kind: number, argument: number) => number) | null = () => -1;

  /** False for mail that is not its own. */
  take(type: number, at: number, parts: PartAssembler, outbox: Outbox): boolean {
    if (type === Messages.askLookUps) {
      const asked = parts.takeJson<LookUpsAsked>(at);
      if (asked !== null) this.#answer(asked, outbox);
    } else if (type === Messages.replyPushed) {
      const pushed = parts.takeJson<ReplyPushed>(at);
      if (pushed !== null) this.replies.push(pushed);
    } else return false;
    return true;
  }

  #answer({ token, lookUps }: LookUpsAsked, outbox: Outbox): void {
    const { lookUp } = this;
    if (lookUp === null) return;
    const answered: LookUpsAnswered = { token, values: lookUps.map(({ key, kind, argument }) => lookUp(key, kind, argument)) };
    outbox.sendJson(Messages.lookUpsAnswered, answered);
  }
}
