// Reading a request's header and its fields, in both forms: what every send and every pull pays.
import { readI32 } from '../src/base/bytes.ts';
import { PullRequest, readPullRequest } from '../src/protocol/commands/pull-message.ts';
import { readSendRequest, SendRequest } from '../src/protocol/commands/send-message.ts';
import { CODEC_AT, HEADER_AT, type HeaderCodec } from '../src/protocol/frame.ts';
import { type FieldSpan, Header, readHeader } from '../src/protocol/header.ts';
import { type Cell, expect, timed, type Work } from './cell.ts';
import { codecs, PULL_OFFSET, propertiesText, pullFrame, QUEUE_ID, sendFrame, topic } from './frames.ts';

/** More than one, so that no reader can live off having seen the same bytes just before. */
const FRAME_COUNT = 16;
const SCRATCH_SIZE = 4096;

function reading(frames: readonly Buffer[], codec: HeaderCodec, read: (header: Header) => number): Work {
  const header = new Header();
  // As they come: many in one read.
  const bytes = Buffer.concat(frames);
  let seen = 0;
  let at = 0;
  return {
    pass: (count) => {
      for (let i = 0; i < count; i++) {
        const headerSize = readI32(bytes, at + CODEC_AT) & 0xff_ffff;
        if (readHeader(bytes, at + HEADER_AT, headerSize, codec, header) === null) seen += read(header);
        at += 4 + readI32(bytes, at);
        if (at === bytes.length) at = 0;
      }
    },
    check: (count) => expect('headers read', seen, count),
  };
}

function sending(codec: HeaderCodec): Work {
  const frames = Array.from({ length: FRAME_COUNT }, (_, i) => sendFrame(codec, 1_000 + i, 16));
  const request = new SendRequest();
  const scratch = Buffer.alloc(SCRATCH_SIZE);
  const span: FieldSpan = { bytes: scratch, at: 0, size: 0 };
  const size = Buffer.byteLength(propertiesText);
  return reading(frames, codec, (header) => {
    if (readSendRequest(header, request) !== null) return 0;
    const found = request.findProperties(span) ? span.size : request.writeProperties(scratch, 0);
    return found === size && request.queueId === QUEUE_ID && request.topic === topic ? 1 : 0;
  });
}

function pulling(codec: HeaderCodec): Work {
  const frames = Array.from({ length: FRAME_COUNT }, (_, i) => pullFrame(codec, 1_000 + i));
  const request = new PullRequest();
  return reading(frames, codec, (header) => {
    if (readPullRequest(header, request) !== null) return 0;
    return request.offset === PULL_OFFSET && request.queueId === QUEUE_ID && request.topic === topic ? 1 : 0;
  });
}

export function headerCells(): Cell[] {
  return codecs.flatMap(([name, codec]) => [
    timed('header', `send, ${name}`, 400_000, () => sending(codec)),
    timed('header', `pull, ${name}`, 400_000, () => pulling(codec)),
  ]);
}
