// Hands a reply to the client that asked: finds its connection among those of producers, and tells the ingress how that ended.
import { REPLY_TO } from '../../core/pushed-reply.ts';
import { RequestCodes, ResponseCodes } from '../../protocol/codes.ts';
import { Messages, type ReplyPushed } from '../messages.ts';
import type { CallOutcome } from './client-caller.ts';
import type { Desk } from './desk.ts';
import { readFrame } from './request.ts';

/** So long a client may take for a reply. */
export const PUSH_TIMEOUT_MS = 10_000;

export function onPushReply(desk: Desk, ingress: number, token: number, frame: Buffer): void {
  const tell = (fault: string | null): void => {
    const pushed: ReplyPushed = { token, fault };
    desk.outboxOf(ingress).sendJson(Messages.replyPushed, pushed);
  };
  const read = readFrame(frame);
  if (typeof read === 'string') {
    tell(`push reply message fail: ${read}`);
    return;
  }
  const { [REPLY_TO]: to = '', ...ext } = read.header.fields();
  const link = desk.links.byId(desk.membership.producers.linkOf(to));
  if (link === undefined) {
    tell(`push reply message fail, channel of <${to}> not found.`);
    return;
  }
  desk.calls.call(link, RequestCodes.PUSH_REPLY_MESSAGE_TO_CLIENT, ext, read.body, PUSH_TIMEOUT_MS, (outcome) =>
    tell(isTaken(outcome) ? null : `push reply message to ${to}fail.`),
  );
}

function isTaken(outcome: CallOutcome): boolean {
  return outcome.kind === 'answered' && outcome.code === ResponseCodes.SUCCESS;
}
