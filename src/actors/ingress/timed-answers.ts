// Answers of the coordinator that lack the store times of messages: fills them in and sends them.
import { ResponseCodes } from '../../protocol/codes.ts';
import type { HeaderCodec } from '../../protocol/frame.ts';
import { encodeFrame, RESPONSE_FLAG } from '../../protocol/header.ts';
import { BROKER_VERSION } from '../../protocol/versions.ts';
import type { TimeAsk, TimedAnswer } from '../answer-messages.ts';
import { LookUps } from '../messages.ts';
import type { Desk } from './desk.ts';
import type { Gatherings } from './gathering.ts';

export class TimedAnswers {
  readonly #desk: Desk;
  readonly #gatherings: Gatherings;

  constructor(desk: Desk, gatherings: Gatherings) {
    this.#desk = desk;
    this.#gatherings = gatherings;
  }

  onMessage(message: TimedAnswer | null): void {
    const client = message === null ? undefined : this.#desk.clients.get(message.connectionId);
    if (message === null || client === undefined) return;
    const { opaque, pieces, asks } = message;
    const codec = message.codec as HeaderCodec;
    const wanted = asks.map(([key, argument]) => ({ key, kind: LookUps.timeAt, argument }));
    this.#gatherings.add({ client, opaque, codec, oneway: false }, wanted, (times) => {
      const body = Buffer.from(
        pieces.map((piece, i) => (i === 0 ? '' : filledWith(asks[i - 1] as TimeAsk, times[i - 1])) + piece).join(''),
      );
      this.#desk.send(
        client,
        encodeFrame({ codec, opaque, code: ResponseCodes.SUCCESS, flag: RESPONSE_FLAG, version: BROKER_VERSION, ext: {}, body }),
      );
    });
  }
}

function filledWith([, , missing, untilMs]: TimeAsk, timeMs: number | undefined): string {
  if (timeMs === undefined || timeMs <= 0) return String(missing);
  return String(untilMs > 0 ? Math.max(0, untilMs - timeMs) : timeMs);
}
