// The answer to a pull, in both header forms.
import test from 'ava';
import fc from 'fast-check';
import { decodePullAnswer, pullAnswerHeaderSizeMax, writePullAnswerHeader } from '../../../src/protocol/commands/pull-answer.ts';
import { FrameDecoder, type HeaderCodec } from '../../../src/protocol/frame.ts';
import { Header, readHeader } from '../../../src/protocol/header.ts';

const out = Buffer.alloc(8192);

test('pull answer: header and body make one frame, in both forms', (t) => {
  const offset = fc.maxSafeNat();
  const remark = fc.option(fc.oneof(fc.constantFrom('FOUND', 'OFFSET_RESET'), fc.string({ unit: 'grapheme', minLength: 1 })), {
    nil: undefined,
  });
  const header = new Header();
  fc.assert(
    fc.property(
      offset,
      offset,
      offset,
      fc.integer(),
      fc.constantFrom(0, 19, 20, 21),
      fc.constantFrom(0, 1),
      remark,
      fc.nat({ max: 50 }),
      (...parts) => {
        const [next, min, max, opaque, code, codec, text, bodySize] = parts;
        const bodyAt = writePullAnswerHeader(out, 3, codec as HeaderCodec, opaque, code, next, min, max, text, bodySize);
        t.true(bodyAt - 3 <= pullAnswerHeaderSizeMax(text));
        out.fill(0x42, bodyAt, bodyAt + bodySize);
        let frames = 0;
        const decoder = new FrameDecoder({
          onFrame(bytes, headerAt, headerSize, seenCodec, at, size) {
            frames++;
            t.is(readHeader(bytes, headerAt, headerSize, seenCodec, header), null);
            t.deepEqual([header.code, header.opaque, header.flag, header.remark], [code, opaque, 1, text]);
            const value = { suggestWhichBrokerId: 0, nextBeginOffset: next, minOffset: min, maxOffset: max };
            t.deepEqual(decodePullAnswer(header), { ok: true, value });
            t.is(bytes.toString('latin1', at, at + size), 'B'.repeat(bodySize));
            return true;
          },
        });
        t.is(decoder.push(out.subarray(3, bodyAt + bodySize)), null);
        t.is(frames, 1);
      },
    ),
    { numRuns: 500, seed: 3 },
  );
});
