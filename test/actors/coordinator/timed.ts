// Plays the ingress that fills the gaps of an answer once its dispatchers have told it the store times.
import type { TimedAnswer } from '../../../src/actors/answer-messages.ts';
import type { HeaderCodec } from '../../../src/protocol/frame.ts';
import { encodeFrame, RESPONSE_FLAG } from '../../../src/protocol/header.ts';

/** @param storeTimes of messages by `key:offset`. */
export function filled({ opaque, codec, pieces, asks }: TimedAnswer, storeTimes: ReadonlyMap<string, number>): Buffer {
  const times = asks.map(([key, offset, missing, untilMs]) => {
    const timeMs = storeTimes.get(`${key}:${offset}`);
    if (timeMs === undefined) return missing;
    return untilMs === 0 ? timeMs : untilMs - timeMs;
  });
  const body = Buffer.from(pieces.map((piece, i) => (i === 0 ? piece : `${times[i - 1]}${piece}`)).join(''));
  return encodeFrame({
    code: 0,
    opaque,
    flag: RESPONSE_FLAG,
    codec: codec as HeaderCodec,
    version: 477,
    language: 'JAVA',
    ext: {},
    body,
  });
}
