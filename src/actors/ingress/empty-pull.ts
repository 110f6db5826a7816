// The answer to a pull that brings nothing, long after the request was read: where its reader goes on, and why.
import { encodeFrame, RESPONSE_FLAG } from '../../protocol/header.ts';
import { BROKER_VERSION } from '../../protocol/versions.ts';
import type { Desk } from './desk.ts';
import type { Ask } from './pending-asks.ts';

export function answerEmptyPull(desk: Desk, ask: Ask, code: number, remark: string, nextOffset: number, queueKey: number): void {
  if (ask.oneway) return;
  const { codec, opaque } = ask;
  const { queueBegins, queueEnds } = desk.context;
  const ext = {
    suggestWhichBrokerId: 0,
    nextBeginOffset: nextOffset,
    minOffset: queueBegins.get(queueKey),
    maxOffset: queueEnds.get(queueKey),
  };
  desk.send(ask.client, encodeFrame({ codec, opaque, code, flag: RESPONSE_FLAG, version: BROKER_VERSION, remark, ext }));
}
