// Writing answers into the outgoing chunk: to a send and to a pull, in both forms.
import { decodePullAnswer, type PullAnswer, writePullAnswerHeader } from '../src/protocol/commands/pull-answer.ts';
import { decodeSendAnswer, SendAnswer, writeSendAnswer } from '../src/protocol/commands/send-answer.ts';
import { FrameDecoder, type HeaderCodec } from '../src/protocol/frame.ts';
import { Header, readHeader } from '../src/protocol/header.ts';
import { type Cell, expect, timed, type Work } from './cell.ts';
import { codecs, QUEUE_ID, uniqueKey } from './frames.ts';

const CHUNK_SIZE = 64 * 1024;
/** Answers of one turn, as at 64 requests in flight. */
const ANSWERS_PER_CHUNK = 64;

/** @param write one answer; returns its end. @param look at an answer that was read back. */
function writing(
  codec: HeaderCodec,
  write: (out: Buffer, at: number, n: number) => number,
  look: (header: Header, n: number) => void,
): Work {
  const out = Buffer.alloc(CHUNK_SIZE);
  let at = 0;
  let done = 0;
  let firstInChunk = 0;
  return {
    pass: (count) => {
      for (let i = 0; i < count; i++, done++) {
        if (done - firstInChunk === ANSWERS_PER_CHUNK) {
          firstInChunk = done;
          at = 0;
        }
        at = write(out, at, done);
      }
    },
    check: (count) => {
      const header = new Header();
      let n = firstInChunk;
      const decoder = new FrameDecoder({
        onFrame: (bytes, headerAt, headerSize, seenCodec) => {
          expect('codec', seenCodec, codec);
          expect('fault', readHeader(bytes, headerAt, headerSize, seenCodec, header) ?? '', '');
          expect('opaque', header.opaque, n);
          look(header, n++);
          return true;
        },
      });
      decoder.push(out.subarray(0, at));
      expect('answers', n, count);
    },
  };
}

function sendAnswers(codec: HeaderCodec): Work {
  const answer = new SendAnswer();
  answer.msgIdPrefix = '7F00000100002A9F';
  answer.queueId = QUEUE_ID;
  const keys = Buffer.from(uniqueKey);
  answer.key = new DataView(keys.buffer, keys.byteOffset, keys.length);
  answer.keySize = keys.length;
  const write = (out: Buffer, at: number, n: number): number => {
    answer.queueOffset = n;
    answer.position = n * 1_200;
    return writeSendAnswer(out, at, codec, n, 0, answer);
  };
  return writing(codec, write, (header, n) => {
    const decoded = decodeSendAnswer(header);
    expect('queue offset', decoded.ok ? decoded.value.queueOffset : decoded.fault, n);
    expect('id', decoded.ok ? Number.parseInt(decoded.value.msgId.slice(16), 16) : '', n * 1_200);
  });
}

function pullAnswers(codec: HeaderCodec): Work {
  const write = (out: Buffer, at: number, n: number): number =>
    writePullAnswerHeader(out, at, codec, n, 0, n + 32, 0, n + 4_000, 'FOUND', 0);
  return writing(codec, write, (header, n) => {
    const decoded = decodePullAnswer(header);
    const seen: Partial<PullAnswer> = decoded.ok ? decoded.value : {};
    expect('next offset', seen.nextBeginOffset ?? '', n + 32);
    expect('max offset', seen.maxOffset ?? '', n + 4_000);
  });
}

export function answerCells(): Cell[] {
  return codecs.flatMap(([name, codec]) => [
    timed('answer', `send, ${name}`, 1_000_000, () => sendAnswers(codec)),
    timed('answer', `pull header, ${name}`, 1_000_000, () => pullAnswers(codec)),
  ]);
}
