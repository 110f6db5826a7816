// The answer to a send, in both header forms.
import test from 'ava';
import fc from 'fast-check';
import { SeededRandom } from '../../../src/base/random.ts';
import { digitsSize, writeDigits, writeHex64 } from '../../../src/protocol/ascii.ts';
import { ResponseCodes } from '../../../src/protocol/codes.ts';
import { decodeSendAnswer, SendAnswer, sendAnswerSizeMax, writeSendAnswer } from '../../../src/protocol/commands/send-answer.ts';
import { type HeaderCodec, HeaderCodecs } from '../../../src/protocol/frame.ts';
import { Header, readHeader } from '../../../src/protocol/header.ts';
import { goldenClients, goldenFrames } from '../golden.ts';

const out = Buffer.alloc(8192);

function roundTrip(codec: HeaderCodec, opaque: number, code: number, answer: SendAnswer, remark?: string): Header {
  const end = writeSendAnswer(out, 5, codec, opaque, code, answer, remark);
  if (out.readInt32BE(5) !== end - 9) throw new Error('length word is wrong');
  const header = new Header();
  const fault = readHeader(out, 13, out.readUIntBE(10, 3), out[9] as HeaderCodec, header);
  if (fault !== null) throw new Error(fault);
  return header;
}

/** The offset ids of records of these sizes that lie back to back. */
function idsOf(position: number, sizes: readonly number[]): string {
  let next = position;
  const ids = sizes.map((size) => {
    const id = `7F00000100005D67${next.toString(16).toUpperCase().padStart(16, '0')}`;
    next += size;
    return id;
  });
  return ids.join(',');
}

const odd = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 });

test('send answer: whatever is written reads back, in both forms and within its bound', (t) => {
  const ids = fc.record({
    queueId: fc.nat(),
    queueOffset: fc.maxSafeNat(),
    position: fc.nat({ max: Number.MAX_SAFE_INTEGER - 200_000 }),
    sizes: fc.option(fc.array(fc.nat({ max: 5000 }), { minLength: 1, maxLength: 40 })),
    transactionId: fc.option(odd, { nil: undefined }),
    regionId: fc.oneof(fc.constant('DefaultRegion'), odd),
    traceOn: fc.boolean(),
  });
  fc.assert(
    fc.property(
      ids,
      fc.integer(),
      fc.constantFrom(0, 10, 11, 12),
      fc.constantFrom(0, 1),
      fc.option(odd),
      (parts, opaque, code, codec, remark) => {
        const answer = Object.assign(new SendAnswer(), parts, { msgIdPrefix: '7F00000100005D67' });
        const header = roundTrip(codec as HeaderCodec, opaque, code, answer, remark ?? undefined);
        t.deepEqual([header.code, header.opaque, header.isResponse, header.version], [code, opaque, true, 479]);
        t.is(header.remark ?? null, remark);
        const msgId = idsOf(parts.position, parts.sizes ?? [0]);
        t.deepEqual(decodeSendAnswer(header), {
          ok: true,
          value: {
            msgId,
            queueId: parts.queueId,
            queueOffset: parts.queueOffset,
            ...(parts.transactionId === undefined ? {} : { transactionId: parts.transactionId }),
            MSG_REGION: parts.regionId,
            TRACE_ON: parts.traceOn,
          },
        });
        const size = sendAnswerSizeMax(answer) + 6 * (remark?.length ?? 0);
        t.true(out.readInt32BE(5) + 4 <= size);
      },
    ),
    { numRuns: 1000, seed: 3 },
  );
});

/** As the template has to come out, made without one: with the key as a text. */
function untemplated(codec: HeaderCodec, opaque: number, code: number, answer: SendAnswer): string {
  const { key, keyAt, keySize } = answer;
  const letters = Array.from({ length: keySize }, (_, i) => String.fromCharCode(key.getUint8(keyAt + i)));
  // A batch of one says the same as a single message, and is never made from a template.
  const plain = Object.assign(new SendAnswer(), answer, { keySize: 0, sizes: [0] });
  plain.transactionId = keySize === 0 ? undefined : letters.join('');
  return out.toString('latin1', 0, writeSendAnswer(out, 0, codec, opaque, code, plain));
}

test('send answer: from a template it is byte for byte the same as without', (t) => {
  const random = new SeededRandom(5);
  const keys = Buffer.from(Array.from({ length: 200 }, () => 0x30 + random.below(10)));
  const answer = new SendAnswer();
  answer.key = new DataView(keys.buffer, keys.byteOffset, keys.length);
  const upTo = (digits: number): number =>
    random.below(10 ** Math.min(9, random.below(digits + 1))) * (digits > 9 ? 10 ** random.below(6) : 1);
  const guarded = Buffer.alloc(2048);
  for (let round = 0; round < 40_000; round++) {
    if (random.below(50) === 0) {
      answer.regionId = ['DefaultRegion', 'r"\u00e9', ''][random.below(3)] as string;
      answer.traceOn = random.below(2) === 0;
      answer.msgIdPrefix = ['7F00000100005D67', '0A00000100002A9F'][random.below(2)] as string;
    }
    answer.queueId = upTo(2);
    answer.queueOffset = upTo(14);
    answer.position = random.below(3) === 0 ? upTo(14) : 2 ** 32 - 100 + random.below(200);
    answer.keyAt = random.below(100);
    answer.keySize = [32, 32, 32, 0, random.below(100)][random.below(5)] as number;
    const opaque = [upTo(4), random.below(2 ** 31), -random.below(2 ** 31)][random.below(3)] as number;
    const code = [0, 0, 0, 10][random.below(4)] as number;
    const codec = random.below(2) as HeaderCodec;
    guarded.fill(0xee);
    const end = writeSendAnswer(guarded, 3, codec, opaque, code, answer);
    const same = guarded.toString('latin1', 3, end) === untemplated(codec, opaque, code, answer);
    if (!same || guarded[2] !== 0xee || guarded[end] !== 0xee) t.fail(guarded.toString('latin1', 3, end));
  }
  t.pass();
});

test('send answer: Java spells it the same way, but for the order of the fields', (t) => {
  const answer = Object.assign(new SendAnswer(), { queueId: 3, queueOffset: 12, msgIdPrefix: '7F00000100005D67', position: 255 });
  answer.transactionId = 'T';
  const end = writeSendAnswer(out, 0, HeaderCodecs.json, 21, ResponseCodes.SUCCESS, answer);
  const ext =
    '{"MSG_REGION":"DefaultRegion","TRACE_ON":"true","msgId":"7F00000100005D6700000000000000FF","queueId":"3","queueOffset":"12","transactionId":"T"}';
  const tail = '"flag":1,"language":"JAVA","opaque":21,"serializeTypeCurrentRPC":"JSON","version":479}';
  t.is(out.toString('latin1', 8, end), `{"code":0,"extFields":${ext},${tail}`);
});

test('send answer: those of the stock broker decode', (t) => {
  let seen = 0;
  const header = new Header();
  for (const client of goldenClients()) {
    const frames = goldenFrames(client);
    const asked = new Map(frames.filter((f) => (f.flag & 1) === 0).map((f) => [`${f.conn}/${f.n}`, f.code]));
    for (const frame of frames) {
      const code = asked.get(`${frame.conn}/${frame.pair}`) ?? 0;
      if (![10, 310, 320, 324, 325].includes(code) || frame.code !== 0 || (frame.flag & 1) === 0) continue;
      const bytes = Buffer.from(frame.b64, 'base64');
      t.is(readHeader(bytes, 8, bytes.readUIntBE(5, 3), bytes[4] as HeaderCodec, header), null);
      const answer = decodeSendAnswer(header);
      t.true(answer.ok && answer.value.queueOffset >= 0, frame.b64);
      seen++;
    }
  }
  t.true(goldenClients().length === 0 || seen > 20);
});

test('ascii: digits and hex of any safe integer', (t) => {
  const one = (value: number): void => {
    const end = writeDigits(out, 0, value);
    t.is(out.toString('latin1', 0, end), String(value));
    t.is(digitsSize(value), end);
    if (value >= 0) t.is(out.toString('latin1', 0, writeHex64(out, 0, value)), value.toString(16).toUpperCase().padStart(16, '0'));
  };
  for (let power = 0; power < 16; power++) for (const near of [-1, 0, 1]) one(10 ** power + near);
  for (const value of [0, -1, -(2 ** 31), 2 ** 31 - 1, 2 ** 32, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]) one(value);
  fc.assert(fc.property(fc.maxSafeInteger(), one), { numRuns: 1000, seed: 3 });
});
