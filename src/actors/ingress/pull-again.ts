// Pulls that wait while their member changes what it reads: asked again, they are judged by the new expression.
import { ResponseCodes } from '../../protocol/codes.ts';
import { encodeFrame, RESPONSE_FLAG } from '../../protocol/header.ts';
import { BROKER_VERSION } from '../../protocol/versions.ts';
import type { DirectoryLiveGroup } from '../messages.ts';
import type { Desk } from './desk.ts';
import { subscriptionOf } from './directory.ts';
import type { Ask } from './pending-asks.ts';

/** Topics of which the member reads other messages than before. */
export function topicsReadAnew(before: DirectoryLiveGroup, now: DirectoryLiveGroup): ReadonlySet<string> {
  const topics = new Set<string>();
  for (const { topic, type, expression } of now.subscriptions) {
    const old = subscriptionOf(before, topic);
    if (old !== undefined && (old.expression !== expression || old.type !== type)) topics.add(topic);
  }
  return topics;
}

/** Sends the client back to the offset that it asked for: what was passed over since may be what it reads now. */
export function answerAgain(desk: Desk, ask: Ask, queueKey: number, offset: number): void {
  if (ask.oneway) return;
  const { queueBegins, queueEnds } = desk.context;
  const ext = {
    suggestWhichBrokerId: 0,
    nextBeginOffset: offset,
    minOffset: queueBegins.get(queueKey),
    maxOffset: queueEnds.get(queueKey),
  };
  const { codec, opaque } = ask;
  const code = ResponseCodes.PULL_RETRY_IMMEDIATELY;
  const frame = encodeFrame({ codec, opaque, code, flag: RESPONSE_FLAG, version: BROKER_VERSION, remark: 'SUBSCRIPTION_CHANGED', ext });
  desk.send(ask.client, frame);
}
